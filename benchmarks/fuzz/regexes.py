"""Look for regular expressions of askew whose time grows faster than the text.

Every pattern that askew's modules compile is tried on texts made against it: what leads into one of
its repeats, the repeat's own signs again and again, and an ending at which it fails; beside those,
runs of the signs that texts commonly repeat. Printed are the patterns whose time on a text of twice
the length is about four times as long, or worse.

    python benchmarks/fuzz/regexes.py [--length 16000] [--limit 0.2] [--each 2] [--only PLACE]

No pattern gets more than `--each` seconds of processor time; the table says which ones that cut
short. Exits with 1 if one takes longer than `--limit` seconds for `--length` characters.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import pkgutil
import random
import re
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from re import _constants as codes  # type: ignore[attr-defined]  # no public parser
from re import _parser as parser  # type: ignore[attr-defined]  # the same
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

    re.compile = noted  # type: ignore[assignment]  # notes every pattern that is made
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
    for node in ast.walk(_tree(path)):
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
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def _uses() -> dict[str, set[str]]:
    """What is asked of each name in askew's source: `{"_WORD": {"match", "sub"}, …}`."""
    uses: dict[str, set[str]] = {}
    for path in Path(askew.__path__[0]).rglob("*.py"):
        for name, asked in re.findall(r"\b(\w+)\.(\w+)\(", path.read_text(encoding="utf-8")):
            uses.setdefault(name, set()).add(asked)
    return uses


def only_matched(path: str, line: int) -> bool:
    """Whether the pattern made at a line has a name and is asked for a match at one place alone.

    Then it is tried there alone; a search would try it at every place.
    """
    for node in ast.walk(_tree(Path(path))):
        if isinstance(node, ast.Assign) and node.lineno <= line <= (node.end_lineno or 0):
            name = node.targets[0].id if isinstance(node.targets[0], ast.Name) else ""
            uses = _uses().get(name, set())
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


@dataclass(frozen=True)
class Worst:
    """What was found of one pattern: the longest time that it took, and for which text."""

    seconds: float = 0.0
    growth: float = 0.0  # how often as long as half the text
    attack: tuple[str, str, str] = ("", "", "")  # before, repeated, after
    tried: int = 0  # texts
    of: int = 0


def worst(
    pattern: re.Pattern[Any], length: int, limit: float, budget: float, *, at_once: bool
) -> Worst:
    """Try texts of `length` until one takes the limit, or the processor time is used up.

    The texts are shuffled (always alike), so that a budget that ends early has seen all kinds.
    """
    found = Worst()
    texts = list(attacks(pattern))
    random.Random(len(texts)).shuffle(texts)
    end = time.process_time() + budget
    for place, (prefix, pump, ending) in enumerate(texts):
        if time.process_time() > end or found.seconds >= limit:
            return replace(found, tried=place, of=len(texts))
        times = []
        for size in (600, length // 2, length):
            text: Any = prefix + pump * (size // len(pump)) + ending
            if isinstance(pattern.pattern, bytes):
                text = text.encode("utf-8", "replace")
            times.append(seconds(pattern, text, 2 * limit, at_once=at_once))
            if size == 600 and times[-1] < 200e-6:
                break  # a search that looks at each pair of signs takes over a millisecond
        if len(times) == 3 and times[-1] > found.seconds:
            growth = times[-1] / max(times[-2], 1e-9)
            found = Worst(times[-1], growth, (prefix, pump, ending))
    return replace(found, tried=len(texts), of=len(texts))


def main() -> int:
    """Try all patterns; print the table of the slow ones and of those not tried in full."""
    arguments = argparse.ArgumentParser(description="Find regular expressions that blow up.")
    arguments.add_argument("--length", type=int, default=16_000, help="characters of a text")
    arguments.add_argument("--limit", type=float, default=0.2, help="seconds that are too long")
    arguments.add_argument("--each", type=float, default=2.0, help="processor seconds per pattern")
    arguments.add_argument("--only", default="", help="patterns whose place holds this")
    options = arguments.parse_args()

    def ring(_number: int, _frame: FrameType | None) -> None:
        raise Slow

    signal.signal(signal.SIGPROF, ring)
    tried = {where: one for where, one in patterns().items() if options.only in where}
    bad = growing = cut = texts = 0
    print("seconds | growth | where | pattern | before, repeated, after")
    for where, one in tried.items():
        found = worst(
            one.pattern, options.length, options.limit, options.each, at_once=one.only_matched
        )
        slow = found.seconds >= options.limit
        grows = not slow and found.growth > 3 and found.seconds > options.limit / 10
        texts += found.tried
        bad += slow
        growing += grows
        if found.tried < found.of and not slow:
            cut += 1
            print(f"– | – | {where} | {found.tried} of {found.of} texts tried", flush=True)
        if slow or grows:
            print(f"{found.seconds:.3f} | x{found.growth:.1f} | {where} | "
                  f"{one.pattern.pattern[:120]!r} | {found.attack!r}", flush=True)  # fmt: skip
    print(f"{len(tried)} patterns on {texts:,} texts of {options.length:,} characters: {bad} over "
          f"{options.limit:g} s, {growing} more that grow with the square, {cut} not on all texts, "
          f"{time.process_time():.0f} s of processor time")  # fmt: skip
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
