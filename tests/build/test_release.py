from __future__ import annotations

import csv
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from askew.build.records import Tally
from askew.build.release import (
    changed_files,
    check_can_write,
    write_checksums,
    write_set,
)
from askew.datasets import DataSpec, load
from askew.errors import DataError, MissingDependency, RunError
from askew.prompts.scenarios import scenario_of
from askew.records import Assignment, AttackCategory, ContextCondition, Scenario
from tests.build.made import (
    CHARACTER,
    OBJECTIVE,
    V2,
    built,
    built_rows,
    clean_rows,
    made_item,
)


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ASKEW_CACHE", str(tmp_path / "cache"))


def csv_of(folder: Path, source: str, name: str = "selected") -> list[dict[str, str]]:
    path = folder / name / source / f"FLEX_{source}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read(path: Path):
    return load(DataSpec("flex", path)).items


def as_written(item):
    """What the law compares: all but the place in a file and the index of the release's list."""
    assert item.assigned is not None
    return replace(
        item,
        provenance=made_item().provenance,
        assigned=replace(item.assigned, index=0),
        text_attacks=dict(item.text_attacks),
    )


def bytes_of(folder: Path) -> dict[str, bytes]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@given(rows=built_rows())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_written_is_read_back_from_csv_and_parquet_alike(tmp_path_factory, rows):
    folder = tmp_path_factory.mktemp("set")
    write_set(folder, "selected", rows)
    wanted = {
        row.item.id: as_written(
            replace(row.item, assigned=Assignment(row.scenario.category, 0, row.scenario.name))
        )
        for row in rows
    }
    from_parquet = read(folder / "data" / "selected.parquet")
    assert {item.id: as_written(item) for item in from_parquet} == wanted
    if rows:
        from_csv = read(folder)
        assert [as_written(item) for item in from_csv] == list(map(as_written, from_parquet))
        assert [item.assigned for item in from_csv] == [item.assigned for item in from_parquet]


@given(rows=built_rows())
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_equal_rows_give_equal_bytes_and_the_order_of_the_sources_is_no_matter(
    tmp_path_factory, rows
):
    once, again = tmp_path_factory.mktemp("once"), tmp_path_factory.mktemp("again")
    by_source = sorted(rows, key=lambda row: row.item.source, reverse=True)
    write_set(once, "selected", rows)
    write_set(again, "selected", by_source)
    assert bytes_of(once) == bytes_of(again)


def test_the_files_have_the_form_of_the_release(tmp_path):
    written = write_set(tmp_path, "selected", clean_rows())
    assert sorted(str(path.relative_to(tmp_path)) for path in written) == sorted(bytes_of(tmp_path))
    assert {"selected/crows/FLEX_crows.csv", "selected/crows/text/3_or.json"} <= set(
        bytes_of(tmp_path)
    )
    first, second, third = csv_of(tmp_path, "bbq")
    assert (first["Unnamed: 0"], first["Unnamed: 0.1"]) == ("0", "0")
    assert (first["attack"], first["attack_type"], first["attack_success"]) == (
        "persona",
        "0",
        "4.0",
    )
    assert (first["sent_more"], first["sent_less"], first["label"]) == (
        "The nephew",
        "The aunt",
        "2",
    )
    assert (second["attack"], second["attack_type"]) == ("text", "0")
    assert (third["attack"], third["attack_type"]) == ("text", "3")
    questions = json.loads((tmp_path / "selected/bbq/text/0_char.json").read_text())
    assert questions["1"] == ["Who was lat?"]
    assert "ctx" not in csv_of(tmp_path, "crows")[0]
    (continued,) = csv_of(tmp_path, "stereoset")
    assert continued["context"] == "The family met."
    assert "q_text" not in continued
    assert csv_of(tmp_path, "starter")[0]["ctx"]


def test_another_reader_of_the_release_finds_every_scenario_by_its_index(tmp_path):
    """The indices are those of the release's lists, so that scenarios without a name are found."""
    write_set(tmp_path, "selected", clean_rows())
    for item in read(tmp_path):
        assert item.assigned is not None
        unnamed = replace(item.assigned, name=None)
        assert scenario_of(unnamed, item).name == item.assigned.name


