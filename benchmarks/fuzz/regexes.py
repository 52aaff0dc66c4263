"""Look for regular expressions of askew whose time grows faster than the text.

Every pattern that askew's modules compile is tried on texts made against it: what leads into one of
its repeats, the repeat's own signs again and again, and an ending at which it fails; beside those,
runs of the signs that texts commonly repeat. Printed are the patterns whose time on a text of twice
the length is about four times as long, or worse.

    python benchmarks/fuzz/regexes.py [--length 16000] [--limit 0.2]

Exits with 1 if one takes longer than `--limit` seconds for `--length` characters.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import pkgutil
import re
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]
from re import _parser as parser  # type: ignore[attr-defined]
from types import FrameType
from typing import Any

import askew

RUNS = (
    " ", "\n", "\t", "a", "A", "1", "a ", "1 ", "1,", ".", ",", "-", "*", "_", "|", "(", "[", "{",
    '"', "'", "`", "<", "/", "#", "\\", "é", "\u200b", "a\n", "\n ", " \n", "- ", "a, ", "a. ",
    '""', "()", "[]", "{}", '"a" ', "<a>", "| a ", "1. a\n", "not ", "the ", "A ", "a: ", "${",
)  # fmt: skip
ENDINGS = ("", "\0", "!\n\0", "a", "\n")


class Slow(BaseException):
    """The alarm rang."""


@dataclass(frozen=True)
class Tried:
    """A pattern, and whether it is only ever matched at one place."""

    pattern: re.Pattern[Any]
    only_matched: bool


def patterns() -> dict[str, Tried]:
    """Every pattern that askew compiles or writes out, by where it was first seen."""
    found: dict[tuple[object, int], str] = {}
    compiled: dict[str, Tried] = {}
    compile_of = re.compile

    def noted(pattern: Any, flags: int = 0) -> re.Pattern[Any]:
        made = compile_of(pattern, flags)
        frame = sys._getframe(1)
        path = frame.f_code.co_filename
        if "askew" in path and (made.pattern, made.flags) not in found:
            where = f"{Path(path).parent.name}/{Path(path).name}:{frame.f_lineno}"
            found[made.pattern, made.flags] = where
            matched = only_matched(path, frame.f_lineno)
            compiled[f"{where} {len(compiled)}"] = Tried(made, matched)
        return made

    re.compile = noted  # type: ignore[assignment]
    try:
        for module in pkgutil.walk_packages(askew.__path__, "askew."):
            if module.name.endswith("__main__"):
                continue
            try:
                importlib.import_module(module.name)
            except Exception as trouble:  # an optional package that is not there
                print(f"not imported: {module.name} ({trouble})", file=sys.stderr)
    finally:
        re.compile = compile_of
    for path in sorted(Path(askew.__path__[0]).rglob("*.py")):
        for where, pattern, flags, matched in _written(path):
            made = compile_of(pattern, flags)
            if (made.pattern, made.flags) not in found:
                found[made.pattern, made.flags] = where
                compiled[f"{where} {len(compiled)}"] = Tried(made, matched)
    return compiled


def _written(path: Path) -> Iterator[tuple[str, str, int, bool]]:
    """The patterns that are written out in calls such as `re.sub(r"…", …)`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "re"
            and node.func.attr != "escape"
            and node.args
        ):
            try:
                pattern = ast.literal_eval(node.args[0])
            except ValueError:
                continue
            flags = 0
            for one in ast.walk(node):
                if isinstance(one, ast.Attribute) and one.attr.isupper() and len(one.attr) > 1:
                    flags |= int(getattr(re, one.attr, 0))
            if isinstance(pattern, str):
                matched = node.func.attr in ("match", "fullmatch")
                yield f"{path.parent.name}/{path.name}:{node.lineno}", pattern, flags, matched


def attacks(pattern: re.Pattern[Any]) -> Iterator[tuple[str, str, str]]:
    """Prefix, what is repeated, and ending, for each unbounded repeat of a pattern."""
    tree = parser.parse(pattern.pattern, pattern.flags & ~re.DEBUG)
    seen = set()
    for before, body in _repeats(list(tree), ""):
        for pump in {_sample(body, pick) for pick in range(4)} - {""}:
            for prefix in ("", before):
                if (prefix, pump) not in seen:
                    seen.add((prefix, pump))
                    for ending in ENDINGS:
                        yield prefix, pump, ending
            if before and before.strip():  # what begins again and again, and never ends
                yield "", before + pump, "\0"
                yield "", before, "\0"
    for run in RUNS:
        yield "", run, "\0"


def _repeats(nodes: list[Any], before: str) -> Iterator[tuple[str, list[Any]]]:
    """Each repeat that has no small bound, with a text that leads to it."""
    for op, value in nodes:
        if op in (codes.MAX_REPEAT, codes.MIN_REPEAT, getattr(codes, "POSSESSIVE_REPEAT", None)):
            _, most, body = value
            if most is codes.MAXREPEAT or most > 100:
                yield before, list(body)
            yield from _repeats(list(body), before)
        elif op is codes.SUBPATTERN:
            yield from _repeats(list(value[3]), before)
        elif op is codes.BRANCH:
            for branch in value[1]:
                yield from _repeats(list(branch), before)
        elif op in (codes.ASSERT, codes.ASSERT_NOT):
            yield from _repeats(list(value[1]), before)
        elif op is getattr(codes, "ATOMIC_GROUP", None):
            yield from _repeats(list(value), before)
        before += _sample([(op, value)], 0)


