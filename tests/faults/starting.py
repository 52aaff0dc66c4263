"""Processes of the command line that start at once: forked from one that has imported everything.

A run that is killed again and again is started again and again; importing alone would take most of
the time. Each process is a real one, with a memory, files and signals of its own::

    python -m tests.faults.starting

reads one JSON object a line: {"arguments": [...], "folder": ..., "log": ...} starts `askew` with
these arguments and is answered with its process id, {"wait": pid} with its exit code when it ends,
below zero for a signal as in `subprocess`.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

_MODULES = (
    "askew.cli.app",
    "askew.run.audit",
    "askew.run.clinical",
    "askew.run.boundary",
    "askew.build.flex",
    "askew.models.chat_api",
    "askew.report.page",
    "askew.report.compare",
    "askew.report.filed.files",
    "askew.survey.serving",
    "askew.cli.figures",
    "rich.table",
)


class Starter:
    """Starts `askew` in processes of its own."""

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", __name__],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "120"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        return self

    def __exit__(self, *trouble: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.close()
        self._process.wait(30)

    def start(
        self,
        *arguments: str,
        folder: Path,
        limits: Mapping[str, int] | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> Started:
        """Start `askew` with these arguments.

        Args:
            arguments: of the command.
            folder: that it works in; its output goes into `log.txt` there.
            limits: of `setrlimit`, by name without RLIMIT_.
            settings: of the environment.
        """
        log = folder / "log.txt"
        pid = self._ask(
            {
                "arguments": arguments,
                "folder": str(folder),
                "log": str(log),
                "limits": dict(limits or {}),
                "settings": dict(settings or {}),
            }
        )
        return Started(pid, log, self)

    def wait(self, pid: int) -> int:
        """The exit code of a process once it has ended."""
        return self._ask({"wait": pid})

    def poll(self, pid: int) -> int | None:
        """The exit code of a process that has ended, else None."""
        return self._ask({"poll": pid})

    def _ask(self, question: Mapping[str, object]) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(question) + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


class Started:
    """One process of `askew`."""

    def __init__(self, pid: int, log: Path, starter: Starter) -> None:
        self.pid, self.log = pid, log
        self._starter = starter
        self._code: int | None = None

    def poll(self) -> int | None:
        """Its exit code, if it has ended."""
        if self._code is None:
            self._code = self._starter.poll(self.pid)
        return self._code

    def wait(self) -> int:
        """Its exit code, once it has ended."""
        if self._code is None:
            self._code = self._starter.wait(self.pid)
        return self._code

    def signal(self, number: int) -> None:
        """Send it a signal; one that has ended takes none."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, number)

    def kill(self) -> int:
        """End it as `kill -9` does; its exit code."""
        self.signal(signal.SIGKILL)
        return self.wait()

    @property
    def said(self) -> str:
        """What it has printed so far."""
        return self.log.read_text(encoding="utf-8", errors="replace") if self.log.exists() else ""


def _begin(asked: Mapping[str, Any]) -> None:
    """Be `askew`, in the process that was just forked."""
    os.setsid()
    os.chdir(asked["folder"])
    os.environ.update(asked["settings"])
    log = os.open(asked["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    for number in (1, 2):
        os.dup2(log, number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = ["askew", *asked["arguments"]]
    for name, most in asked["limits"].items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    from askew.cli import main

    if "ASKEW_NOTE_SYNCS" in asked["settings"]:
        from tests.faults.power import note_syncs

        note_syncs()
    code = 1
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        import traceback

        traceback.print_exc()
    finally:
        for stream in (sys.stdout, sys.stderr):
            with suppress(OSError, ValueError):
                stream.flush()
        os._exit(code)


def main() -> None:
    """Answer until nobody asks any more; then end what was started."""
    import importlib

    for name in _MODULES:
        importlib.import_module(name)
    ended: dict[int, int] = {}
    running: set[int] = set()
    for line in sys.stdin:
        asked = json.loads(line)
        answer: int | None
        if "arguments" in asked:
            answer = os.fork()
            if answer == 0:
                _begin(asked)
            running.add(answer)
        else:
            pid = asked.get("wait") or asked["poll"]
            while pid not in ended:
                found, status = os.waitpid(pid, os.WNOHANG)
                if found:
                    ended[pid] = os.waitstatus_to_exitcode(status)
                    running.discard(pid)
                elif "poll" in asked:
                    break
                else:
                    time.sleep(0.002)
            answer = ended.get(pid)
        print(json.dumps(answer), flush=True)
    for pid in running:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


if __name__ == "__main__":
    main()