def test_scenarios_that_are_in_no_list_of_the_release_come_after_its_end(tmp_path):
    plug_in = Scenario(AttackCategory.COMPETING_OBJECTIVES, "flattery")
    own = Scenario(AttackCategory.PERSONA_INJECTION, "a stern uncle")
    other = Scenario(AttackCategory.PERSONA_INJECTION, "a merry uncle")
    rows = [
        built(made_item("bbq/Age/1"), plug_in, instruction="Flatter."),
        built(made_item("bbq/Age/2"), own, instruction="Be stern."),
        built(made_item("bbq/Age/3"), other, instruction="Be merry."),
        built(made_item("bbq/Age/4", bias_type="height"), own, instruction="Be stern."),
    ]
    write_set(tmp_path, "selected", rows)
    found = [
        (row["attack"], row["attack_type"], row["scenario"]) for row in csv_of(tmp_path, "bbq")
    ]
    assert found == [
        ("refusal_suppression", "5", "flattery"),
        ("persona", "3", "a stern uncle"),
        ("persona", "2", "a merry uncle"),
        ("persona", "0", "a stern uncle"),
    ]
    assert [item.assigned.name for item in read(tmp_path)] == [
        "flattery",
        "a stern uncle",
        "a merry uncle",
        "a stern uncle",
    ]


def test_a_text_that_a_spreadsheet_would_run_is_kept_as_it_is(tmp_path):
    item = made_item(
        scenario=CHARACTER, context="=1+1", text_attacks={"character": "@Who was lat?"}
    )
    write_set(tmp_path, "selected", [built(item, CHARACTER)])
    assert csv_of(tmp_path, "bbq")[0]["ctx"] == "=1+1"
    (read_back,) = read(tmp_path)
    assert (read_back.context, read_back.text_attacks["character"]) == ("=1+1", "@Who was lat?")


def test_the_random_baseline_has_no_count_of_selecting_replies(tmp_path):
    write_set(tmp_path, "random", [built(attacked_selection=None)])
    (row,) = csv_of(tmp_path, "bbq", "random")
    assert (row["attack_success"], row["selection_replies"]) == ("", "")
    assert (row["fresh_attacked_biased"], row["fresh_attacked_replies"]) == ("5", "10")
    import pyarrow.parquet

    (record,) = pyarrow.parquet.read_table(tmp_path / "data/random.parquet").to_pylist()
    assert record["attack_success"] is None


def test_folders_of_sources_are_safe_names_and_never_shared(tmp_path):
    names = ["crows_pairs", "crows", "../../out", "A/b", "a b", "ｂ", "..", "con\n"]
    rows = [built(made_item(f"{number}/1", source=name)) for number, name in enumerate(names)]
    write_set(tmp_path, "selected", rows)
    folders = [path.name for path in (tmp_path / "selected").iterdir()]
    assert len(folders) == len(names)
    assert all(folder.isascii() and "/" not in folder and "." not in folder for folder in folders)
    assert {item.source for item in read(tmp_path)} == set(names)


def test_a_source_that_is_gone_is_not_read_from_an_earlier_call(tmp_path):
    write_set(tmp_path, "selected", clean_rows())
    write_set(tmp_path, "selected", clean_rows()[:3])
    assert {item.source for item in read(tmp_path)} == {"bbq"}


@pytest.mark.parametrize("left", [b"", b"item_id\n1\n", b"\xff\xfeid"])
def test_a_source_whose_file_is_damaged_is_not_left_out_in_silence(tmp_path, left):
    write_set(tmp_path, "selected", clean_rows())
    (tmp_path / "selected/crows/FLEX_crows.csv").write_bytes(left)
    with pytest.raises(DataError, match=r"FLEX_crows\.csv"):
        read(tmp_path)


def test_an_empty_set_is_written_and_has_no_items(tmp_path):
    write_set(tmp_path, "selected", [])
    assert read(tmp_path / "data" / "selected.parquet") == ()


@pytest.mark.parametrize(
    ("row", "says"),
    [
        (built(made_item(condition=ContextCondition.CONTROL)), "no ambiguous item"),
        (built(made_item(answer=0)), "no ambiguous item"),
        (built(made_item(text_attacks={}), CHARACTER), "no changed question for 'character'"),
        (built(made_item(options=("The aunt", "the aunt.", "Not known."))), "same text"),
        (built(made_item(options=("The aunt", "Unknown", "Not known."))), "says 'Unknown'"),
        (built(made_item(question=" ")), "is empty"),
        (built(made_item(context="a \ud83d")), "'ctx' holds half a surrogate pair"),
        (built(made_item(context="", context_before_options=True)), "context_before_options"),
        (built(made_item(context="long " * 40_000)), "readers of CSV take 131,072"),
        (built(made_item(text_attacks={"word": " "})), "text_attacks"),
    ],
)
def test_a_row_that_would_not_be_read_back_as_it_is_stops_everything(tmp_path, row, says):
    good = built(made_item("bbq/Age/0"))
    with pytest.raises(DataError, match=r"bbq/Age/1") as error:
        write_set(tmp_path, "selected", [good, row])
    assert says in str(error.value)
    assert bytes_of(tmp_path) == {}


