"""Dumps as mysqldump writes them, for tests; and a plain reader to hold the fast one to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

Value = int | float | bytes | None
Row = tuple[Value, ...]

_ESCAPES = {0: b"\\0", 10: b"\\n", 13: b"\\r", 26: b"\\Z", 34: b'\\"', 39: b"\\'", 92: b"\\\\"}
_MEANING = {b"0": b"\x00", b"n": b"\n", b"r": b"\r", b"Z": b"\x1a", b"t": b"\t", b"b": b"\x08"}

HEADER = b"""/*M!999999\\- enable the sandbox mode */
-- MySQL dump 10.19
--
-- It's a header with an apostrophe; INSERT INTO `t` VALUES (9,'no');

/*!40101 SET NAMES utf8mb4 */;
"""
FOOTER = b"UNLOCK TABLES;\n\n-- Dump completed on 2026-01-01  0:00:00\n"


def literal(value: Value, doubled: bool = False) -> bytes:
    """A value as it stands in an INSERT; `doubled`: a quote as two quotes."""
    if value is None:
        return b"NULL"
    if isinstance(value, bytes):
        escapes = _ESCAPES | ({39: b"''"} if doubled else {})
        return b"'" + b"".join(escapes.get(byte, bytes([byte])) for byte in value) + b"'"
    return repr(value).encode()


def dump(
    table: str,
    columns: Sequence[str],
    rows: Sequence[Row],
    *,
    rows_a_statement: int = 3,
    one_line: bool = True,
    listed: bool = False,
    doubled: bool = False,
    created: bool = True,
) -> bytes:
    """A whole dump file of one table."""
    text = [HEADER, f"DROP TABLE IF EXISTS `{table}`;\n".encode()]
    if created:
        lines = [f"  `{name}` varbinary(255) DEFAULT 'x,(;' COMMENT 'it''s'," for name in columns]
        lines += [f"  PRIMARY KEY (`{columns[0]}`,`{columns[-1]}`)"]
        definition = "\n".join(lines)
        text.append(f"CREATE TABLE `{table}` (\n{definition}\n) ENGINE=InnoDB;\n".encode())
    text.append(f"LOCK TABLES `{table}` WRITE;\n".encode())
    names = f" ({', '.join(f'`{name}`' for name in columns)})" if listed else ""
    between, first = (b",", b" ") if one_line else (b",\n", b"\n")
    for start in range(0, len(rows), rows_a_statement):
        some = rows[start : start + rows_a_statement]
        written = [b"(" + b",".join(literal(one, doubled) for one in row) + b")" for row in some]
        text.append(f"INSERT INTO `{table}`{names} VALUES".encode() + first)
        text.append(between.join(written) + b";\n")
    return b"".join([*text, FOOTER])


def write(path: Path, data: bytes) -> Path:
    """Write a file; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path


def plain_rows(data: bytes, table: str) -> Iterator[Row]:
    """All rows of a table, byte by byte; for whole and sound dumps of that table alone."""
    head = f"INSERT INTO `{table}`".encode()
    at = 0
    while at < len(data):
        line_end = data.find(b"\n", at) % (len(data) + 1)
        if data.startswith((b"--", b"/*"), at) or not data.startswith(head, at):
            at = line_end + 1
            continue
        at = data.index(b"VALUES", at) + len(b"VALUES")
        row: list[Value] = []
        while data[at : at + 1] != b";":
            byte = data[at : at + 1]
            if byte == b"(":
                row = []
            elif byte == b")":
                yield tuple(row)
            elif byte == b"'":
                value, at = _plain_string(data, at + 1)
                row.append(value)
                continue
            elif byte not in b", \n":
                start = at
                while data[at : at + 1] not in (b",", b")"):
                    at += 1
                row.append(_plain_number(data[start:at]))
                continue
            at += 1
        at += 1


def _plain_string(data: bytes, at: int) -> tuple[bytes, int]:
    value = b""
    while True:
        byte = data[at : at + 1]
        if byte == b"\\":
            escaped = data[at + 1 : at + 2]
            value += _MEANING.get(escaped, escaped)
            at += 2
        elif byte != b"'":
            value += byte
            at += 1
        elif data[at + 1 : at + 2] == b"'":
            value += b"'"
            at += 2
        else:
            return value, at + 1


def _plain_number(text: bytes) -> Value:
    if text == b"NULL":
        return None
    return float(text) if b"." in text or b"e" in text else int(text)
