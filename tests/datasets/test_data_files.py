"""Bytes to records: every trouble costs its own record, and no line number moves."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.datasets.base import BadRecord, Report
from askew.datasets.files import (
    cell_json,
    csv_rows,
    json_document,
    json_lines,
    read_file,
    unpacked,
)
from askew.errors import DataError


def read_json_lines(data: bytes):
    report = Report()
    records = list(json_lines(unpacked("some.jsonl", data), report))
    return [(record.line, dict(record.fields)) for record in records], report.problems


def read_csv(data: bytes, required: tuple[str, ...] = ("a",)):
    report = Report()
    records = list(csv_rows(unpacked("some.csv", data), report, required))
    return [(record.line, dict(record.fields)) for record in records], report.problems


@pytest.mark.parametrize("separator", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c"])
def test_a_line_separator_inside_a_string_does_not_end_the_record(separator):
    data = json.dumps({"a": f"x{separator}y"}, ensure_ascii=False).encode() + b'\n{"a": 2}\n'
    records, problems = read_json_lines(data)
    assert records == [(1, {"a": f"x{separator}y"}), (2, {"a": 2})]
    assert problems == []


def test_a_byte_order_mark_carriage_returns_and_blanks_round_a_record_change_nothing():
    records, problems = read_json_lines(b'\xef\xbb\xbf{"a": 1}\r\n \t{"a": 2}\t \r\n{"a": 3}')
    assert records == [(1, {"a": 1}), (2, {"a": 2}), (3, {"a": 3})]
    assert problems == []


def test_a_byte_order_mark_inside_joined_files_costs_no_record():
    records, problems = read_json_lines(b'{"a": 1}\n\xef\xbb\xbf{"a": 2}\n')
    assert [fields for _, fields in records] == [{"a": 1}, {"a": 2}]
    assert problems == []


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b'{"a": 1}{"a": 2}', "more than one JSON value"),
        (b'{"a": 1} {"a": 2}', "more than one JSON value"),
        (b'{"a": "\xf6"}', "not UTF-8"),
        (b'{"a": ', "not JSON"),
        (b'{"a": 1, "a": 2}', "the key 'a' stands twice"),
        (b'{"a": {"b": 1, "b": 2}}', "the key 'b' stands twice"),
        (b'"a"', "a JSON str, expected an object"),
        (b"[1]", "a JSON list, expected an object"),
        (b'{"a": "\\ud800"}', "surrogate"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not usable JSON"),
        (b"[" * 100_000, "not usable JSON"),
    ],
)
def test_a_bad_line_is_rejected_by_its_number_and_the_others_are_read(line, message):
    records, problems = read_json_lines(b'{"a": 0}\n\n' + line + b'\n{"a": 9}\n')
    assert records == [(1, {"a": 0}), (4, {"a": 9})]
    assert [(problem.kind, problem.line) for problem in problems] == [
        ("skipped", 2),
        ("rejected", 3),
    ]
    assert message in problems[1].message


def test_an_escaped_surrogate_pair_is_one_character():
    records, problems = read_json_lines(b'{"a": "\\ud83d\\ude00"}\n')
    assert records == [(1, {"a": "😀"})]
    assert problems == []


@given(st.lists(st.dictionaries(st.text(), st.text() | st.integers()), max_size=5))
def test_json_lines_reads_what_json_wrote(objects):
    lines = [json.dumps(value, ensure_ascii=False) for value in objects]
    try:
        data = "\n".join(lines).encode()
    except UnicodeEncodeError:
        return  # a lone surrogate cannot be in a UTF-8 file
    records, problems = read_json_lines(data)
    assert [fields for _, fields in records] == objects
    assert problems == []


def test_a_csv_record_over_several_lines_has_the_line_it_begins_on():
    records, problems = read_csv(b'\xef\xbb\xbfa,b\r\n1,"x\r\n""y"", z"\r\n2,w\r\n')
    assert records == [(2, {"a": "1", "b": 'x\r\n"y", z'}), (4, {"a": "2", "b": "w"})]
    assert problems == []


@pytest.mark.parametrize("separator", [b",", b";", b"\t"])
def test_csv_fields_may_be_parted_by_commas_semicolons_or_tabs(separator):
    records, _ = read_csv(b"a|b\n1|2\n".replace(b"|", separator))
    assert records == [(2, {"a": "1", "b": "2"})]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (b"1", "has 1 fields, the header has 2"),
        (b"1,2,3", "has 3 fields, the header has 2"),
        (b"1,\xf6", "not UTF-8"),
        (b'1,"x"y', "not readable as CSV"),
        (b"1," + b"x" * 200_000, "not readable as CSV"),
    ],
)
def test_a_bad_csv_row_is_rejected_by_its_line_and_the_others_are_read(row, message):
    records, problems = read_csv(b"a,b\n0,0\n" + row + b"\n9,9\n")
    assert records == [(2, {"a": "0", "b": "0"}), (4, {"a": "9", "b": "9"})]
    assert [(problem.kind, problem.line) for problem in problems] == [("rejected", 3)]
    assert message in problems[0].message


def test_a_csv_quote_that_never_closes_is_reported_and_not_read_as_one_long_field():
    records, problems = read_csv(b'a,b\n0,0\n1,"x\n2,y\n')
    assert records == [(2, {"a": "0", "b": "0"})]
    assert [(problem.kind, problem.line) for problem in problems] == [("rejected", 3)]
    assert "line 4" in problems[0].message


def test_csv_rows_without_any_text_are_skipped_and_reported():
    records, problems = read_csv(b"a,b\n\n , \n1,2\n")
    assert records == [(4, {"a": "1", "b": "2"})]
    assert [(problem.kind, problem.line) for problem in problems] == [
        ("skipped", 2),
        ("skipped", 3),
    ]


def test_a_missing_column_is_an_error_that_names_it_and_those_that_are_there():
    with pytest.raises(DataError, match=r"some\.csv.*no column 'z'.*'a', 'b'"):
        read_csv(b"a,b\n1,2\n", required=("a", "z"))


def test_a_column_that_is_named_twice_is_an_error():
    with pytest.raises(DataError, match="names the column 'a' twice"):
        read_csv(b"a,a\n1,2\n")


def test_an_empty_csv_file_is_an_error():
    with pytest.raises(DataError, match="empty"):
        read_csv(b"")


def test_a_file_is_unpacked_by_its_content_and_not_by_its_name(tmp_path: Path):
    packed = gzip.compress(b'{"a": 1}\n')
    (tmp_path / "packed.jsonl").write_bytes(packed)
    (tmp_path / "plain.jsonl.gz").write_bytes(b'{"a": 1}\n')
    one, other = read_file(tmp_path / "packed.jsonl"), read_file(tmp_path / "plain.jsonl.gz")
    assert one.data == other.data
    assert one.sha256 != other.sha256  # of the file as it is stored


def test_a_gzip_file_that_was_cut_off_is_an_error_that_names_it(tmp_path: Path):
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"a": 1}\n' * 1000)[:-20])
    with pytest.raises(DataError, match=r"cut\.jsonl\.gz.*cut off"):
        read_file(path)


def test_a_utf16_file_is_an_error_that_says_so():
    with pytest.raises(DataError, match="UTF-16"):
        unpacked("some.csv", "a,b\n1,2\n".encode("utf-16"))


def test_a_file_that_is_not_there_is_an_error_that_names_it(tmp_path: Path):
    with pytest.raises(DataError, match="nowhere"):
        read_file(tmp_path / "nowhere.csv")


@pytest.mark.parametrize(
    ("data", "message"),
    [(b'{"a":\n}', r"some\.json:2: not JSON"), (b'{"a":\n"\xf6"}', r"some\.json:2: not UTF-8")],
)
def test_a_broken_json_document_is_an_error_with_its_line(data, message):
    with pytest.raises(DataError, match=message):
        json_document(unpacked("some.json", data))


def test_json_in_a_cell_is_held_to_what_a_line_is():
    assert cell_json('{"a": "\\ud83d\\ude00"}', "x") == {"a": "😀"}
    for text, said in (('{"a": 1, "a": 2}', "twice"), ('["\\ud800"]', "surrogate")):
        with pytest.raises(BadRecord, match=said) as bad:
            cell_json(text, "x")
        assert bad.value.field == "x"


def test_a_header_that_is_no_utf8_is_refused():
    with pytest.raises(DataError, match="header is not UTF-8"):
        list(csv_rows(unpacked("x.csv", b"\xef\xbb\n;"), Report(), ()))


@pytest.mark.parametrize("text", ['{"a":\n "x\\ud800y"}', '["\\ude00",\n"\\ud800"]'])
def test_half_a_character_in_a_document_is_told_with_its_line(text):
    line = 2 if text.startswith("{") else 1
    with pytest.raises(DataError, match=rf"^x\.json:{line}: an escaped half"):
        json_document(unpacked("x.json", text.encode()))


def test_a_message_is_short_whatever_stands_in_the_file():
    report = Report()
    long = "k" * 1_000_000
    list(json_lines(unpacked("x", f'{{"{long}": 1, "{long}": 2}}\n'.encode()), report))
    assert len(str(report.problems[0])) < 1200
    with pytest.raises(DataError) as told:
        list(csv_rows(unpacked("x.csv", f"{long},{long}\n".encode()), Report(), ("id",)))
    assert len(str(told.value)) < 1200
