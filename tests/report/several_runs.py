"""Run folders that hold several audits, put together from folders that hold one each."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from askew.report.which_audit import audits_of
from askew.runfolder import RunFolder

from .boundary_runs import grown_graph, make_boundary_run, play_tests, spread
from .clinical_runs import judged, make_clinical_run
from .runs import make_run, starter_items

MODEL = "toy/everything"


def joined(
    path: Path,
    *folders: RunFolder,
    change: Callable[[dict[str, Any]], None] = lambda estimates: None,
) -> RunFolder:
    """One folder with the records and figures of all, as a run of several audits leaves it."""
    made = RunFolder.create(path)
    figures: dict[str, Any] = {"askew": "0.1.0", "model": MODEL, "seed": 1, "calls": {}}
    figures["audits"], settings = [], "seed = 1\n"
    for folder in folders:
        (audit,) = audits_of(folder)
        own = folder.read_estimates()
        figures["audits"].append(audit)
        figures["calls"][audit] = own.get("calls", {})
        figures[audit] = own[audit]
        figures["models"] = {**figures.get("models", {}), **own.get("models", {})}
        settings += f"[{audit}]\n"
        _copy_records(folder, made)
        if (folder.path / "graph").is_dir():
            shutil.copytree(folder.path / "graph", made.path / "graph")
    change(figures)
    made.write_estimates(figures)
    made.settings.write_text(settings, encoding="utf-8")
    return made


def all_three(
    path: Path, change: Callable[[dict[str, Any]], None] = lambda estimates: None
) -> RunFolder:
    """A folder with FLEX, a clinical audit with judges and multi-hop, and a boundary search."""
    graph = grown_graph(200)
    leaning = spread(graph, [20, 60, 111], hops=2)
    tests = play_tests(graph, lambda node: None if node % 19 == 5 else node in leaning, 70)
    parts = path.parent / f"{path.name}-parts"
    return joined(
        path,
        make_run(parts / "flex", starter_items()),
        make_clinical_run(parts / "clinical", forms=("direct", "single"), judges=judged()),
        make_boundary_run(parts / "boundary", tests, graph),
        change=change,
    )


def _copy_records(source: RunFolder, target: RunFolder) -> None:
    with (
        closing(sqlite3.connect(source.database)) as old,
        closing(sqlite3.connect(target.database, isolation_level=None)) as new,
    ):
        for name, sql in old.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"):
            new.execute(sql.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS", 1))
            columns = [row[1] for row in old.execute(f"PRAGMA table_info({name})")]
            kept = [column for column in columns if (name, column) != ("calls", "id")]
            rows = old.execute(f"SELECT {', '.join(kept)} FROM {name}").fetchall()
            marks = ", ".join("?" * len(kept))
            new.executemany(
                f"INSERT OR IGNORE INTO {name} ({', '.join(kept)}) VALUES ({marks})", rows
            )
