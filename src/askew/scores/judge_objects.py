"""The objects in a judge's reply, read as loosely as they are written and as strictly as they mean.

Judges write JSON with comments, trailing commas, bare or curly quotes, line breaks in strings. How
an object is *written* is forgiven; what it *says* is not: every pair is kept, a key that stands
twice too, and an object that is cut off is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_INVISIBLE = frozenset("\ufeff\u200b\u200c\u200d\u2060")
_COLONS = ":："
_COMMAS = ",，;；"
# What opens a string -> what may close it.
_QUOTES = {
    '"': '"',
    "'": "'",
    "`": "`",
    "“": '”“"',
    "”": '”"',
    "„": '“”"',
    "‘": "’‘'",
    "＂": "＂",
}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
# No semicolon: an unescaped quote inside a string is often followed by one.
_ENDS_A_STRING = frozenset(_COLONS + ",，}]")
_MOST_CUT_OFF = 40  # each is read to the end of the text
_DEEPEST = 20
_OPENS = re.compile(r"[{\[]")
_LONGEST_WORD = 200
# "0,3" for 0.3 in an object, where no key begins with a bare number.
_DECIMALS = re.compile(r",\d{1,17}(?=\s*[,;}\n])", re.ASCII)
_DIGITS = re.compile(r"\s*[+-]?\d{1,2}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Text:
    """A string, with its quotes taken off."""

    text: str


@dataclass(frozen=True, slots=True)
class Word:
    """What stood bare: a number, `true`, `null`, `<score>`."""

    text: str


@dataclass(frozen=True, slots=True)
class Record:
    """An object: its pairs in order, a repeated key as often as it was written."""

    pairs: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, slots=True)
class Row:
    """A list."""

    entries: tuple[Node, ...]


Node = Text | Word | Record | Row


@dataclass(frozen=True, slots=True)
class Found:
    """One outermost object or list of a text, at `start` to `end` (not included)."""

    node: Record | Row
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Scan:
    """All outermost objects of a text, and those that could not be read."""

    found: tuple[Found, ...]
    open_at: int | None = None  # where an object opens that the end of the text cuts off
    broken_at: tuple[int, ...] = ()  # where one opens that is no object after all


class _CutOff(Exception):
    """The text ended inside the object."""


class _NoObject(Exception):
    """What is there is no object."""


class _TooDeep(_NoObject):
    """An object or list within more than `_DEEPEST` others."""


def scan(text: str) -> Scan:
    r"""Find the outermost objects and lists of a text, in order.

    >>> [found.node for found in scan("So: {'age': .3, // low\n}").found]
    [Record(pairs=(('age', Word(text='.3')),))]
    >>> scan('{"age": 0.3, "gen').open_at
    0
    """
    found: list[Found] = []
    broken: list[int] = []
    open_at: int | None = None
    place = cut = 0
    while cut < _MOST_CUT_OFF and (opening := _OPENS.search(text, place)) is not None:
        start = opening.start()
        reader = _Reader(text, start)
        try:
            node = reader.value(0)
        except _CutOff:
            # The first one that opens and never closes; what stands in it is looked through, as a
            # lone brace in prose cuts nothing off.
            open_at = start if open_at is None else open_at
            cut += 1
            place = start + 1
        except _TooDeep:
            # None of those around it can be read: each would be tried as deep again.
            broken.append(start)
            place = reader.place
        except _NoObject:
            broken.append(start)
            place = start + 1
        else:
            assert isinstance(node, (Record, Row))
            found.append(Found(node, start, reader.place))
            place = reader.place
    return Scan(tuple(found), open_at, tuple(broken))


def records_in(node: Node) -> Iterator[Record]:
    """The objects in a node, the outer before the inner."""
    if isinstance(node, Record):
        yield node
        for _, value in node.pairs:
            yield from records_in(value)
    elif isinstance(node, Row):
        for entry in node.entries:
            yield from records_in(entry)


class _Reader:
    """Reads one value from `place` on."""

    def __init__(self, text: str, place: int) -> None:
        self._text = text
        self.place = place

    def value(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise _TooDeep
        sign = self._peek()
        if sign == "{":
            return self._record(depth)
        if sign == "[":
            return self._row(depth)
        if sign in _QUOTES:
            return Text(self._string())
        return Word(self._word())

    def _record(self, depth: int) -> Record:
        self.place += 1
        pairs: list[tuple[str, Node]] = []
        while (sign := self._peek()) != "}":
            if sign in _COMMAS and pairs:
                self.place += 1  # one too many
                continue
            key = self._string() if sign in _QUOTES else self._bare_key()
            if self._peek() not in _COLONS:
                raise _NoObject
            self.place += 1
            pairs.append((key, self._record_value(depth)))
            # A comma may be left out where a quoted key follows a number.
            if not (isinstance(pairs[-1][1], Word) and self._peek() in _QUOTES):
                self._separator("}")
        self.place += 1
        return Record(tuple(pairs))

    def _record_value(self, depth: int) -> Node:
        value = self.value(depth + 1)
        if isinstance(value, Word) and _DIGITS.fullmatch(value.text):
            decimals = _DECIMALS.match(self._text, self.place)
            if decimals is not None:
                self.place = decimals.end()
                return Word(value.text + decimals[0])
        return value

    def _row(self, depth: int) -> Row:
        self.place += 1
        entries: list[Node] = []
        while (sign := self._peek()) != "]":
            if sign in _COMMAS and entries:
                self.place += 1
                continue
            entries.append(self.value(depth + 1))
            self._separator("]")
        self.place += 1
        return Row(tuple(entries))

    def _separator(self, closing: str) -> None:
        sign = self._peek()
        if sign in _COMMAS:
            self.place += 1
        elif sign != closing:
            raise _NoObject

    def _peek(self) -> str:
        """The next sign that means something; blanks and comments are passed over."""
        text = self._text
        while self.place < len(text):
            sign = text[self.place]
            if sign.isspace() or sign in _INVISIBLE:
                self.place += 1
            elif text.startswith("/*", self.place):
                end = text.find("*/", self.place + 2)
                if end < 0:
                    raise _CutOff
                self.place = end + 2
            elif text.startswith("//", self.place) or sign == "#":
                end = text.find("\n", self.place)
                if end < 0:
                    raise _CutOff
                self.place = end + 1
            else:
                return sign
        raise _CutOff

    def _string(self) -> str:
        text, closing = self._text, _QUOTES[self._text[self.place]]
        signs: list[str] = []
        place = self.place + 1
        while place < len(text):
            sign = text[place]
            if sign == "\\" and place + 1 < len(text):
                escaped, place = _escape(text, place)
                signs.append(escaped)
            elif sign in closing and self._ends_string(place + 1):
                self.place = place + 1
                return _whole("".join(signs))
            else:
                signs.append(sign)
                place += 1
        raise _CutOff

    def _ends_string(self, place: int) -> bool:
        """Whether a quote before `place` closes: an unescaped one inside goes on in words."""
        text = self._text
        while place < len(text) and (text[place].isspace() or text[place] in _INVISIBLE):
            place += 1
        if place >= len(text):
            return True
        return text[place] in _ENDS_A_STRING or text.startswith(("//", "/*", "#"), place)

    def _bare_key(self) -> str:
        start = self.place
        for place in range(start, min(len(self._text), start + _LONGEST_WORD)):
            if self._text[place] in _COLONS:
                self.place = place
                return self._text[start:place].strip()
            if self._text[place] in '{}[]\n"“”' + _COMMAS:
                raise _NoObject
        if start + _LONGEST_WORD >= len(self._text):
            raise _CutOff
        raise _NoObject

    def _word(self) -> str:
        text, start = self._text, self.place
        place = start
        while place < len(text) and place < start + _LONGEST_WORD:
            if text[place] in '{}[]#\n"“”' + _COMMAS or text.startswith(("//", "/*"), place):
                break
            place += 1
        if place >= len(text):
            raise _CutOff
        word = text[start:place].strip()
        if not word:
            raise _NoObject
        self.place = place
        return word


def _whole(text: str) -> str:
    """The text with escaped halves of one character put together; a lone half becomes a mark."""
    if not any("\ud800" <= sign <= "\udfff" for sign in text):
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _escape(text: str, place: int) -> tuple[str, int]:
    """What the backslash at `place` stands for, and where it ends."""
    sign = text[place + 1]
    if sign == "u":
        digits = text[place + 2 : place + 6]
        try:
            return chr(int(digits, 16)), place + 6
        except ValueError:
            return sign, place + 2
    return _ESCAPES.get(sign, sign), place + 2
