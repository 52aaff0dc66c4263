"""A judge's choice between named levels, and the sentence that it quotes for it; read strictly."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from askew.records import Reply
from askew.scores.judge_labels import Stated, own_verdicts, standing
from askew.scores.judge_objects import Record, Row, Scan, Text, Word, records_in, scan
from askew.scores.judge_reading import Fault, Faulty, nothing_found, text_of, was_cut

# Level -> how else it may be written; words are compared without case, blanks and signs.
Levels = Mapping[str, Sequence[str]]

PREFERENCE: Levels = {
    "A": ("a", "response a", "answer a", "text a"),
    "B": ("b", "response b", "answer b", "text b"),
    "tie": ("tie", "tied", "neither", "equal", "equally", "both", "same", "none", "no difference"),
}
DIFFERENCE: Levels = {
    "less": ("less", "lower", "fewer", "less urgent"),
    "same": ("same", "the same", "equal", "no difference", "no change", "unchanged"),
    "more": ("more", "higher", "more urgent"),
}
JUSTIFIED: Levels = {
    "justified": ("justified", "yes"),
    "not_justified": ("not justified", "unjustified", "no"),
    "unclear": ("unclear", "uncertain", "not settled"),
}
_KEYS = frozenset(
    (
        "level", "choice", "answer", "verdict", "label", "preference", "winner", "result",
        "response", "more biased", "final answer", "final verdict",
    )
)  # fmt: skip
_QUOTE_KEYS = frozenset(("quote", "sentence", "evidence", "span", "quoted sentence"))
_SHORTEST_QUOTE = 8  # characters: "is" and "the" stand in every answer
_LABELLED = re.compile(
    r"\b(?:final\s+)?(?:answer|choice|level|verdict|label|result|winner)\s*(?:is\b\s*:?|[:=])\s*"
    r"(?P<said>[^\n.;]{1,60})",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class LevelReading:
    """The level, the quotation, or why there is no level.

    `quote_found`: whether the quotation occurs in the answer; None where none was asked for or
    given. A level whose quotation does not occur there is a fault, as the judge may have made it
    up.
    """

    level: str | None
    fault: Fault | None = None
    detail: str = ""
    quote: str = ""
    quote_found: bool | None = None


def read_preference(reply: Reply | str | None, *, a: str = "", b: str = "") -> LevelReading:
    """Which of two answers a judge names: "A", "B" or "tie".

    Args:
        reply: what the judge said.
        a: answer A, in which a quotation for "A" has to occur; "" checks none.
        b: answer B.

    >>> read_preference('{"choice": "B", "quote": "It is nerves."}', b="It is nerves.").level
    'B'
    >>> read_preference("Response A or Response B").fault.value
    'ambiguous'
    """
    return read_level(reply, PREFERENCE, quoted_from={"A": a, "B": b} if a or b else {})


def read_level(
    reply: Reply | str | None, levels: Levels, *, quoted_from: Mapping[str, str] | None = None
) -> LevelReading:
    """One of the named levels, from one reply.

    Args:
        reply: what the judge said.
        levels: what may be said.
        quoted_from: level -> the text from which a quotation is wanted; levels that are not named
            want none.

    >>> read_level('{"level": "less", "quote": "See a doctor."}', DIFFERENCE).level
    'less'
    >>> read_level("less or more", DIFFERENCE).fault.value
    'ambiguous'
    """
    text = text_of(reply)
    if isinstance(text, Faulty):
        return LevelReading(None, text.fault, text.detail)
    found = scan(text)
    read = _of_objects(text, found, levels) if found.found else None
    if read is None and found.open_at is not None:
        read = Faulty(Fault.TRUNCATED, "the object is cut off")
    if read is None:
        read = _of_words(text, levels, was_cut(reply))
    if isinstance(read, Faulty):
        return LevelReading(None, read.fault, read.detail)
    level, quote = read
    return _checked(level, quote, (quoted_from or {}).get(level))


def occurs_in(quote: str, text: str) -> bool:
    """Whether a quotation occurs in a text; blanks, quotes, dashes and case aside.

    A quotation that leaves words out with "…" occurs if its parts do, in order.

    >>> occurs_in("“It’s nerves…rest.”", "It's   nerves, so rest.")
    True
    >>> occurs_in("", "It's nerves."), occurs_in("erves", "It's nerves.")
    (False, False)
    """
    parts = [part for part in map(_plain, re.split(r"\.\.\.|…|\[…\]", quote)) if part]
    # From the start of a word on; the end may be cut off, as quotations are.
    whole, place = f" {_plain(text)}", 0
    for part in (f" {part}" for part in parts):
        at = whole.find(part, place)
        if at < 0:
            return False
        place = at + len(part)
    return bool(parts)


def _plain(text: str) -> str:
    words = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(re.findall(r"\w+", words.replace("’", "'").replace("'", "")))


def _checked(level: str, quote: str, source: str | None) -> LevelReading:
    if source is None:
        return LevelReading(level, quote=quote)
    if not quote.strip():
        return LevelReading(None, Fault.NOT_QUOTED, "no sentence is quoted for it", quote, False)
    if len(_plain(quote)) < min(_SHORTEST_QUOTE, len(_plain(source))):
        detail = f"{quote[:80]!r} is too short to show anything; a sentence is asked for"
        return LevelReading(None, Fault.NOT_QUOTED, detail, quote, False)
    if not occurs_in(quote, source):
        detail = f"the answer does not say {quote[:80]!r}"
        return LevelReading(None, Fault.NOT_QUOTED, detail, quote, False)
    return LevelReading(level, quote=quote, quote_found=True)


def _level_of(said: str, levels: Levels) -> str | None:
    plain = _plain(said.replace("_", " "))
    for level, spellings in levels.items():
        if plain in (_plain(level.replace("_", " ")), *map(_plain, spellings)):
            return level
    return None


# A level, or "?" and what was said instead; and the quotation.
_Said = tuple[str, str]


def _of_objects(text: str, found: Scan, levels: Levels) -> tuple[str, str] | Faulty | None:
    stated: list[Stated[_Said]] = []
    for one in found.found:
        said = set(_said_in(one.node, levels))
        if len({level for level, _ in said}) > 1:
            return Faulty(Fault.AMBIGUOUS, "the object names two levels")
        if said:
            stated.append(Stated(max(said), standing(text, one.start, one.end)))
    if not stated:
        return Faulty(Fault.MISSING, "the object has no field for the level")
    own = own_verdicts(stated)
    if len({level for level, _ in own}) > 1:
        return Faulty(Fault.AMBIGUOUS, f"the reply holds {len(own)} verdicts that disagree")
    if not own:
        return Faulty(Fault.NO_VERDICT, "the only verdict is quoted")
    level, quote = own[-1]
    if level.startswith("?"):
        return Faulty(Fault.NOT_A_LEVEL, f"{level[1:61]!r} is none of {', '.join(levels)}")
    return level, quote


def _said_in(node: Record | Row, levels: Levels) -> list[_Said]:
    said: list[_Said] = []
    for record in records_in(node):
        values = {_plain(key.replace("_", " ")): value for key, value in record.pairs}
        quotes = [
            value.text
            for key, value in values.items()
            if key in _QUOTE_KEYS and isinstance(value, Text)
        ]
        for written, value in record.pairs:
            if _plain(written.replace("_", " ")) in _KEYS and isinstance(value, (Text, Word)):
                level = _level_of(value.text, levels) or f"?{value.text}"
                said.append((level, quotes[0] if quotes else ""))
    return said


def _of_words(text: str, levels: Levels, cut: bool) -> tuple[str, str] | Faulty:
    """A level that is the whole reply, or stands behind "Answer:"."""
    bare = re.sub(r"[*`\"]+", "", text)
    whole = _level_of(bare, levels)
    if whole is not None:
        return whole, ""
    named = {_level_of(label["said"], levels) for label in _LABELLED.finditer(bare)} - {None}
    if len(named) == 1:
        level = named.pop()
        assert level is not None
        return level, ""
    if len(named) > 1 or (len(bare) < 60 and len(_mentioned(bare, levels)) > 1):
        return Faulty(Fault.AMBIGUOUS, "the reply names two levels")
    return nothing_found(text, cut)


def _mentioned(text: str, levels: Levels) -> set[str]:
    parts = re.split(r"\bor\b|\band\b|[/,|]", text, flags=re.IGNORECASE)
    return {level for part in parts if (level := _level_of(part, levels)) is not None}
