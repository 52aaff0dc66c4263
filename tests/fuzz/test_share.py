"""A share of the fuzzing in every run of the tests: all corpora, then 60 seconds over all targets.

`benchmarks/fuzz/run.py` is the long form: coverage-guided, resumable, counted. Here each target is
given its seeds, its committed corpus (in which every input stands that once made a fault), and
changed copies of them for its part of the time that is left. An input that makes a fault is saved,
and the test says where and what to do with it.

ASKEW_FUZZ_SECONDS sets another time, ASKEW_FUZZ_SEED draws other inputs.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

FUZZ = Path(__file__).parents[2] / "benchmarks" / "fuzz"
sys.path.insert(0, str(FUZZ))
try:
    import harness

    import engines
finally:
    sys.path.remove(str(FUZZ))

SECONDS = float(os.environ.get("ASKEW_FUZZ_SECONDS", "60"))
SEED = int(os.environ.get("ASKEW_FUZZ_SEED", "1"))
SAVED = Path(os.environ.get("ASKEW_FUZZ_STATE", "runs/fuzz"))
pytestmark = pytest.mark.skipif(
    not hasattr(signal, "SIGPROF"), reason="the watch over time needs a Unix"
)

# A list of names, so that nothing of askew is imported while the tests are collected.
MODULES = sorted(path.stem for path in FUZZ.glob("targets_*.py"))


class _Share:
    """What is left of the time, in equal parts for the targets still to come."""

    def __init__(self) -> None:
        self.end = 0.0
        self.given = 0

    def part(self, every: int) -> float:
        """Seconds for the next target: none once the time is used up, and its corpus alone."""
        self.end = self.end or time.monotonic() + SECONDS
        self.given += 1
        return max(0.0, self.end - time.monotonic()) / max(1, every - self.given + 1)


SHARE = _Share()


def _save(name: str, fault: harness.Fault) -> Path:
    folder = SAVED / name / "faults"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{fault.key}.bin"
    path.write_bytes(fault.data)
    path.with_suffix(".txt").write_text(fault.told, errors="backslashreplace")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
def test_no_input_makes_a_fault(module):
    targets = harness.registry(module)
    every = len(harness.modules())
    found: list[str] = []
    for name, target in targets.items():
        corpus = harness.corpus_of(target, harness.CORPUS / name)
        tally = harness.Tally()
        harness.warm(target)
        with harness.watched(target.seconds):
            for data in corpus:
                harness.give(target, data, tally)
            engines.run_plain(
                target,
                corpus,
                lambda data, target=target, tally=tally: harness.give(target, data, tally),
                count=10**9,
                seconds=SHARE.part(every),
                seed=SEED,
            )
        assert tally.inputs >= len(corpus) > 0
        for fault in tally.faults.values():
            path = _save(name, fault)
            found.append(f"{name}: {fault.key}\n{fault.told[-1500:]}\nThe input is {path}.")
    assert not found, "\n\n".join(
        [
            *found,
            "Mend it, test it by itself, and copy the input to benchmarks/fuzz/corpus/TARGET.",
        ]
    )


def test_every_corpus_has_a_target_and_every_target_something_to_begin_with():
    targets = harness.registry()
    held = {path.name for path in harness.CORPUS.iterdir() if path.is_dir()}
    assert held <= set(targets)
    assert all(any((harness.CORPUS / name).iterdir()) for name in held)
    assert all(target.seeds for target in targets.values())
    size = sum(path.stat().st_size for path in harness.CORPUS.rglob("*") if path.is_file())
    assert size < 1_000_000


# ---- the harness itself: it has to be able to fail


def _told(function: object, data: bytes = b"x", **terms: object) -> harness.Tally:
    target = harness.Target("made", function, (b"x",), **terms)
    tally = harness.Tally()
    with harness.watched(target.seconds):
        harness.give(target, data, tally)
    return tally


def test_an_error_that_is_not_askews_own_is_a_fault_and_askews_own_is_an_answer():
    from askew.errors import DataError

    def crash(data: bytes) -> None:
        raise KeyError(data)

    def refuse(data: bytes) -> None:
        raise DataError("no")

    assert [key.partition("-")[0] for key in _told(crash).faults] == ["KeyError"]
    refused = _told(refuse)
    assert (refused.refused, refused.faults) == (1, {})


def test_a_law_that_does_not_hold_is_a_fault_named_by_its_words():
    def lawless(data: bytes) -> None:
        harness.law(not data, "nothing is there", data)

    assert list(_told(lawless).faults) == ["Broken-nothing-is-there"]


def test_a_hang_is_a_fault_even_where_every_exception_is_caught():
    def hang(data: bytes) -> None:
        while True:
            try:
                sum(range(1000))
            except Exception:
                continue

    assert list(_told(hang, seconds=0.2).faults) == ["TookTooLong"]


def _run(*options: str, folder: Path, targets: str) -> subprocess.CompletedProcess[str]:
    """`run.py` over targets of this test's own."""
    for path in FUZZ.glob("*.py"):
        if not path.stem.startswith("targets_"):
            (folder / path.name).write_bytes(path.read_bytes())
    (folder / "corpus").mkdir(exist_ok=True)
    (folder / "targets_made.py").write_text(targets)
    return subprocess.run(
        [sys.executable, str(folder / "run.py"), "--state", str(folder / "state"), *options],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )


MADE = """
import os
from harness import Target

def reads(data):
    if data == b"ab!":
        {trouble}

TARGETS = [Target("made", reads, (b"ab",), words=(b"!",))]
"""


@pytest.mark.parametrize("trouble", ["raise KeyError(data)", "os.abort()"])
def test_a_run_counts_saves_what_fails_goes_on_and_sees_it_mended(tmp_path, trouble):
    broken = MADE.format(trouble=trouble)
    plain = ("--engine", "plain", "--seed", "1")
    first = _run("--until", "3000", *plain, folder=tmp_path, targets=broken)
    assert first.returncode == 1, first.stderr
    [fault] = (tmp_path / "state" / "made" / "faults").glob("*.bin")
    assert fault.read_bytes() == b"ab!"
    counts = json.loads((tmp_path / "state" / "made" / "counts.json").read_text())
    assert counts["inputs"] == {"plain": 3000}
    # The same count again asks nothing more; a mended fault is put aside.
    whole = MADE.format(trouble="pass")
    second = _run("--until", "3500", *plain, folder=tmp_path, targets=whole)
    assert second.returncode == 0, second.stderr
    report = _run("--report", folder=tmp_path, targets=whole)
    assert "made | 3,500 |" in report.stdout
    assert not list((tmp_path / "state" / "made" / "faults").glob("*.bin"))
    assert len(list((tmp_path / "state" / "made" / "mended").glob("*.bin"))) == 1


def test_memory_that_one_input_takes_is_a_fault(tmp_path):
    # In a process of its own: what is watched is the peak, and this one's may be higher already.
    swells = MADE.format(trouble='bytearray(300_000_000)[::4096] = b"x" * 73_243')
    done = _run(
        "--until", "3000", "--engine", "plain", "--seed", "1", folder=tmp_path, targets=swells
    )
    assert done.returncode == 1, done.stderr
    [fault] = (tmp_path / "state" / "made" / "faults").glob("*.bin")
    assert fault.name.startswith("GrewTooMuch")
