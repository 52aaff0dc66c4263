"""Bytes to records: JSON lines, CSV and whole JSON documents, with the physical line of each.

Data files from the field hold a byte-order mark, CRLF, bytes that are no UTF-8, U+2028 inside
strings, two objects on one line, a last line that was cut off. Each trouble costs one record and
is reported with its line; none is dropped in silence, and none moves the line numbers.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askew.datasets.base import BadRecord, Report
from askew.errors import ConfigError, DataError, shortened

_GZIP_MAGIC = b"\x1f\x8b"
_BOM = "\ufeff"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")
# What a file begins with that has to be unpacked, or saved in another form, before it is text.
_ARCHIVES = (
    (re.compile(rb"PK\x03\x04"), "a zip archive or a spreadsheet", "Unpack it, or save it as CSV"),
    (re.compile(rb"BZh[1-9]1AY&SY"), "packed with bzip2", "Unpack it"),
    (re.compile(rb"\xfd7zXZ\0"), "packed with xz", "Unpack it"),
    (re.compile(rb"\x28\xb5\x2f\xfd"), "packed with zstd", "Unpack it"),
    (re.compile(rb"7z\xbc\xaf\x27\x1c"), "a 7z archive", "Unpack it"),
)
# A file is held in memory, as are its records: a gigabyte is a hundred times the largest set known.
_MOST_MEGABYTES = 1024
MOST_VARIABLE = "ASKEW_MAX_FILE_MB"


@dataclass(frozen=True, slots=True)
class File:
    """One data file: its unpacked bytes, and the checksum of what is stored."""

    label: str  # how messages call it
    data: bytes
    sha256: str  # of the file as stored, packed or not


@dataclass(frozen=True, slots=True)
class Record:
    """One record with the physical line that it begins on."""

    line: int
    fields: Mapping[str, Any]


def read_file(path: Path) -> File:
    """Read a file, unpacking gzip whatever the file is called.

    Raises:
        DataError: the file cannot be read, its gzip stream is damaged, or it is larger, packed or
            unpacked, than `most_bytes` allows.
    """
    most = most_bytes()
    try:
        with path.open("rb") as opened:
            stored = opened.read(most + 1)  # a device or a pipe does not say how long it is
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}. Check the path.") from error
    except ValueError as error:  # NUL in the name
        raise DataError(f"{str(path)!r}: cannot be read: {error}. Check the path.") from error
    return unpacked(str(path), stored)


def unpacked(label: str, stored: bytes) -> File:
    """The file that `stored` holds, gzip or plain.

    Raises:
        DataError: as `read_file`.
    """
    most = most_bytes()
    _check_length(label, stored, most, "")
    data = stored
    if stored.startswith(_GZIP_MAGIC):
        try:
            # Never more than the bound at once: a thousandth of it may be all that is stored.
            data = gzip.GzipFile(fileobj=io.BytesIO(stored)).read(most + 1)
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise DataError(
                f"{label}: the gzip stream is damaged or cut off ({error}). Fetch the file again."
            ) from error
        _check_length(label, data, most, " when it is unpacked")
        if data.startswith(_GZIP_MAGIC):
            raise DataError(f"{label}: packed with gzip twice. Unpack it once and try again.")
    if data.startswith(_UTF16_MARKS):
        raise DataError(f"{label}: the file is UTF-16. Save it as UTF-8 and try again.")
    for begins, what, mend in _ARCHIVES:
        if begins.match(data):
            raise DataError(f"{label}: the file is {what}. {mend} and try again.")
    return File(label, data, hashlib.sha256(stored).hexdigest())


def most_bytes() -> int:
    """How long a file may be, unpacked, that is read whole; `ASKEW_MAX_FILE_MB` changes it.

    Raises:
        ConfigError: the variable is no whole number from 1 on.
    """
    said = os.environ.get(MOST_VARIABLE, "").strip()
    if not said:
        return _MOST_MEGABYTES << 20
    if not re.fullmatch(r"[1-9][0-9]{0,8}", said):
        raise ConfigError(
            f"the environment variable {MOST_VARIABLE} is {said[:40]!r}, expected megabytes, as in "
            f"{MOST_VARIABLE}={_MOST_MEGABYTES}."
        )
    return int(said) << 20


def _check_length(label: str, data: bytes, most: int, when: str) -> None:
    if len(data) > most:
        raise DataError(
            f"{label}: longer than {most >> 20:,} MB{when}, which is the most that is read into "
            f"memory. If the file is what you think, raise the bound: "
            f"{MOST_VARIABLE}={2 * (most >> 20)}."
        )


def json_lines(file: File, report: Report) -> Iterator[Record]:
    """The JSON objects of a file with one a line.

    Lines end at LF alone: `str.splitlines` would also cut at U+2028, U+2029 and U+0085, which may
    stand inside a JSON string.
    """
    for line, raw in enumerate(_lines(file.data), start=1):
        try:
            fields = _json_object(raw)
        except BadRecord as bad:
            report.add("rejected", bad.message, path=file.label, line=line)
            continue
        if fields is None:
            report.add("skipped", "blank line", path=file.label, line=line)
            continue
        yield Record(line, fields)


def json_document(file: File) -> Any:
    """The one JSON value that a file holds.

    Raises:
        DataError: the file is no UTF-8 or no JSON; the whole file is lost then.
    """
    try:
        text = file.data.decode("utf-8-sig")
        value = json.loads(text, object_pairs_hook=_object)
    except BadRecord as bad:
        raise DataError(f"{file.label}: {bad.message}.") from bad
    except UnicodeDecodeError as error:
        line = file.data.count(b"\n", 0, error.start) + 1
        raise DataError(f"{file.label}:{line}: not UTF-8. Save the file as UTF-8.") from error
    except json.JSONDecodeError as error:
        raise DataError(
            f"{file.label}:{error.lineno}: not JSON: {error.msg}. Fetch the file again."
        ) from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file.label}: not usable JSON: {error}.") from error
    if "\\u" in text and not _is_utf8([json.dumps(value, ensure_ascii=False)]):
        halves = (found for found in _SURROGATE.finditer(text) if not found["pair"])
        line = next((text.count("\n", 0, half.start()) + 1 for half in halves), 0)
        raise DataError(
            f"{file.label}:{line}: an escaped half of a surrogate pair, which is no character. "
            "Mend or remove the text."
        )
    return value


def cell_json(text: str, name: str) -> Any:
    """The JSON value that stands in a cell of a table.

    Args:
        text: of the cell.
        name: of its column.

    Raises:
        BadRecord: a key stands twice, or an escape is no character.
        ValueError: it is no JSON.
        RecursionError: it is nested too deeply.
    """
    try:
        value = _DECODER.decode(text)
    except BadRecord as bad:
        raise BadRecord(bad.message, name) from None
    if "\\u" in text and not _is_utf8([json.dumps(value, ensure_ascii=False)]):
        raise BadRecord("an escaped half of a surrogate pair, which is no character", name)
    return value


def csv_rows(file: File, report: Report, required: tuple[str, ...]) -> Iterator[Record]:
    """The rows of a CSV file with a header; commas, semicolons or tabs part the fields.

    Args:
        file: the file; a record may reach over several physical lines inside quotes.
        report: gets the rows that cannot be read.
        required: columns without which no row can be used.

    Raises:
        DataError: the header lacks a required column or names one twice.
    """
    # Bytes that are no UTF-8 pass through as lone surrogates, so that only their own record is
    # lost and the line numbers of the others stay right.
    text = file.data.decode("utf-8-sig", errors="surrogateescape")
    first_line = text.partition("\n")[0]
    delimiter = max(",;\t", key=first_line.count)
    reader = csv.reader(_text_lines(text), delimiter=delimiter, strict=True)
    header: list[str] | None = None
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            break
        except csv.Error as error:
            message = f"not readable as CSV ({error}; the record ends on line {reader.line_num})"
            report.add("rejected", message, path=file.label, line=line)
            continue
        if not any(field.strip() for field in row):
            # `header` is None before the header: leading blank lines are skipped like any others.
            report.add("skipped", "blank line", path=file.label, line=line)
        elif header is None:
            header = _header(row, file.label, required)
        elif len(row) != len(header):
            message = f"has {len(row)} fields, the header has {len(header)}"
            report.add("rejected", message, path=file.label, line=line)
        elif not _is_utf8(row):
            report.add("rejected", "not UTF-8: save as CSV UTF-8", path=file.label, line=line)
        else:
            yield Record(line, dict(zip(header, row, strict=True)))
    if header is None:
        raise DataError(f"{file.label}: the file is empty, expected a header line.")


def _lines(data: bytes) -> Iterator[bytes]:
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()  # the LF that ends the last line opens no new one
    yield from lines


def _text_lines(text: str) -> Iterator[str]:
    lines = text.split("\n")
    last = lines.pop()
    for line in lines:
        yield line + "\n"
    if last:
        yield last


def _json_object(raw: bytes) -> dict[str, Any] | None:
    """The object on one line; None where the line is blank."""
    try:
        # A mark also stands inside a file, where files with one were joined.
        text = raw.decode("utf-8").removeprefix(_BOM).strip(" \t\r")
    except UnicodeDecodeError as error:
        raise BadRecord(f"not UTF-8 (byte 0x{raw[error.start]:02x})") from error
    if not text:
        return None
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data":
            raise BadRecord("more than one JSON value on the line") from error
        raise BadRecord(f"not JSON: {error.msg} at column {error.colno}") from error
    except (ValueError, RecursionError) as error:  # a number of 5,000 digits, 1,000 open brackets
        raise BadRecord(f"not usable JSON: {error}") from error
    if not isinstance(value, dict):
        raise BadRecord(f"a JSON {type(value).__name__}, expected an object")
    if "\\u" in text and not _is_utf8([json.dumps(value, ensure_ascii=False)]):
        raise BadRecord("an escaped half of a surrogate pair, which is no character")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; a key that stands twice would else lose a value in silence."""
    fields = dict(pairs)
    if len(fields) != len(pairs):
        key = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise BadRecord(f"the key {key!r} stands twice")
    return fields


# An escaped surrogate; both halves together are one character.
_SURROGATE = re.compile(
    r"(?P<pair>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})|\\u[dD][89a-fA-F]"
)
_DECODER = json.JSONDecoder(object_pairs_hook=_object)


def _header(row: list[str], label: str, required: tuple[str, ...]) -> list[str]:
    if not _is_utf8(row):
        raise DataError(f"{label}: the header is not UTF-8. Save the file as CSV UTF-8.")
    header = [name.strip() for name in row]
    repeated = [name for name, count in Counter(header).items() if count > 1 and name]
    if repeated:
        raise DataError(
            f"{label}: the header names the column {shortened(repr(repeated[0]))} twice."
        )
    missing = [name for name in required if name not in header]
    if missing:
        raise DataError(
            f"{label}: the header has no column {', '.join(map(repr, missing))}. "
            f"It has: {shortened(', '.join(map(repr, header)), 800)}."
        )
    return header


def _is_utf8(texts: list[str]) -> bool:
    try:
        for text in texts:
            text.encode()
    except UnicodeEncodeError:
        return False
    return True
