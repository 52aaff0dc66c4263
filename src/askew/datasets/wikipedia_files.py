"""Which file of a folder holds which table of a Wikipedia dump.

Names are those of dumps.wikimedia.org (`enwiki-20260101-page.sql.gz`) or just `page.sql`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from askew.errors import DataError

TABLES = ("page", "categorylinks", "linktarget", "page_props", "redirect", "category")
_NAME = re.compile(
    r"(?:(?P<wiki>.+?)-(?P<date>\d{8}|latest)-|.*[-._])??"
    r"(?P<table>page_props|page|categorylinks|linktarget|redirect|category)\.sql(?:\.gz|\.bz2)?"
)
_MEND = "Take them from one dump, at https://dumps.wikimedia.org/"


@dataclass(frozen=True, slots=True)
class DumpFiles:
    """One file a table; optional tables may be absent."""

    source: str  # the folder, or the files' names
    paths: Mapping[str, Path]
    notes: tuple[str, ...] = ()

    def need(self, table: str, why: str) -> Path:
        """The file of a table without which there is no graph.

        Raises:
            DataError: it is not there; the message names the file to add.
        """
        if table in self.paths:
            return self.paths[table]
        there = ", ".join(path.name for path in self.paths.values()) or "none"
        example = self._name_like(table)
        raise DataError(
            f"{self.source}: no file of the table `{table}`, {why}. Found: {there}. Add {example} "
            f"from the same dump (or {table}.sql)."
        )

    def _name_like(self, table: str) -> str:
        for path in self.paths.values():
            found = _NAME.fullmatch(path.name)
            if found and found["wiki"]:
                return f"{found['wiki']}-{found['date']}-{table}.sql.gz"
        return f"<wiki>-<date>-{table}.sql.gz"


def dump_files(source: Path | Iterable[Path]) -> DumpFiles:
    """Find the tables' files.

    Args:
        source: a folder, whose other files do not matter, or files.

    Raises:
        DataError: the folder or a file is not there, a listed file's name names no table, two
            files hold the same table, or files are of different wikis.
    """
    if isinstance(source, Path):
        if not source.is_dir():
            raise DataError(
                f"{source}: no such folder. Name a folder with a dump's SQL files, or list the "
                "files."
                if not source.exists()
                else f"{source}: not a folder. List at least the files of page and categorylinks."
            )
        label, listed, strict = str(source), sorted(source.iterdir()), False
    else:
        listed, strict = list(source), True
        label = ", ".join(path.name for path in listed) or "no files"
    paths: dict[str, Path] = {}
    origins: dict[str, tuple[str, str]] = {}
    for path in listed:
        found = _NAME.fullmatch(path.name)
        if found is None:
            if strict:
                raise DataError(
                    f"{path}: the name names no table. Expected a name like page.sql or "
                    f"enwiki-20260101-page.sql.gz, of one of {', '.join(TABLES)}."
                )
            continue
        if not path.is_file():
            raise DataError(f"{path}: no such file. Check the path.")
        table = found["table"]
        if table in paths:
            raise DataError(
                f"{label}: two files hold the table `{table}`: {paths[table].name} and "
                f"{path.name}. Leave one."
            )
        paths[table] = path
        if found["wiki"]:
            origins[path.name] = (found["wiki"], found["date"])
    return DumpFiles(label, paths, _compared(label, origins))


def _compared(label: str, origins: Mapping[str, tuple[str, str]]) -> tuple[str, ...]:
    """Page ids of one wiki mean nothing in another; those of another day nearly the same."""
    if len({wiki for wiki, _ in origins.values()}) > 1:
        raise DataError(f"{label}: files of different wikis: {', '.join(origins)}. {_MEND}.")
    if len({date for _, date in origins.values()}) > 1:
        return (
            f"The files are of different days: {', '.join(origins)}; links of categories that were "
            f"made or deleted between are lost. {_MEND}.",
        )
    return ()
