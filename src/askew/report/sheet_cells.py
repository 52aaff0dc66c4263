"""Texts in the cells of a CSV file, such that a spreadsheet shows them and runs none.

A cell that begins with = + - @, a tab or a carriage return, also after blanks and quotation marks,
is a formula to a spreadsheet, and a formula can send what stands in the sheet elsewhere. Such a
text has an apostrophe put before it. So has one that begins with an apostrophe already, which makes
the way back plain: an apostrophe at the beginning is not part of the text. Numbers are numbers.
"""

from __future__ import annotations

import re

_FORMULA = re.compile("[\\s\"'`“”‘’«»\u200b\ufeff]*[=+\\-@\t\r＝＋－＠]")  # the last four are wide
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")


def sheet_cell(text: str) -> str:
    """The text as a cell of CSV holds it; quoting is the writer's.

    >>> [sheet_cell(one) for one in ("=1+1", " @x", "A = B", "-0.5", "'tis")]
    ["'=1+1", "' @x", 'A = B', '-0.5', "''tis"]
    """
    if _NUMBER.fullmatch(text):
        return text
    return f"'{text}" if text.startswith("'") or _FORMULA.match(text) else text


def sheet_text(cell: str) -> str:
    """The text that `sheet_cell` was given.

    >>> [sheet_text(sheet_cell(one)) for one in ("=1+1", "'tis", "A")]
    ['=1+1', "'tis", 'A']
    """
    return cell.removeprefix("'")
