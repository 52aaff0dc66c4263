"""askew and its peers under the same faults: what each does with 40 questions, in one run.

    python benchmarks/peers/faults.py --python langfair=ENV/bin/python [--only askew lm_eval]

Each tool runs in a process of its own, in the environment that `--python TOOL=PATH` names (default:
this one), with its own defaults, against `fault_server.py`; for each fault of that file it is asked
40 questions, of which the fault meets 10. Prints a table in Markdown and writes what each tool and
the server said to `--out`, so that a run that was stopped goes on where it was.

"asked again" counts questions of which the server had sent a whole answer before: what was paid for
twice. For "kill -9" the tool is killed when half of the questions are answered, and started again.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from fault_server import FAULTS

HERE = Path(__file__).parent
TOOLS = ("askew", "inspect", "lm_eval", "langfair")
QUESTIONS = 40
KILLED = "kill -9 half way"


class Endpoint:
    """The fault server in a process, and what it wrote down."""

    def __init__(self, fault: str, log: Path) -> None:
        self._log = log
        command = [sys.executable, HERE / "fault_server.py", "--fault", fault, "--log", log]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = f"http://127.0.0.1:{int(self._process.stdout.readline())}/v1"

    def __enter__(self) -> Endpoint:
        return self

    def __exit__(self, *exc: object) -> None:
        self._process.kill()
        self._process.wait()

    @property
    def seen(self) -> list[dict[str, int]]:
        """The requests so far."""
        lines = self._log.read_text().splitlines() if self._log.exists() else []
        return [json.loads(line) for line in lines]

    @property
    def asked_again(self) -> int:
        """Questions that came once more after a whole answer had left."""
        answered: set[int] = set()
        again: set[int] = set()
        for request in self.seen:
            if request["question"] in answered:
                again.add(request["question"])
            if request["whole"]:
                answered.add(request["question"])
        return len(again)


def start(tool: str, python: str, url: str, folder: Path) -> subprocess.Popen[str]:
    """The tool, in a process group of its own."""
    environment = {
        name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")
    }
    return subprocess.Popen(
        [python, HERE / f"ask_{tool}.py", url, str(QUESTIONS), folder],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=environment,
        cwd=folder.parent,
    )


def end(process: subprocess.Popen[str], seconds: float) -> dict[str, object]:
    """What it said within so many seconds."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return {"counts": {}, "note": f"not ended after {seconds:g} s"}
    lines = [line for line in out.splitlines() if line.startswith("{")]
    if process.returncode == 0 and lines:
        said: dict[str, object] = json.loads(lines[-1])
        return said
    words = [line.strip() for line in err.splitlines() if line.strip()] or [""]
    return {"counts": {}, "note": f"ended with {process.returncode}: {words[-1][:200]}"}


def measure(tool: str, python: str, fault: str, seconds: float) -> dict[str, object]:
    """One tool under one fault."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        served = "slow" if fault == KILLED else fault
        began = time.monotonic()
        with Endpoint(served, folder / "server.jsonl") as endpoint:
            process = start(tool, python, endpoint.url, folder / "work")
            if fault == KILLED:
                while len(endpoint.seen) < QUESTIONS // 2 and process.poll() is None:
                    time.sleep(0.01)
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                before = len(endpoint.seen)
                process = start(tool, python, endpoint.url, folder / "work")
            said = end(process, seconds)
            said["requests"] = len(endpoint.seen)
            said["asked_again"] = endpoint.asked_again
            if fault == KILLED:
                said["before"] = before
        said["seconds"] = round(time.monotonic() - began, 1)
    return said


def row(fault: str, tool: str, said: dict[str, object]) -> str:
    """One line of the table."""
    counts = Counter(said["counts"])  # type: ignore[arg-type]  # from JSON
    told = ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "nothing"
    note = str(said["note"]).replace("|", "\\|").replace("\n", " ")
    return (
        f"| {fault} | {tool} | {told} | {said['requests']} | {said['asked_again']} | {note[:160]} |"
    )


def main() -> None:
    """Measure what is not measured yet, and print the table."""
    faults = [*(fault for fault in FAULTS if fault != "slow"), KILLED]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", action="append", default=[], metavar="TOOL=PATH")
    parser.add_argument("--only", nargs="*", choices=TOOLS, default=list(TOOLS))
    parser.add_argument("--faults", nargs="*", choices=faults, default=faults)
    parser.add_argument("--seconds", type=float, default=120.0, help="for one tool under one fault")
    parser.add_argument("--out", type=Path, default=Path("peers_faults.json"))
    options = parser.parse_args()
    pythons = dict(entry.partition("=")[::2] for entry in options.python)
    known = json.loads(options.out.read_text()) if options.out.exists() else {}
    for fault in options.faults:
        for tool in options.only:
            name = f"{fault}/{tool}"
            if name not in known:
                python = pythons.get(tool, sys.executable)
                known[name] = measure(tool, python, fault, options.seconds)
                options.out.write_text(json.dumps(known, indent=1))
                print(row(fault, tool, known[name]), file=sys.stderr, flush=True)
    versions = {
        name.split("/")[1]: said["version"] for name, said in known.items() if "version" in said
    }
    print(", ".join(f"{tool} {number}" for tool, number in sorted(versions.items())))
    print(
        "\n| fault | tool | of 40 | requests | asked again | it says |\n|---|---|---|---|---|---|"
    )
    for fault in options.faults:
        for tool in options.only:
            print(row(fault, tool, known[f"{fault}/{tool}"]))


if __name__ == "__main__":
    main()
