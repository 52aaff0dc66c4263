"""TRINDS as it comes: with a header or without, with ids or without."""

from __future__ import annotations

import pytest

from askew.datasets.vignettes import DataSpec, load
from askew.errors import DataError

FEVER = "Patient is a 28 year old male, with fever and a rash. What is it?"
COUGH = 'Patient says "I cough".\nWhat should be done?'


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


BODY = f"trinds_0,{quoted(FEVER)}\ntrinds_1,{quoted(COUGH)}\n"
ALONE = f"{quoted(FEVER)}\n{quoted(COUGH)}\n"


@pytest.mark.parametrize(
    "content",
    [
        f"record_id,question\n{BODY}",
        BODY,
        ALONE,
        f"question\n{ALONE}",
        f"\ufeff{BODY}",
        f"\ufeffrecord_id,Question\n{BODY}",
        BODY.replace("\n", "\r\n"),
    ],
    ids=["header", "no header", "alone", "alone with header", "bom", "bom and case", "crlf"],
)
def test_the_same_questions_with_and_without_a_header(content, tmp_path):
    file = tmp_path / "trinds.csv"
    file.write_bytes(content.encode())
    loaded = load(DataSpec("equitymedqa", file))
    first, second = loaded.vignettes
    assert (first.id, second.id) == ("equitymedqa/trinds_0", "equitymedqa/trinds_1")
    assert first.text == FEVER
    assert second.text.replace("\r", "") == COUGH
    has_header = "uestion" in content.split("\n")[0]
    assert first.provenance.line == (2 if has_header else 1)
    assert second.provenance.line == first.provenance.line + 1
    assert first.relevance == {"place": "relevant"}
    assert first.answer is None
    assert not first.reference


def test_problems_of_a_file_without_a_header_name_their_own_lines(tmp_path):
    file = tmp_path / "trinds.csv"
    file.write_text(f"{BODY}trinds_2,\ntrinds_3,a,b\ntrinds_0,{quoted(COUGH)}\n\n{BODY}")
    loaded = load(DataSpec("equitymedqa", file), lenient=True)
    found = [(p.kind, p.line) for p in loaded.problems if p.kind != "note"]
    assert sorted(found, key=lambda problem: problem[1]) == [
        ("rejected", 4),  # no question
        ("rejected", 5),  # three fields
        ("rejected", 6),  # the id of another question, on two lines
        ("skipped", 8),
        ("duplicate", 9),
        ("duplicate", 10),
    ]
    with pytest.raises(DataError, match=r"trinds\.csv:4: record 'trinds_2': field 'question'"):
        load(DataSpec("equitymedqa", file))


@pytest.mark.parametrize("content", ["a,b,c\n1,2,3\n", "A fever, and a rash.\nA cough.\n", ""])
def test_a_table_of_another_form_is_refused(content, tmp_path):
    file = tmp_path / "trinds.csv"
    file.write_text(content)
    with pytest.raises(DataError, match="no header with a column 'question'"):
        load(DataSpec("equitymedqa", file))


def test_another_version_is_noted_and_read(tmp_path):
    (tmp_path / "equitymedqa").mkdir()
    (tmp_path / "equitymedqa" / "trinds.csv").write_text(BODY)
    loaded = load(DataSpec("equitymedqa", tmp_path))
    assert len(loaded.vignettes) == 2
    (note,) = loaded.problems
    assert note.kind == "note"
    assert "not the version" in note.message


def test_the_published_copy(data_folder):
    loaded = load(DataSpec("equitymedqa", data_folder))
    assert len(loaded.vignettes) == 106
    assert loaded.problems == ()
    assert loaded.checksums["equitymedqa/trinds.csv"].startswith("236ed943")


def test_the_published_copy_without_its_header_is_the_same_questions(data_folder, tmp_path):
    stored = (data_folder / "equitymedqa" / "trinds.csv").read_bytes()
    file = tmp_path / "equitymedqa_trinds.csv"
    file.write_bytes(stored.partition(b"\n")[2])
    with_header = load(DataSpec("equitymedqa", data_folder)).vignettes
    without = load(DataSpec("equitymedqa", tmp_path)).vignettes
    assert [v.text for v in with_header] == [v.text for v in without]
    assert [v.id for v in with_header] == [v.id for v in without]
    assert [v.provenance.line - 1 for v in with_header] == [v.provenance.line for v in without]
