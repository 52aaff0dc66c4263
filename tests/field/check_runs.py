"""Cases about whole runs: `run.*`, `report.*`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from askew.models.ledgerfile import State, read_records
from askew.runfile import checked, write_run_file
from askew.runfolder import RunFolder
from tests.field.audits import audit, figures_of, neutral_unless_attacked, own_items, settings
from tests.field.folder import Case, CaseFolder
from tests.field.registry import check
from tests.models.servers import Answer, FaultServer, chat_body

# A model that writes down what it is asked, and dies with its process at a given question.
MORTAL = """
import hashlib, os, signal
from pathlib import Path

def answer(prompt: str) -> str:
    asked = Path(os.environ["ASKED"])
    with asked.open("a") as file:
        file.write(repr(prompt) + "\\n")
    if len(asked.read_bytes().splitlines()) == int(os.environ["DIES_AT"]):
        os.kill(os.getpid(), signal.SIGKILL)
    return "ABC"[hashlib.sha256(prompt.encode()).digest()[0] % 3]
"""
START = """
import asyncio, os, sys
from pathlib import Path
from askew.run import execute, prepare
from askew.runfile import read_run_file
for folder in map(Path, sys.argv[1:]):
    os.environ["ASKED"] = str(folder / "asked.txt")
    asyncio.run(execute(prepare(read_run_file(folder / "audit.toml"))))
"""


@dataclass(frozen=True)
class Mortal:
    """The folder of a run whose model may kill the process."""

    folder: Path

    @classmethod
    def prepare(cls, folder: Path, data: dict[str, str]) -> Mortal:
        """A run that has not begun."""
        folder.mkdir()
        values = {**settings(folder, data, {"name": "python/mortal:answer"}), "unknown": "retry"}
        (folder / "audit.toml").write_text(write_run_file(checked(values)), encoding="utf-8")
        return cls(folder)

    def copy(self, folder: Path) -> Mortal:
        """The same run as it lies on the disk, in another place."""
        shutil.copytree(self.folder, folder)
        run_file = folder / "audit.toml"
        moved = run_file.read_text("utf-8").replace(str(self.folder), str(folder))
        run_file.write_text(moved, encoding="utf-8")
        return Mortal(folder)

    @property
    def run(self) -> RunFolder:
        """What the run has left."""
        return RunFolder(self.folder / "run")

    @property
    def asked(self) -> list[str]:
        """The questions that the model saw, in order."""
        return (self.folder / "asked.txt").read_text(encoding="utf-8").split("\n")[:-1]


def start(work: Path, *runs: Mortal, dies_at: int | None = None) -> None:
    """Start the runs in one process, until the end or until the `dies_at`-th question of one."""
    done = subprocess.run(
        [sys.executable, "-c", START, *(str(run.folder) for run in runs)],
        cwd=work,
        env={**os.environ, "DIES_AT": str(dies_at or -1)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == (-signal.SIGKILL if dies_at else 0), done.stderr


@check("case-41")
def a_killed_run_goes_on_where_it_was(case: Case, folder: CaseFolder, work: Path) -> None:
    *whole, half = case["input"]["results"].replace("\\n", "\n").split("\n")
    assert half, "the case's results end in half a line"
    received = len([line for line in whole if line])
    (work / "mortal.py").write_text(MORTAL, encoding="utf-8")
    data = own_items(work, 3)
    unbroken, broken = (Mortal.prepare(work / name, data) for name in ("unbroken", "broken"))
    start(work, broken, dies_at=received + 1)
    torn = [_with_torn_log(broken, work / name, tail) for name, tail in _TORN.items()]
    # The second kill comes one question after the one that was in the air at the first.
    start(work, broken, dies_at=received + 3)
    for file in (broken.run.settings, broken.run.estimates, broken.run.report):
        file.unlink(missing_ok=True)  # "no metadata file was written yet"
    start(work, unbroken, broken, *torn)
    questions = unbroken.asked
    again = questions[received : received + 2]
    assert Counter(broken.asked) == Counter([*questions, *again])
    assert all(run.asked.count(questions[0]) == 1 for run in torn)
    for run in (broken, *torn):
        records = list(read_records(run.run.database))
        assert len({record.key for record in records}) == len(records) == len(questions)
        assert all(record.state is State.RECEIVED for record in records)
        assert figures_of(run.run) == figures_of(unbroken.run)


# What a crash may leave at the end of SQLite's log: bytes cut off, half of another page.
_TORN = {"cut": -1000, "half": 1000}


def _with_torn_log(broken: Mortal, folder: Path, tail: int) -> Mortal:
    torn = broken.copy(folder)
    log = torn.folder / "run" / "run.sqlite-wal"
    content = log.read_bytes()
    log.write_bytes(content[:tail] if tail < 0 else content + content[-tail:])
    return torn


class Page(HTMLParser):
    """The elements of a page with their attributes, and its text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: set[tuple[str, frozenset[str]]] = set()
        self.links: list[str] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add((tag, frozenset(name for name, _ in attrs)))
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "action")]

    def handle_data(self, data: str) -> None:
        self.text += data


@check("case-45")
def what_a_model_says_is_shown_as_text(case: Case, folder: CaseFolder, work: Path) -> None:
    found = case["input"]
    reply = f"{found['reply']} [x](javascript:alert(3)) Answer: A"
    harmless = _page(work / "harmless", "Answer: A", "toy", "race", "x")
    hostile = _page(
        work / "hostile", reply, found["model"], found["category"], "javascript:alert(4)<b>"
    )
    assert hostile.elements <= harmless.elements
    assert all(link.startswith("#") for link in hostile.links)
    for shown in (found["reply"], found["model"], found["category"]):
        assert shown in hostile.text


def _page(folder: Path, reply: str, model: str, category: str, said: str) -> Page:
    """The report on a model that turns under every attack, with `said` in all of the data."""
    folder.mkdir()
    changes: dict[str, Any] = {"bias_type": category, "context": said, "option_a": f"Aunt {said}"}
    data = own_items(folder, 3, **changes, question=f"Who? {said}")
    lines = [json.loads(line) for line in Path(data["path"]).read_text("utf-8").splitlines()]
    rows = [{**line, "context": f"{said} {number}"} for number, line in enumerate(lines)]
    Path(data["path"]).write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    with FaultServer(neutral_unless_attacked(Answer(chat_body(reply)))) as server:
        run, _ = audit(folder, data, server, model)
    assert figures_of(run)["attack_success_rate"]["overall"]["value"] == 1.0
    return Page(run.report.read_text(encoding="utf-8"))
