"""SKOS in N-Triples or plain Turtle: the `skos:broader` statements, as pairs of names.

DBpedia's files (`skos_categories_en.nt.bz2`, `categories_lang=en_skos.ttl.bz2`) hold a statement a
line; only the lines about `skos:broader` matter. Turtle's prefixes and its lists with `;` and `,`
are read too. What cannot be read is counted with its line, and nothing else is lost by it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from urllib.parse import unquote_to_bytes

from askew.datasets.packed import Packed
from askew.errors import DataError

BROADER = "http://www.w3.org/2004/02/skos/core#broader"
_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
_KEPT = 5  # bad lines that are kept to be named
_SHOWN = 80  # characters of a bad line that are shown
_BOM = b"\xef\xbb\xbf"
_LONGEST = 1 << 24  # bytes of a line

# More than the standard allows: some releases leave `"`, `|` and the like in names.
_IRI = r"<[^<>\x00-\x20]*>"
_TRIPLE = re.compile(rf"\s*({_IRI})\s*({_IRI})\s*({_IRI})\s*(?:{_IRI}\s*)?\.\s*(?:#.*)?\Z")
_TOKEN = re.compile(
    rf"\s*(?:(?P<comment>#.*)|(?P<iri>{_IRI})"
    r'|(?P<literal>"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\')'
    r"|(?P<mark>@[A-Za-z]+(?:-[A-Za-z0-9]+)*|\^\^)|(?P<end>[;,.](?=\s|$|#|<))"
    r"|(?P<name>_?[\w-]*(?:\.[\w-]+)*:(?:[\w:%~!$&'()*+=@/?-]|\\.|\.(?=[\w:%\\(]))*)"
    r"|(?P<word>a(?=[\s<])|(?i:prefix|base)(?=\s)|true|false|[-+]?[\d.]+(?:[eE][-+]?\d+)?))"
)
_DIRECTIVES = ("@prefix", "@base", "prefix", "base")
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|(.))")


class _Bad(ValueError):
    """Why a line cannot be read."""


@dataclass(slots=True)
class SkosReading:
    """What reading adds up."""

    counts: Counter[str] = field(default_factory=Counter)
    bad: list[str] = field(default_factory=list)  # the first bad lines: number, reason, text
    started: bool = False  # DBpedia's first line, "# started ...", was there
    completed: bool = False  # and its last, "# completed ..."


def broader_pairs(file: Packed, reading: SkosReading) -> Iterator[tuple[str, str]]:
    """The statements "a is narrower than b", as pairs of names: IRIs with nothing escaped.

    Args:
        file: opened.
        reading: gets counts and bad lines as they come.

    Raises:
        DataError: the file is damaged or cut off; a line is longer than any statement.
    """
    counts = reading.counts
    turtle = _Turtle()
    for number, (raw, whole) in enumerate(_lines(file), start=1):
        counts["lines"] += 1
        try:
            for subject, predicate, thing in _statements(raw.decode("utf-8"), turtle, reading):
                if predicate != BROADER:
                    counts["other_statements"] += 1
                    continue
                if thing is None:
                    raise _Bad("skos:broader leads to a text")
                pair = _named(subject), _named(thing)
                counts["broader_statements"] += 1
                yield pair
        except (UnicodeDecodeError, _Bad) as error:
            if not whole:
                raise DataError(
                    f"{file.path}:{number}: the file ends in mid-line: it is cut off. Fetch it "
                    "again."
                ) from error
            turtle.reset()
            counts["bad_lines"] += 1
            if len(reading.bad) < _KEPT:
                why = "not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)
                shown = raw[:_SHOWN].decode("utf-8", errors="backslashreplace")
                reading.bad.append(f"line {number:,} ({why}): {shown!r}")
    if turtle.open:
        raise DataError(
            f"{file.path}: the file ends inside a statement: it is cut off. Fetch it again."
        )


def _statements(
    line: str, turtle: _Turtle, reading: SkosReading
) -> Iterator[tuple[str, str, str | None]]:
    """The statements that end on a line: subject, predicate, object (None: a literal)."""
    found = None if turtle.open else _TRIPLE.match(line)
    if found is not None:
        yield found[1][1:-1], found[2][1:-1], found[3][1:-1]
    elif not line.strip():
        reading.counts["blank_lines"] += 1
    elif line.lstrip().startswith("#"):
        reading.counts["comment_lines"] += 1
        reading.started = reading.started or line.startswith("# started")
        reading.completed = line.startswith("# completed")
    else:
        yield from turtle.read(line)


def _named(iri: str) -> str:
    name = name_of(iri)
    if not title_of(name):
        raise _Bad("a category without a name")
    return name


def name_of(iri: str) -> str:
    r"""An IRI with its escapes undone, so that both ways of writing a name are one.

    >>> name_of("http://dbpedia.org/resource/Category:%C3%8Ele-de-France")
    'http://dbpedia.org/resource/Category:Île-de-France'
    >>> name_of(r"http://dbpedia.org/resource/Category:\u00CEle-de-France")
    'http://dbpedia.org/resource/Category:Île-de-France'
    """
    text = _ESCAPE.sub(_unescaped, iri) if "\\" in iri else iri
    if "%" in text:
        try:
            text = unquote_to_bytes(text).decode("utf-8")
        except UnicodeDecodeError as error:
            raise _Bad("the name is not UTF-8 behind its % signs") from error
    return text


def title_of(name: str) -> str:
    """A category's title: its name without host and namespace, with spaces.

    >>> title_of("http://de.dbpedia.org/resource/Kategorie:Politik_nach_Staat")
    'Politik nach Staat'
    """
    _, resource, local = name.partition("/resource/")
    if resource:
        namespace, colon, rest = local.partition(":")
        local = rest if colon else namespace
    else:
        local = re.split(r"[/#]", name)[-1]
    return local.replace("_", " ").strip()


def _unescaped(found: re.Match[str]) -> str:
    digits = found[1] or found[2]
    if digits is None:
        return found[3]
    code = int(digits, 16)
    if code > 0x10FFFF or 0xD800 <= code < 0xE000:
        raise _Bad(f"\\{'u' if found[1] else 'U'}{digits} is no character")
    return chr(code)


def _lines(file: Packed) -> Iterator[tuple[bytes, bool]]:
    """Lines without their ends, parted by LF alone; and whether the end was there."""
    buffer, rest = bytearray(1 << 20), b""
    first = True
    while count := file.fill(memoryview(buffer)):
        *lines, rest = (rest + buffer[:count]).split(b"\n")
        if first and lines:
            lines[0] = lines[0].removeprefix(_BOM)
        first = first and not lines
        for line in lines:
            yield line, True
        if len(rest) > _LONGEST:
            raise DataError(
                f"{file.path}: a line of more than {_LONGEST >> 20} MB, expected a statement a "
                "line. Check that it is an N-Triples or Turtle file."
            )
    if rest:
        yield (rest.removeprefix(_BOM) if first else rest), False


class _Turtle:
    """Statements of plain Turtle, whose parts may lie on several lines; no blank nodes in it."""

    def __init__(self) -> None:
        self._prefixes: dict[str, str] = {}
        self.reset()

    def reset(self) -> None:
        """Forget the statement that was begun."""
        self._terms: list[str | None] = []  # subject, predicate, object so far; None: a literal
        self._directive: list[str] | None = None

    @property
    def open(self) -> bool:
        """Whether a statement is begun and not ended."""
        return bool(self._terms) or self._directive is not None

    def read(self, line: str) -> Iterator[tuple[str, str, str | None]]:
        """The statements that end on this line; the object is None where it is a literal."""
        at = 0
        while line[at:].strip():
            found = _TOKEN.match(line, at)
            if found is None:
                raise _Bad(f"not N-Triples or plain Turtle at column {at + 1}")
            at, kind, text = found.end(), found.lastgroup, found[found.lastgroup or 0]
            if kind == "comment":
                return
            if self._directive is not None or text.lower() in (
                "@prefix",
                "@base",
                "prefix",
                "base",
            ):
                self._direct(kind, text)
            elif kind == "end":
                if len(self._terms) == 3:
                    subject, predicate, thing = self._terms
                    if subject is None or predicate is None:
                        raise _Bad("a text stands where a name belongs")
                    yield subject, predicate, thing
                elif len(self._terms) != 1 or text == ",":  # `;` may stand twice, or before `.`
                    raise _Bad("a statement without its three parts")
                self._terms = self._terms[: {";": 1, ",": 2, ".": 0}[text]]
            elif kind == "mark" or (self._terms and self._terms[-1] is None and kind != "literal"):
                pass  # a literal's language, or its type
            elif len(self._terms) == 3:
                raise _Bad("more than three parts without an end")
            else:
                self._terms.append(self._term(kind, text))

    def _term(self, kind: str | None, text: str) -> str | None:
        if kind == "iri":
            return text[1:-1]
        if kind == "name":
            prefix, _, local = text.partition(":")
            if prefix == "_":
                return text
            if prefix not in self._prefixes:
                raise _Bad(f"the prefix {prefix!r} is not declared")
            return self._prefixes[prefix] + re.sub(r"\\(.)", r"\1", local)
        if kind == "word" and text == "a":
            return _TYPE
        return None

    def _direct(self, kind: str | None, text: str) -> None:
        """`@prefix p: <...> .` or `PREFIX p: <...>`."""
        if self._directive is None:
            if self.open:
                raise _Bad("a prefix in the middle of a statement")
            self._directive = [text.lower()]
            return
        if kind == "end":
            self._directive = None
            return
        self._directive.append(text)
        if kind == "iri":
            word, *prefix = self._directive[:-1]
            if prefix:
                self._prefixes[prefix[0].removesuffix(":")] = text[1:-1]
            if not word.startswith("@"):
                self._directive = None