def _sample(nodes: list[Any], pick: int) -> str:
    """A short text that the nodes match, as far as that can be told; `pick` varies it."""
    text = ""
    for op, value in nodes:
        if op is codes.LITERAL:
            text += chr(value)
        elif op is codes.NOT_LITERAL:
            text += next(c for c in "ax b"[pick % 2 :] if ord(c) != value)
        elif op is codes.ANY:
            text += "ab. "[pick % 4]
        elif op is codes.IN:
            text += _one_of(value, pick)
        elif op is codes.BRANCH:
            text += _sample(list(value[1][pick % len(value[1])]), pick)
        elif op is codes.SUBPATTERN:
            text += _sample(list(value[3]), pick)
        elif op in (codes.MAX_REPEAT, codes.MIN_REPEAT, getattr(codes, "POSSESSIVE_REPEAT", None)):
            text += _sample(list(value[2]), pick) * max(value[0], 1 if pick % 2 else 0)
        elif op is getattr(codes, "ATOMIC_GROUP", None):
            text += _sample(list(value), pick)
    return text


_OF_CATEGORY = {
    codes.CATEGORY_DIGIT: "1",
    codes.CATEGORY_SPACE: " \n",
    codes.CATEGORY_WORD: "a1",
    codes.CATEGORY_NOT_DIGIT: "a ",
    codes.CATEGORY_NOT_SPACE: "a.",
    codes.CATEGORY_NOT_WORD: " .",
}


def _one_of(value: list[Any], pick: int) -> str:
    """A sign of a set."""
    negated = value[0][0] is codes.NEGATE
    signs = ""
    for op, what in value:
        if op is codes.LITERAL:
            signs += chr(what)
        elif op is codes.RANGE:
            signs += chr(what[0]) + chr(what[1])
        elif op is codes.CATEGORY:
            signs += _OF_CATEGORY[what]
    if negated:
        signs = "".join(c for c in 'a 1\n."(' if c not in signs) or "é"
    return signs[pick % len(signs)]


@cache
def _sources() -> str:
    """All of askew's source."""
    return "\n".join(
        path.read_text(encoding="utf-8") for path in Path(askew.__path__[0]).rglob("*.py")
    )


@cache
def only_matched(path: str, line: int) -> bool:
    """Whether the pattern made at a line has a name and is asked for a match at one place alone.

    Then it is tried there alone; a search would try it at every place.
    """
    for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or 0):
            name = node.targets[0].id if isinstance(node.targets[0], ast.Name) else ""
            uses = set(re.findall(rf"\b{name}\.(\w+)\(", _sources())) if name else set()
            return bool(uses) and uses <= {"match", "fullmatch"}
    return False


def seconds(pattern: re.Pattern[Any], text: Any, limit: float, *, at_once: bool) -> float:
    """Processor time of one search, or one match; the limit where it takes longer."""
    signal.setitimer(signal.ITIMER_PROF, limit)
    begun = time.process_time()
    try:
        (pattern.fullmatch if at_once else pattern.search)(text)
    except Slow:
        return limit
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return time.process_time() - begun


def worst(
    pattern: re.Pattern[Any], length: int, limit: float, *, at_once: bool
) -> tuple[float, float, tuple[str, str, str]]:
    """The longest time for a text of `length`, how it grew from half of it, and the text."""
    most = (0.0, 0.0, ("", "", ""))
    for prefix, pump, ending in attacks(pattern):
        times = []
        for size in (600, length // 2, length):
            text: Any = prefix + pump * (size // len(pump)) + ending
            if isinstance(pattern.pattern, bytes):
                text = text.encode("utf-8", "replace")
            times.append(seconds(pattern, text, 2 * limit, at_once=at_once))
            if size == 600 and times[-1] < 200e-6:
                break  # a search that looks at each pair of signs takes over a millisecond
        if len(times) == 3 and times[-1] > most[0]:
            most = times[-1], times[-1] / max(times[-2], 1e-9), (prefix, pump, ending)
            if most[0] >= limit:
                break  # one is enough to mend it
    return most


def main() -> int:
    """Try all patterns; print the slow ones, the slowest first."""
    arguments = argparse.ArgumentParser(description="Find regular expressions that blow up.")
    arguments.add_argument("--length", type=int, default=16_000)
    arguments.add_argument("--limit", type=float, default=0.2)
    options = arguments.parse_args()

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise Slow

    signal.signal(signal.SIGPROF, ring)
    tried = patterns()
    bad = 0
    for where, one in tried.items():
        pattern = one.pattern
        at_once = one.only_matched
        took, growth, attack = worst(pattern, options.length, options.limit, at_once=at_once)
        bad += took >= options.limit
        if took >= options.limit or (growth > 3 and took > options.limit / 10):
            print(f"{took:8.3f} s  x{growth:.1f} {where}", flush=True)
            print(f"    {pattern.pattern[:200]!r}\n    {attack!r}", flush=True)
    print(f"{len(tried)} patterns, {bad} of them over {options.limit} s "
          f"for {options.length:,} characters")  # fmt: skip
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
