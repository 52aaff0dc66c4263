"""What a fuzz target is, and the one way in which an input is given to it.

A target is a function of bytes. It may raise askew's own errors (the input is then *refused*); it
must come back within a bound of processor time and memory; and it checks laws of its own beside not
crashing, with `law`. Whatever else happens is a fault: its input is kept, named by where it went
wrong.

A file `targets_*.py` beside this one holds `TARGETS`, a list of `Target`.
"""

from __future__ import annotations

import importlib
import resource
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from askew.errors import AskewError

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"


@dataclass(frozen=True)
class Target:
    """One parser under fuzzing.

    Attributes:
        name: also the folder of its corpus; lower case, no slash.
        function: takes the bytes of one input; raises `Broken` (through `law`) where a law fails.
        seeds: inputs to begin with, beside the committed corpus.
        words: fragments that the parser looks for; they are spliced into inputs.
        strategy: makes the Hypothesis strategy for whole inputs; where bytes alone do not get far.
        refuses: the errors that are an answer, not a fault.
        longest: bytes of the longest input.
        seconds: processor time that one input may take.
        megabytes: by how much one input may raise the process's peak of resident memory.
    """

    name: str
    function: Callable[[bytes], None]
    seeds: tuple[bytes, ...]
    words: tuple[bytes, ...] = ()
    strategy: Callable[[], SearchStrategy[bytes]] | None = None
    refuses: tuple[type[Exception], ...] = (AskewError,)
    longest: int = 4096
    seconds: float = 1.0
    megabytes: float = 64.0


class Broken(AssertionError):
    """A law of a target does not hold for the input."""


class TookTooLong(BaseException):
    """An input took more processor time than its target allows. No `except Exception` stops it."""


class GrewTooMuch(Exception):
    """An input raised the peak of memory by more than its target allows."""


def law(holds: object, said: str, *seen: object) -> None:
    """Raise `Broken` with what was seen, where `holds` is false."""
    if not holds:
        raise Broken(": ".join([said, *map(ascii, seen)]))


def text_of(data: bytes) -> str:
    """Any bytes as text: what is no UTF-8 becomes lone surrogates, such as JSON can carry."""
    return data.decode("utf-8", "surrogateescape")


def bytes_of(text: str) -> bytes:
    """Text, lone surrogates too, as the bytes of an input."""
    return text.encode("utf-8", "surrogatepass")


@dataclass(frozen=True)
class Fault:
    """An input at which a target failed. Two faults with one `key` are the same fault."""

    key: str
    told: str
    data: bytes


@dataclass
class Tally:
    """What one process has counted so far."""

    inputs: int = 0
    refused: int = 0
    slowest: float = 0.0  # seconds of processor time that the slowest input took
    faults: dict[str, Fault] = field(default_factory=dict)


def registry(only: str | None = None) -> dict[str, Target]:
    """All targets by name, from every `targets_*.py` (or from the module named)."""
    found: dict[str, Target] = {}
    if str(HERE) not in sys.path:
        sys.path.insert(0, str(HERE))
    for path in sorted(HERE.glob("targets_*.py")):
        if only in (None, path.stem):
            for target in getattr(importlib.import_module(path.stem), "TARGETS", ()):
                if target.name in found:
                    raise ValueError(f"two fuzz targets are called {target.name!r}")
                found[target.name] = target
    return found


def modules() -> dict[str, str]:
    """The module that holds each target, so that a child need import no other."""
    names = [path.stem for path in sorted(HERE.glob("targets_*.py"))]
    return {name: module for module in names for name in registry(module)}


def corpus_of(target: Target, *folders: Path) -> list[bytes]:
    """The target's seeds, then what its corpus folders hold, without repeats."""
    held = [path.read_bytes() for one in folders for path in sorted(one.glob("*"))]
    return list(dict.fromkeys([*target.seeds, *held]))


def warm(target: Target) -> None:
    """Give the seeds once, unwatched: what is imported or built at the first need is no input's."""
    for data in target.seeds:
        with suppress(Exception):
            target.function(data)


@contextmanager
def watched(limit: float) -> Iterator[None]:
    """Raise `TookTooLong` in here after so many seconds of this process's own processor time.

    Processor time, so that a loaded machine makes no fault; the parent process sees to inputs that
    wait for something (`run.py`).
    """

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise TookTooLong(f"over {limit:g} s of processor time")

    before = signal.signal(signal.SIGPROF, ring)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def give(target: Target, data: bytes, tally: Tally) -> Fault | None:
    """Give one input to the target, inside `watched(target.seconds)`; the fault, if it made one."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.process_time()
    fault: Fault | None = None
    try:
        signal.setitimer(signal.ITIMER_PROF, target.seconds)
        try:
            target.function(data)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
    except target.refuses:
        tally.refused += 1
    except (Exception, TookTooLong) as error:
        fault = _fault(error, data)
    tally.inputs += 1
    tally.slowest = max(tally.slowest, time.process_time() - begun)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak) / 1024
    if fault is None and grown > target.megabytes:
        told = GrewTooMuch(f"{len(data)} bytes raised the peak of memory by {grown:.0f} MB")
        fault = Fault("GrewTooMuch", str(told), data)
    if fault is not None:
        tally.faults.setdefault(fault.key, fault)
    return fault


def _fault(error: BaseException, data: bytes) -> Fault:
    """The fault named by its kind and the innermost line of askew that it passed through.

    A law is named by its words (a law fails in the target, whatever line of askew is to blame), a
    hang by its kind alone (the line at which the alarm rings is chance).
    """
    told = "".join(traceback.format_exception(error))
    frames = traceback.extract_tb(error.__traceback__)
    kind = type(error).__name__
    if isinstance(error, Broken):
        where = str(error).partition(":")[0]
    elif isinstance(error, TookTooLong | RecursionError | MemoryError):
        where = ""
    else:
        own = [one for one in frames if "askew" in one.filename] or list(frames)
        where = f"{Path(own[-1].filename).name}-{own[-1].name}-{own[-1].lineno}" if own else ""
    key = "".join(c if c.isalnum() or c in "-_." else "-" for c in f"{kind}-{where}")[:100]
    return Fault(key.strip("-"), told, data)
