"""What the statements of a dump say about its columns: CREATE TABLE, and the head of an INSERT.

MediaWiki's tables have changed their columns and the order of them; a reader that goes by place
takes a sort key for a name and builds a wrong graph in silence. So columns are found by name, in
the file's own statements.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from askew.errors import DataError

# What may stand between two statements. MySQL wants a blank after `--`; some writers leave it out.
BETWEEN = re.compile(rb"(?:[\s;]++|--[^\n]*+\n|#[^\n]*+\n|/\*(?s:.*?)\*/)*+")
# The same, where nothing follows: the last line of a file may have no line end.
LAST_COMMENT = re.compile(rb"(?:--|#)[^\n]*\Z")
_COMMENT = re.compile(rb"--|#|/\*")

_NAME = rb"(?:`(?:[^`]|``)++`|\"(?:[^\"]|\"\")++\"|[\w$\x80-\xff]++)"
# The last alternative is an opening mark whose end is not there yet.
_PIECE = re.compile(
    rb"(?s:'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"|`[^`]*+`|/\*.*?\*/)"
    rb"|--[ \t\r][^\n]*+\n|#[^\n]*+\n|(?P<end>;)|['\"`]|/\*|--[ \t\r]|#"
)
_INSERT = re.compile(
    rb"(?i:INSERT|REPLACE)\s(?:\s*(?i:LOW_PRIORITY|DELAYED|HIGH_PRIORITY|IGNORE|INTO)\s)*+\s*"
    rb"(?:" + _NAME + rb"\s*\.\s*)?(?P<table>" + _NAME + rb")\s*"
    rb"(?:\((?P<columns>[^()]*+)\)\s*)?(?i:VALUES?)(?=[\s(]|\Z)"
)
_INSERT_WORD = re.compile(rb"(?i:INSERT|REPLACE)\b")
_CREATE = re.compile(
    rb"(?i:CREATE\s+(?:TEMPORARY\s+)?TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?)(?:/\*(?s:.*?)\*/\s*)*+"
    rb"(?:" + _NAME + rb"\s*\.\s*)?(?P<table>" + _NAME + rb")\s*\("
)
# Rows in a comment that MySQL runs. No dumper writes them; stepped over, they would be lost.
_HIDDEN_ROWS = re.compile(rb"/\*M?!\d*\s*(?i:INSERT|REPLACE)\b")
_LEADING_NAME = re.compile(rb"(?:\s++|--[^\n]*+\n|#[^\n]*+\n|/\*(?s:.*?)\*/)*+(" + _NAME + rb")")
# Lines of a CREATE TABLE that name no column. A column of such a name stands in quotes.
_NO_COLUMN = re.compile(
    rb"(?i:PRIMARY|UNIQUE|KEY|INDEX|CONSTRAINT|FULLTEXT|SPATIAL|FOREIGN|CHECK|PERIOD)\Z"
)
_IN_DEFINITION = re.compile(
    rb"(?s:'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\"|`[^`]*+`|/\*.*?\*/)"
    rb"|(?:--[ \t\r]|#)[^\n]*+|[(),]"
)


@dataclass(frozen=True, slots=True)
class Table:
    """A table's columns, in the order in which a row without a list of columns gives them."""

    name: str
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class InsertHead:
    """`INSERT INTO t (a,b) VALUES`, up to where its rows begin."""

    table: str
    columns: tuple[str, ...] | None  # None: those of the CREATE TABLE
    start: int
    end: int


def is_comment(data: bytes | bytearray, at: int, end: int) -> bool:
    """Whether a comment begins at `at`."""
    return _COMMENT.match(data, at, end) is not None


def is_insert(data: bytes | bytearray, at: int, end: int) -> bool:
    """Whether the statement at `at` gives rows."""
    return _INSERT_WORD.match(data, at, end) is not None


def hidden_rows(data: bytes | bytearray, at: int, end: int) -> int | None:
    """Where rows stand in a comment that MySQL runs; None where there are none."""
    found = _HIDDEN_ROWS.search(data, at, end)
    return None if found is None else found.start()


def insert_head(data: bytes | bytearray, at: int, end: int) -> InsertHead | None:
    """The head of the INSERT at `at`; None where its end is not before `end`."""
    found = _INSERT.match(data, at, end)
    if found is None or found.end() == end:
        return None
    listed = found["columns"]
    columns = None if listed is None else tuple(map(_plain, listed.split(b",")))
    return InsertHead(_plain(found["table"]), columns, found.start(), found.end())


def statement_end(data: bytes | bytearray, at: int, end: int) -> int | None:
    """Where the statement at `at` ends, behind its `;`; None where that is not before `end`.

    A `;` inside a string, a quoted name or a comment ends nothing.
    """
    for piece in _PIECE.finditer(data, at, end):
        if piece.lastgroup == "end":
            return piece.end()
        if _is_open(piece[0]):
            return None
    return None


def _is_open(piece: bytes) -> bool:
    """Whether a string, a quoted name or a comment begins here and does not end."""
    return piece in (b"'", b'"', b"`", b"/*", b"#") or (
        piece.startswith(b"--") and not piece.endswith(b"\n")
    )


def created_table(statement: bytes) -> Table | None:
    """The table that a statement creates; None where it creates none.

    >>> created_table(b"CREATE TABLE `t` (`a` int(8) NOT NULL, b enum('x,(','y'), KEY (a));")
    Table(name='t', columns=('a', 'b'))
    """
    found = _CREATE.match(statement)
    if found is None:
        return None
    columns = []
    for definition in _definitions(statement, found.end()):
        name = _LEADING_NAME.match(definition)
        if name is not None and not _NO_COLUMN.match(name[1]):
            columns.append(_plain(name[1]))
    return Table(_plain(found["table"]), tuple(columns))


def places(path: str, table: Table, wanted: tuple[str, ...]) -> tuple[int, ...]:
    """Where the wanted columns stand in a row.

    Raises:
        DataError: a column is not there.
    """
    missing = [name for name in wanted if name not in table.columns]
    if missing:
        raise DataError(
            f"{path}: table `{table.name}` has no column {', '.join(map(repr, missing))}. It has: "
            f"{', '.join(map(repr, table.columns))}. This is a layout that askew does not know: "
            "check that the file is the dump of MediaWiki's table of that name."
        )
    return tuple(table.columns.index(name) for name in wanted)


def _definitions(statement: bytes, at: int) -> list[bytes]:
    """What stands between the outer brackets of a CREATE TABLE, parted at its commas."""
    found, depth, begin = [], 0, at
    for piece in _IN_DEFINITION.finditer(statement, at):
        if piece[0] == b"(":
            depth += 1
        elif piece[0] in (b",", b")") and not depth:
            found.append(statement[begin : piece.start()])
            begin = piece.end()
            if piece[0] == b")":
                break
        elif piece[0] == b")":
            depth -= 1
    return found


def _plain(name: bytes) -> str:
    name = name.strip()
    if name[:1] in (b"`", b'"'):
        quote = name[:1]
        name = name[1:-1].replace(quote * 2, quote)
    return name.decode("utf-8", errors="backslashreplace")
