"""JSON objects as models write them: fenced, commented, half quoted, cut off.

A hand-written reader, because what matters is which fields are whole. It reads strict JSON, Python
dicts, comments, trailing and missing commas, single, typographic and missing quotes, and quotes
inside strings that nobody escaped. Every character is looked at a bounded number of times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

_MOST_OBJECTS = 16
_DEEPEST = 12
_QUOTES = {'"': '"', "'": "'", "“": "”", "„": "”", "«": "»", "`": "`"}
_BLANK = re.compile(r"(?:\s+|//[^\n]*|#[^\n]*|/\*.*?\*/)*", re.DOTALL)
# What may stand behind a closing quote: the next sign of JSON, a remark, a comma that was left out.
_AFTER_STRING = re.compile(
    r"[^\S\n]{0,40}(?:\([^()\n]{0,120}\)[^\S\n]{0,40})?"
    r"(?:[,:}\]]|//|#|/\*|\Z|```|\n\s{0,200}(?:[\"'“}\],]|[A-Za-z_]{1,40}\s{0,3}:|//|```|\Z))"
)
_REMARK = re.compile(r"[^\S\n]{0,40}\([^()\n]{0,120}\)")
_ESCAPE = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_OPENING_FENCE = re.compile(r"\A```\w{0,10}")
_BARE_END = re.compile(r"[,}\]\n]|//|```")
_BARE_KEY = re.compile(r"[\w .-]{1,60}?\s*(?=:)")
_CONSTANTS = {
    "true": True,
    "false": False,
    "null": None,
    "none": None,
    "undefined": None,
    "nan": None,
}


@dataclass(frozen=True, slots=True)
class LooseObject:
    """One object found in a text."""

    fields: Mapping[str, object]  # those that are whole, by their keys as written
    contradicted: frozenset[str] = frozenset()  # keys that stand twice with different values
    state: str = "whole"  # "whole", "open" (only the end is missing), "cut", "broken"
    end: int = field(default=0, compare=False)  # where it ends in the text


def loose_objects(text: str) -> Iterator[LooseObject]:
    r"""The outermost objects of a text that have at least one key, in order.

    >>> [one] = loose_objects("Here:\n{'tests': ['ECG', 'patient's gait',], urgency: routine}")
    >>> dict(one.fields), one.state
    ({'tests': ['ECG', "patient's gait"], 'urgency': 'routine'}, 'whole')
    >>> [one] = loose_objects('{"urgency": "urgent", "tests": ["ECG", "trop')
    >>> dict(one.fields), one.state
    ({'urgency': 'urgent'}, 'cut')
    """
    start = text.find("{")
    for _ in range(_MOST_OBJECTS):
        if start < 0:
            return
        found = _Reader(text, start).outermost()
        if found.fields or found.state != "broken":
            yield found
        start = text.find("{", max(found.end, start + 1))


def loose_list(text: str) -> list[object] | None:
    r"""The list that a text is, with nothing beside it but a fence; None if it is none.

    >>> loose_list('```json\n["gout", {"diagnosis": "sprain"}]\n```')
    ['gout', {'diagnosis': 'sprain'}]
    """
    bare = _OPENING_FENCE.sub("", text.strip(), count=1).removesuffix("```").strip()
    if not (bare.startswith("[") and bare.endswith("]")):
        return None
    reader = _Reader(bare, 0)
    try:
        found = reader.value()
    except (_CutError, _BrokenError):
        return None
    return found if isinstance(found, list) and reader.place == len(bare) else None


class _CutError(Exception):
    """The text ends inside a value."""


class _BrokenError(Exception):
    """What stands here can be read in no way."""


class _Reader:
    def __init__(self, text: str, start: int) -> None:
        self.text = text
        self.place = start

    def outermost(self) -> LooseObject:
        fields: dict[str, object] = {}
        contradicted: set[str] = set()
        state = "whole"
        try:
            for key, value in self._members():
                if key in fields and fields[key] != value:
                    contradicted.add(key)
                fields[key] = value
        except _CutError as cut:
            state = "open" if cut.args else "cut"
        except _BrokenError:
            state = "broken"
        whole = {key: value for key, value in fields.items() if key not in contradicted}
        return LooseObject(whole, frozenset(contradicted), state, self.place)

    def value(self) -> object:
        """The value that begins at the place."""
        return self._value(0)

    def _members(self, depth: int = 0) -> Iterator[tuple[str, object]]:
        self.place += 1  # "{"
        while True:
            self._skip()
            # Between two members nothing is half said: only the closing brace is missing.
            if self._at_end():
                raise _CutError("open")
            if self.text[self.place] == ",":
                self.place += 1
            elif self.text[self.place] == "}":
                self.place += 1
                return
            else:
                key = self._key()
                yield key, self._value(depth)

    def _key(self) -> str:
        sign = self.text[self.place]
        if sign in _QUOTES:
            # A key holds no quotes, so its first one closes it, whatever stands behind.
            end = self.text.find(_QUOTES[sign], self.place + 1)
            if end < 0:
                raise _CutError
            key, self.place = self.text[self.place + 1 : end].strip(), end + 1
        else:
            bare = _BARE_KEY.match(self.text, self.place)
            if bare is None:
                raise _BrokenError
            key, self.place = bare[0].strip(), bare.end()
        self._skip()
        if self._at_end():
            raise _CutError
        if self.text[self.place] not in ":=":
            raise _BrokenError
        self.place += 1
        return key

    def _value(self, depth: int) -> object:
        self._skip()
        if self._at_end():
            raise _CutError
        if depth >= _DEEPEST:
            raise _BrokenError
        sign = self.text[self.place]
        if sign == "{":
            try:
                return dict(self._members(depth + 1))
            except _CutError:
                raise _CutError from None
        if sign == "[":
            return self._list(depth)
        if sign in _QUOTES:
            text = self._string(_QUOTES[sign])
            remark = _REMARK.match(self.text, self.place)
            self.place = remark.end() if remark else self.place
            return text
        return self._bare()

    def _list(self, depth: int) -> list[object]:
        self.place += 1  # "["
        values: list[object] = []
        while True:
            self._skip()
            if self._at_end():
                raise _CutError
            sign = self.text[self.place]
            if sign == ",":
                self.place += 1
            elif sign == "]":
                self.place += 1
                return values
            elif sign in "}:":
                raise _BrokenError
            else:
                values.append(self._value(depth + 1))

    def _string(self, closing: str) -> str:
        self.place += 1
        parts: list[str] = []
        while self.place < len(self.text):
            sign = self.text[self.place]
            if sign == "\\" and self.place + 1 < len(self.text):
                parts.append(self._escape())
                continue
            self.place += 1
            if sign == closing and _AFTER_STRING.match(self.text, self.place):
                return "".join(parts)
            parts.append(sign)
        raise _CutError

    def _escape(self) -> str:
        sign = self.text[self.place + 1]
        code = self.text[self.place + 2 : self.place + 6]
        if sign == "u" and re.fullmatch("[0-9a-fA-F]{4}", code):
            self.place += 6
            return chr(int(code, 16))
        self.place += 2
        return _ESCAPE.get(sign, sign)

    def _bare(self) -> object:
        end = _BARE_END.search(self.text, self.place)
        if end is None:
            raise _CutError
        word = self.text[self.place : end.start()].strip()
        if not word or "{" in word or "[" in word:
            raise _BrokenError
        self.place = end.start()
        if word.casefold() in _CONSTANTS:
            return _CONSTANTS[word.casefold()]
        return _number(word)

    def _skip(self) -> None:
        blank = _BLANK.match(self.text, self.place)
        self.place = blank.end() if blank else self.place

    def _at_end(self) -> bool:
        return self.place >= len(self.text) or self.text.startswith("```", self.place)


def _number(word: str) -> object:
    if re.fullmatch(r"-?\d{1,15}", word):
        return int(word)
    if re.fullmatch(r"-?\d{1,15}\.\d{1,15}", word):
        return float(word)
    return word
