"""Writes an evidence pack: a folder, or a ZIP file whose bytes follow from the run alone."""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from askew.durable import sync_folder, sync_tree
from askew.errors import ConfigError, RunError
from askew.report.filed.pack import evidence_of, with_unknown
from askew.report.filed.records import BundledFile, EvidencePack
from askew.report.filed.text import to_html, to_markdown
from askew.report.items.redacted import redaction_of
from askew.runfolder import RunFolder, is_taken, json_text, whole_file

SUMS = "SHA256SUMS"
# ZIP has no earlier time; another would make other bytes of the same run.
_NO_TIME = (1980, 1, 1, 0, 0, 0)
_READABLE = 0o100644 << 16
_TEXTS = "prompts and replies: texts of data and models, which may be about patients"
_FILES = {
    "run.toml": ("settings, versions, checksums of the data", "names of models and files"),
    "estimates.json": ("every figure", "names from the data: cases, topics, bias types"),
    "MANIFEST": ("hashes of the run's files", "nothing of anybody"),
    "MANIFEST.sig": ("a signature of the MANIFEST", "who signed it, by their own word"),
    "report.html": ("the report", f"most or all of the run's {_TEXTS}"),
}
_CALLS = {
    "run.sqlite": ("every call, item, question and score", f"all {_TEXTS}"),
    "questions.jsonl": ("the questions of a boundary run", "texts of data or of a generator"),
}
_GRAPH = ("the topic graph of a boundary run", "titles of topics")


def write_pack(
    folder: RunFolder, out: Path, *, with_calls: bool = False, with_report: bool | None = None
) -> EvidencePack:
    """Write the evidence pack of a run; all of it or nothing.

    Args:
        folder: the run.
        out: a folder that is not there or empty, or a file whose name ends in .zip.
        with_calls: whether the ledger with every prompt and reply goes in.
        with_report: whether the report goes in, which holds most or all of them. None: it goes with
            the ledger, beside which it gives nothing more away.

    Returns:
        The pack as `evidence.json` has it.

    Raises:
        RunError: the run cannot be read, or the pack cannot be written.
    """
    with_report = with_calls if with_report is None else with_report
    zipped = out.suffix.lower() == ".zip"
    if not zipped and is_taken(out):
        raise RunError(
            f"{out} is there and not empty. Name a folder that is not there, or a .zip file."
        )
    pack = evidence_of(folder)
    with _staging(out) as staging:
        bundled = _bundle(folder, staging, _wanted(folder, with_calls, with_report))
        if with_report and not folder.report.is_file():
            pack = with_unknown(pack, "what its report showed: there is no report.html")
        pack = replace(pack, files=bundled)
        _write(staging / "evidence.json", json_text(pack))
        _write(staging / "evidence.md", to_markdown(pack))
        _write(staging / "evidence.html", to_html(pack))
        _write(staging / SUMS, _sums(staging))
        if zipped:
            _zip(staging, out)
        else:
            sync_tree(staging)
            if out.is_dir():
                out.rmdir()
            staging.rename(out)
            sync_folder(out.parent)
    return pack


@contextmanager
def _staging(out: Path) -> Iterator[Path]:
    """A folder beside the place of the pack, from which it is moved there in one step."""
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with TemporaryDirectory(prefix=".evidence-", dir=out.parent) as above:
            staging = Path(above) / "pack"
            staging.mkdir()
            yield staging
    except OSError as trouble:
        raise RunError(
            f"{out} cannot be written: {trouble}. Name another place, or see to the folder and its "
            "free space."
        ) from trouble


def _wanted(folder: RunFolder, with_calls: bool, with_report: bool) -> dict[str, tuple[str, str]]:
    """The files of the run that go in, by name, with what they are and what they may hold."""
    files = {name: told for name, told in _FILES.items() if with_report or name != "report.html"}
    if with_calls and redaction_of(folder) is not None:
        raise ConfigError(
            f"{folder.path} has rules of redaction, and its ledger holds every text as it was. "
            "Leave out --with-calls; the report shows the texts redacted (--with-report)."
        )
    if with_calls:
        graph = sorted(file for file in folder.path.glob("graph/*") if file.is_file())
        files |= _CALLS
        files |= {file.relative_to(folder.path).as_posix(): _GRAPH for file in graph}
    for link in (folder.path / name for name in (*files, "graph")):
        if link.is_symlink():
            # Of a folder from elsewhere: what it leads to, a key say, would be handed on.
            raise RunError(
                f"{link} is a symbolic link, which is not followed: the file may lie outside the "
                "run. Put the file itself there."
            )
    return {name: told for name, told in files.items() if (folder.path / name).is_file()}


def _bundle(
    folder: RunFolder, staging: Path, files: dict[str, tuple[str, str]]
) -> list[BundledFile]:
    bundled = []
    for name, (what, holds) in files.items():
        target = staging / "run" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        _copy(folder.path / name, target)
        size = target.stat().st_size
        bundled.append(BundledFile(f"run/{name}", _sha256(target), size, what, holds))
    return bundled


def _copy(source: Path, target: Path) -> None:
    """A copy, byte by byte; of a database that is not settled, with what waits beside it."""
    waiting = source.with_name(f"{source.name}-wal")
    if source.suffix != ".sqlite" or not waiting.is_file() or not waiting.stat().st_size:
        shutil.copyfile(source, target)
        return
    address = f"{source.resolve().as_uri()}?mode=ro"
    try:
        with (
            closing(sqlite3.connect(address, uri=True)) as one,
            closing(sqlite3.connect(target)) as other,
        ):
            one.backup(other)
    except sqlite3.Error as trouble:
        raise RunError(f"{source}: {trouble}. Take the file from a copy of the run.") from trouble


def _write(path: Path, text: str) -> None:
    path.write_text(text, encoding="utf-8", newline="\n", errors="backslashreplace")


def _sums(staging: Path) -> str:
    return "".join(
        f"{_sha256(file)}  {file.relative_to(staging).as_posix()}\n" for file in _files(staging)
    )


def _files(staging: Path) -> list[Path]:
    found = (file for file in staging.rglob("*") if file.is_file())
    return sorted(found, key=lambda file: file.relative_to(staging).as_posix())


def _zip(staging: Path, out: Path) -> None:
    # Stored, not compressed: what a compressor makes of the same bytes differs by its version.
    with whole_file(out) as part, ZipFile(part, "w", ZIP_STORED) as archive:
        for file in _files(staging):
            entry = ZipInfo(file.relative_to(staging).as_posix(), _NO_TIME)
            entry.create_system, entry.external_attr = 3, _READABLE
            entry.file_size = file.stat().st_size
            with file.open("rb") as source, archive.open(entry, "w") as target:
                shutil.copyfileobj(source, target)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