def test_two_rows_with_one_id_are_refused(tmp_path):
    with pytest.raises(DataError, match="stands in the set twice"):
        write_set(tmp_path, "selected", [built(), built(scenario=OBJECTIVE)])


def test_where_nothing_can_be_written_the_error_names_the_place(tmp_path):
    (tmp_path / "selected").write_text("in the way")
    with pytest.raises(RunError, match="selected/bbq cannot be made"):
        write_set(tmp_path, "selected", [built()])


def test_without_pyarrow_nothing_is_asked_and_the_extra_is_named():
    blocked = (
        "import sys; sys.modules['pyarrow'] = None\n"
        "from askew.build.release import check_can_write\n"
        "check_can_write()"
    )
    done = subprocess.run([sys.executable, "-c", blocked], capture_output=True, text=True)
    assert "pip install 'askew[parquet]'" in done.stderr
    check_can_write()
    assert issubclass(MissingDependency, ImportError)


def test_checksums_cover_every_file_and_show_each_change(tmp_path):
    write_set(tmp_path, "selected", clean_rows())
    for name in ("README.md", "run.sqlite", "run.sqlite-wal", "x.part"):
        (tmp_path / name).write_text(name)
    path = write_checksums(tmp_path)
    named = {line.partition("  ")[2] for line in path.read_text().splitlines()}
    assert named == set(bytes_of(tmp_path)) - {"SHA256SUMS", "run.sqlite-wal", "x.part"}
    assert changed_files(tmp_path) == []
    done = subprocess.run(
        ["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=tmp_path, capture_output=True
    )
    assert done.returncode == 0
    (tmp_path / "README.md").write_text("other")
    (tmp_path / "run.sqlite").unlink()
    (tmp_path / "selected/later.csv").write_text("later")
    (tmp_path / "notes.txt").write_text("a reader's own")
    assert changed_files(tmp_path) == [
        "README.md: changed since it was built",
        "run.sqlite: missing",
        "selected/later.csv: came after it was built",
    ]
    path.unlink()
    with pytest.raises(RunError, match="SHA256SUMS cannot be read"):
        changed_files(tmp_path)


def test_hugging_face_datasets_reads_the_parquet_file(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    write_set(tmp_path / "set", "selected", clean_rows())
    loaded = datasets.load_dataset(
        "parquet",
        data_files=str(tmp_path / "set/data/selected.parquet"),
        cache_dir=str(tmp_path / "hf"),
        split="train",
    )
    assert loaded["item_id"] == [item.id for item in read(tmp_path / "set")]
    assert os.environ["HF_HUB_OFFLINE"] == "1"


def test_the_tally_columns_hold_what_the_replies_came_to(tmp_path):
    row = built(
        scenario=V2,
        source_selection=Tally(neutral=3),
        attacked_selection=Tally(neutral=1, biased=3, other=1, stereotyped=2),
        source_estimate=Tally(neutral=8, biased=1, other=1),
        attacked_estimate=Tally(neutral=2, biased=7, other=1, stereotyped=6),
    )
    write_set(tmp_path, "selected", [row])
    (record,) = csv_of(tmp_path, "bbq")
    found = {
        name: record[name]
        for name in record
        if name.startswith(("selection", "fresh")) and record[name] != "0"
    }
    assert found == {
        "selection_source_neutral": "3",
        "selection_source_replies": "3",
        "selection_neutral": "1",
        "selection_biased": "3",
        "selection_stereotyped": "2",
        "selection_replies": "5",
        "fresh_source_neutral": "8",
        "fresh_source_biased": "1",
        "fresh_source_replies": "10",
        "fresh_attacked_neutral": "2",
        "fresh_attacked_biased": "7",
        "fresh_attacked_stereotyped": "6",
        "fresh_attacked_replies": "10",
    }
    assert record["attacked_question"] == row.item.text_attacks["sentence_v2"]
