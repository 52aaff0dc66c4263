"""The inner loop of the dump reader, compiled: bytes of INSERT statements to spans of values.

Imported only where a dump is read, as it needs numba. Machine code is kept beside this file (or in
the user's cache where that folder cannot be written), so only the first run compiles.

Every buffer handed in ends with at least `PAD` single quotes behind its `end`. Each inner loop
stops at a quote, so none has to ask for the end of the buffer at every byte.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.datasets.compiling import compiled

PAD = 16

# Why `scan` came back.
MORE = 0  # the row at the position is not whole; read on and call again
FULL = 1  # no room for further rows
ENDED = 2  # behind the `;` of a statement
NO_ROW = 3  # neither a row nor the end of the statement
WRONG_COUNT = 4  # a row with more or fewer values than there are columns
NO_VALUE = 5  # an empty value, or a value behind which neither `,` nor `)` stands

# What a value is (`kinds`).
BARE = 0  # not in quotes: a number, NULL, 0x...
QUOTED = 1
OTHER = 2  # b'...' or x'...': not bytes as they stand

_QUOTE, _BACKSLASH, _COMMA, _OPEN, _CLOSE, _SEMICOLON = 39, 92, 44, 40, 41, 59
_UNDERSCORE, _ZERO, _SLASH, _STAR, _MINUS, _SHARP, _BANG = 95, 48, 47, 42, 45, 35, 33


@compiled
def scan(
    data: NDArray[np.uint8],
    position: int,
    end: int,
    head: NDArray[np.uint8],
    columns: int,
    slots: NDArray[np.int64],
    chosen: int,
    value: NDArray[np.uint8],
    spans: NDArray[np.int64],
    kinds: NDArray[np.uint8],
) -> tuple[int, int, int, int]:  # pragma: no cover (compiled)
    """Read rows up to the end of the statement, of the room or of the data.

    Args:
        data: shape (bytes,); behind `end` stand `PAD` quotes.
        position: where a row begins, or blanks before it.
        end: how many bytes of `data` count.
        head: the statement's head up to VALUES; a further statement with the very same head is
            read on.
        columns: values a row has; -1: not checked, and nothing is kept.
        slots: shape (columns,): where a column's span goes; -1: nowhere.
        chosen: keep rows only whose value in this column is `value`; -1: keep all.
        value: raw bytes, without quotes; a value written as 0x... is compared with them too.
        spans: shape (room, slots used, 2): gets start and end of each value kept.
        kinds: shape (room, slots used).

    Returns:
        Why it came back, the position behind the last whole row (of the fault, where it is one),
        rows kept, rows read.
    """
    room = spans.shape[0]
    kept = 0
    read = 0
    i = position
    while True:
        while data[i] == 32 or (9 <= data[i] <= 13):
            i += 1
        row = i
        if i >= end:
            return MORE, row, kept, read
        if data[i] != _OPEN:
            i = _behind_comments(data, i, end)
            if i >= end:
                return MORE, row, kept, read
            if data[i] != _OPEN:
                return NO_ROW, i, kept, read
        if kept >= room:
            return FULL, row, kept, read
        i += 1
        column = 0
        keep = columns >= 0
        while True:
            while data[i] == 32 or (9 <= data[i] <= 13):
                i += 1
            start = i
            kind = BARE
            c = data[i]
            if c != _QUOTE:
                while c != _COMMA and c != _CLOSE and c != _QUOTE:
                    i += 1
                    c = data[i]
                if c == _QUOTE:
                    # _binary '...': a character set before the string; b'...', x'...': other forms
                    kind = QUOTED if data[start] == _UNDERSCORE else OTHER
            else:
                kind = QUOTED
            if c == _QUOTE:
                i += 1
                start = i
                while True:
                    c = data[i]
                    if c == _QUOTE:
                        if i + 1 >= end:
                            return MORE, row, kept, read
                        if data[i + 1] != _QUOTE:
                            break
                        i += 2
                    elif c == _BACKSLASH:
                        i += 2
                    else:
                        i += 1
                stop = i
                i += 1
            else:
                stop = i
                while stop > start and (data[stop - 1] == 32 or (9 <= data[stop - 1] <= 13)):
                    stop -= 1
                if stop == start:
                    return NO_VALUE, i, kept, read
            if keep:
                if column >= columns:
                    return WRONG_COUNT, row, kept, read
                slot = slots[column]
                if slot >= 0:
                    spans[kept, slot, 0] = start
                    spans[kept, slot, 1] = stop
                    kinds[kept, slot] = kind
                if column == chosen:
                    keep = stop - start == value.shape[0]
                    if keep:
                        for k in range(value.shape[0]):
                            if data[start + k] != value[k]:
                                keep = False
                    elif kind == BARE and stop - start == 2 * value.shape[0] + 2:
                        keep = _is_hex_of(data, start, value)
            column += 1
            c = data[i]
            while c == 32 or (9 <= c <= 13):
                i += 1
                c = data[i]
            i += 1
            if c == _COMMA:
                continue
            if c == _CLOSE:
                break
            if i > end:
                return MORE, row, kept, read
            return NO_VALUE, i - 1, kept, read
        if columns >= 0 and column != columns:
            return WRONG_COUNT, row, kept, read
        while data[i] == 32 or (9 <= data[i] <= 13):
            i += 1
        if i >= end:
            return MORE, row, kept, read
        c = data[i]
        if c != _COMMA and c != _SEMICOLON:
            i = _behind_comments(data, i, end)
            if i >= end:
                return MORE, row, kept, read
            c = data[i]
            if c != _COMMA and c != _SEMICOLON:
                return NO_ROW, i, kept, read
        i += 1
        read += 1
        if keep:
            kept += 1
        if c == _SEMICOLON:
            # Most often the next statement has the same head: no need to go back to Python.
            behind = i
            while data[i] == 32 or (9 <= data[i] <= 13):
                i += 1
            if i + head.shape[0] >= end:
                return ENDED, behind, kept, read
            for k in range(head.shape[0]):
                if data[i + k] != head[k]:
                    return ENDED, behind, kept, read
            i += head.shape[0]


@compiled
def integers(
    data: NDArray[np.uint8],
    spans: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    slot: int,
    rows: int,
    out: NDArray[np.int64],
    missing: NDArray[np.bool_],
) -> int:  # pragma: no cover (compiled)
    """Read one column's values as whole numbers of 64 bits; NULL counts as missing.

    Args:
        data: as in `scan`.
        spans: as `scan` left them.
        kinds: as `scan` left them.
        slot: whose column.
        rows: how many rows there are.
        out: shape (rows,).
        missing: shape (rows,): gets which values are NULL.

    Returns:
        -1, or the first row whose value is no such number.
    """
    for row in range(rows):
        i = spans[row, slot, 0]
        stop = spans[row, slot, 1]
        out[row] = 0
        missing[row] = False
        if kinds[row, slot] == BARE and _is_null(data, i, stop):
            missing[row] = True
            continue
        negative = data[i] == 45
        if negative:
            i += 1
        if i >= stop or kinds[row, slot] == OTHER:
            return row
        number = np.int64(0)
        while i < stop:
            digit = np.int64(data[i]) - 48
            if digit < 0 or digit > 9 or number > (9223372036854775807 - digit) // 10:
                return row
            number = number * 10 + digit
            i += 1
        out[row] = -number if negative else number
    return -1


@compiled
def texts(
    data: NDArray[np.uint8],
    spans: NDArray[np.int64],
    kinds: NDArray[np.uint8],
    slot: int,
    rows: int,
    out: NDArray[np.uint8],
    starts: NDArray[np.int64],
    missing: NDArray[np.bool_],
) -> int:  # pragma: no cover (compiled)
    """Read one column's values as bytes, with what was escaped put back.

    Args:
        data: as in `scan`.
        spans: as `scan` left them.
        kinds: as `scan` left them.
        slot: whose column.
        rows: how many rows there are.
        out: as long as all spans together at least.
        starts: shape (rows + 1,): gets where each value begins in `out`.
        missing: shape (rows,): gets which values are NULL.

    Returns:
        -1, or the first row whose value is no string.
    """
    at = 0
    starts[0] = 0
    for row in range(rows):
        i = spans[row, slot, 0]
        stop = spans[row, slot, 1]
        missing[row] = False
        if kinds[row, slot] == OTHER:
            return row
        if kinds[row, slot] == BARE:
            if _is_null(data, i, stop):
                missing[row] = True
            elif data[i] == 48 and i + 1 < stop and (data[i + 1] == 120 or data[i + 1] == 88):
                if (stop - i) % 2:  # 0x, then two digits a byte
                    return row
                for k in range(i + 2, stop, 2):
                    high, low = _hex_digit(data[k]), _hex_digit(data[k + 1])
                    if high < 0 or low < 0:
                        return row
                    out[at] = high * 16 + low
                    at += 1
            else:
                return row
            starts[row + 1] = at
            continue
        while i < stop:
            c = data[i]
            if c == _BACKSLASH:
                i += 1
                c = data[i]
                if c == 110:  # \n
                    c = np.uint8(10)
                elif c == 114:  # \r
                    c = np.uint8(13)
                elif c == 116:  # \t
                    c = np.uint8(9)
                elif c == 98:  # \b
                    c = np.uint8(8)
                elif c == 48:  # \0
                    c = np.uint8(0)
                elif c == 90:  # \Z
                    c = np.uint8(26)
                elif c == 37 or c == _UNDERSCORE:  # the backslash stays: a mark of LIKE patterns
                    out[at] = _BACKSLASH
                    at += 1
            elif c == _QUOTE:
                i += 1  # two quotes for one
            out[at] = c
            at += 1
            i += 1
        starts[row + 1] = at
    return -1


@compiled
def _behind_comments(
    data: NDArray[np.uint8], start: int, end: int
) -> Any:  # pragma: no cover (compiled)
    """Behind the comments and blanks at `start`; `end` where one is not whole.

    What MySQL would run, `/*! ... */` or `/*M! ... */`, is no comment.
    """
    i = start
    while i < end:
        c = data[i]
        if c == 32 or (9 <= c <= 13):
            i += 1
            continue
        if c != _SHARP and c != _MINUS and c != _SLASH:
            return i
        if c != _SHARP and i + 3 >= end:
            return end
        if c == _SHARP or (data[i + 1] == _MINUS and c == _MINUS and data[i + 2] <= 32):
            while i < end and data[i] != 10:
                i += 1
        elif c == _SLASH and data[i + 1] == _STAR:
            if data[i + 2] == _BANG or (data[i + 2] == 77 and data[i + 3] == _BANG):
                return i
            i += 2
            while i < end and not (data[i] == _STAR and data[i + 1] == _SLASH):
                i += 1
            i += 2
        else:
            return i
    return end


@compiled
def _is_hex_of(
    data: NDArray[np.uint8], start: int, value: NDArray[np.uint8]
) -> Any:  # pragma: no cover (compiled)
    """Whether 0x... stands at `start` and means these bytes; it has two digits for each."""
    if data[start] != _ZERO or (data[start + 1] | 32) != 120:
        return False
    for k in range(value.shape[0]):
        high, low = _hex_digit(data[start + 2 + 2 * k]), _hex_digit(data[start + 3 + 2 * k])
        if high < 0 or low < 0 or high * 16 + low != value[k]:
            return False
    return True


@compiled
def _is_null(data: NDArray[np.uint8], start: int, stop: int) -> Any:  # pragma: no cover
    if stop - start != 4:
        return False
    return (
        (data[start] | 32) == 110
        and (data[start + 1] | 32) == 117
        and (data[start + 2] | 32) == 108
        and (data[start + 3] | 32) == 108
    )


@compiled
def _hex_digit(c: int) -> Any:  # pragma: no cover (compiled)
    if 48 <= c <= 57:
        return np.int64(c) - 48
    lower = np.int64(c) | 32
    if 97 <= lower <= 102:
        return lower - 87
    return np.int64(-1)
