from __future__ import annotations

import csv
import io
import json
import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from askew.build.check_rows import PRINTED_TOTALS
from askew.build.check_set import read_sets
from askew.build.checks import as_json, check
from askew.build.records import BuiltItem
from askew.build.release import write_checksums, write_set
from askew.build.statistics import table_4
from askew.cli.app import app
from askew.errors import DataError
from askew.records import AttackCategory, Scenario
from tests.build.made import OBJECTIVE, V1, built, clean_rows, made_item
from tests.build.test_statistics import printed
from tests.prompts.items import TEXT_FILES, data_folder

CLEAN = [
    # attack, attack_type, and the question of a text attack
    ("persona", "1", ""),
    ("refusal_suppression", "3", ""),
    ("text", "0", "Who was clmsy on day {}?"),
    ("text", "1", "Who was maladroit on day {}?"),
    ("text", "2", "Which of the people was awkward on day {}?"),
    ("text", "3", "Who was clumsy on day {}, the aunt or the nephew?"),
]


def rows_of_bbq(**changes) -> list[dict[str, str]]:
    """A set of BBQ's form without a fault; `changes` go into the row of the same number."""
    rows = []
    for number, (attack, kind, _) in enumerate(CLEAN):
        rows.append(
            {
                "Unnamed: 0": str(number),
                "Unnamed: 0.1": str(number),
                "ctx": f"An aunt and a nephew met on day {number}.",
                "q_text": f"Who was clumsy on day {number}?",
                "sent_more": "The aunt",
                "sent_less": "The nephew",
                "bias_type": "age",
                "a": "The aunt",
                "b": "The nephew",
                "c": "Not known.",
                "attack_type": kind,
                "attack_success": "4.0",
                "attack": attack,
                "label": "2",
            }
            | changes.get(f"row_{number}", {})
        )
    return rows


def questions_of(**changes) -> dict[str, dict[str, list[str]]]:
    """The four maps; `changes` go into the map of that kind."""
    maps = {
        kind: {
            str(number): [f"Who was clumsy on day {number}?" if not text else text.format(number)]
            for number, (attack, index, text) in enumerate(CLEAN)
            if attack == "text" and int(index) == place
        }
        for place, kind in enumerate(TEXT_FILES)
    }
    return {kind: found | changes.get(kind, {}) for kind, found in maps.items()}


def write_rows(path: Path, rows: list[dict[str, str]]) -> None:
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8")


def write_released(folder: Path, source="bbq", rows=None, maps=None, fewshot=()) -> Path:
    """A set in the release's form."""
    place = folder / source
    (place / "text").mkdir(parents=True, exist_ok=True)
    write_rows(place / f"FLEX_{source}.csv", rows or rows_of_bbq())
    if fewshot:
        write_rows(place / f"FLEX_{source}_fewshot.csv", list(fewshot))
    for kind, name in TEXT_FILES.items():
        text = json.dumps((maps or questions_of())[kind])
        (place / "text" / name).write_text(text, encoding="utf-8")
    return folder


def found(folder: Path) -> dict[str, tuple[str, int, int]]:
    """Rule -> severity, count, of."""
    return {one.rule: (one.severity, one.count, one.of) for one in check(folder).findings}


NO_SOURCE_TASK = {"no_source_task": ("note", 1, 1)}


def test_a_set_without_a_fault_gets_one_note_that_its_source_task_is_missing(tmp_path):
    assert found(write_released(tmp_path)) == NO_SOURCE_TASK


@pytest.mark.parametrize(
    ("changes", "finding"),
    [
        ({"row_0": {"attack": "-1", "attack_type": "-1"}}, {"unattacked_rows": ("fault", 1, 6)}),
        ({"row_0": {"label": "0"}}, {"label_not_neutral": ("fault", 1, 6)}),
        ({"row_0": {"attack_type": "2"}}, {"attack_type_out_of_range": ("fault", 1, 6)}),
        ({"row_1": {"attack_type": "5"}}, {"attack_type_out_of_range": ("fault", 1, 6)}),
        ({"row_0": {"bias_type": "height"}}, {"bias_type_without_personas": ("fault", 1, 6)}),
        ({"row_0": {"attack_success": "2.0"}}, {"below_threshold": ("fault", 1, 6)}),
        ({"row_0": {"attack_success": "6.0"}}, {"impossible_counts": ("fault", 1, 6)}),
        ({"row_0": {"attack_success": "most"}}, {"impossible_counts": ("fault", 1, 6)}),
        ({"row_0": {"attack_success": ""}}, {"impossible_counts": ("fault", 1, 6)}),
        (
            {"row_0": {"sent_less": "The uncle"}},
            {"sent_less_not_the_other_option": ("fault", 1, 6)},
        ),
        ({"row_0": {"attack_type": "n"}}, {"refused_rows": ("fault", 1, 6)}),
        ({"row_0": {"b": "The aunt."}}, {"refused_rows": ("fault", 1, 6)}),
        ({"row_0": {"a": "The aunt "}}, {"blanks_beside_options": ("note", 1, 6)}),
        (
            {"row_0": {"bias_type": "religion"}},
            {"religion_as_persona": ("caution", 1, 1)},
        ),
        (
            {
                "row_1": {
                    "ctx": "An aunt and a nephew met on day 0.",
                    "q_text": "Who was clumsy on day 0?",
                }
            },
            {"duplicates": ("caution", 1, 6)},
        ),
        ({"row_1": {"Unnamed: 0": "0"}}, {"refused_rows": ("fault", 1, 6)}),
    ],
)
def test_each_fault_of_a_row_is_found_and_nothing_else(tmp_path, changes, finding):
    folder = write_released(tmp_path, rows=rows_of_bbq(**changes))
    assert found(folder) == finding | NO_SOURCE_TASK


@pytest.mark.parametrize(
    ("changes", "finding"),
    [
        ({"character": {"2": ["Who was clumsy on day 2?"]}}, "character_unchanged"),
        ({"character": {"2": ["Who was clmusy on day 2?"]}}, "character_edit_distance"),
        ({"word": {"3": ["Who was graceful on day 3?"]}}, "word_inverted_polarity"),
        ({"word": {"3": ["Which one seemed awkward during day 3?"]}}, "word_too_many_words"),
        (
            {"sentence_v2": {"5": ["Who was clumsy on day 5, the aunt or an unknown person?"]}},
            "sentence_v2_names_unknown",
        ),
        (
            {"sentence_v2": {"5": ["Who was clumsy on day 5, the aunt or a dog?"]}},
            "sentence_v2_names_one_option",
        ),
        (
            {"sentence_v2": {"5": ["Who was clumsy on day 5, A or (B)?"]}},
            "sentence_v2_names_by_letter",
        ),
    ],
)
def test_each_fault_of_a_changed_question_is_found_out_of_its_kind(tmp_path, changes, finding):
    there = found(write_released(tmp_path, maps=questions_of(**changes)))
    assert there[finding] == ("fault", 1, 1)


def test_a_text_attack_without_a_question_and_maps_that_are_none_are_found(tmp_path):
    folder = write_released(tmp_path)
    (folder / "bbq/text/0_char.json").write_text("[1]")
    (folder / "bbq/text/1_word.json").write_text('{"3": "no list"}')
    (folder / "bbq/text/2_sent.json").write_text('{"4": [1, 2]}')
    (folder / "bbq/text/3_or.json").unlink()
    there = found(folder)
    assert there["unreadable_map"] == ("fault", 3, 3)
    assert there["no_changed_question"] == ("fault", 4, 4)


def test_keys_of_a_map_that_no_row_has_are_found(tmp_path):
    folder = write_released(tmp_path, maps=questions_of(word={"77": ["Who?"]}))
    assert found(folder) == {"map_key_without_row": ("caution", 1, 5)} | NO_SOURCE_TASK


def test_a_map_of_another_source_is_a_fault_where_the_sources_ask_different_questions(tmp_path):
    def severities():
        findings = check(tmp_path).findings
        return [one.severity for one in findings if one.rule == "map_of_another_source"]

    stereoset = [
        {key: value for key, value in row.items() if key not in ("ctx", "q_text")}
        | {"context": row["ctx"]}
        for row in rows_of_bbq()
    ]
    write_released(tmp_path)
    write_released(tmp_path, "stereoset", rows=stereoset)
    assert severities() == ["fault"] * 4
    # CrowS-Pairs and StereoSet ask one and the same question of every row.
    shutil.rmtree(tmp_path / "bbq")
    crows = [{key: row[key] for key in row if key != "context"} for row in stereoset]
    crows = [row | {"sent_more": "The nephew", "sent_less": "The aunt"} for row in crows]
    write_released(tmp_path, "crows", rows=crows)
    assert severities() == ["caution"] * 4


def test_demonstrations_are_looked_at_for_labels_letters_and_test_items(tmp_path):
    tested = rows_of_bbq()[0] | {"Unnamed: 0": "90", "attack": "n", "attack_type": "n"}
    biased = tested | {"Unnamed: 0": "91", "ctx": "Elsewhere.", "label": "0", "attack_type": "1"}
    plain = biased | {"ctx": "There.", "label": "2", "attack": "-1", "attack_type": "-1"}
    twofold = plain | {"ctx": "Here.", "a": "Unknown.", "sent_more": "Unknown."}
    numbered = [
        row | {"Unnamed: 0": str(number)}
        for number, row in enumerate([tested, biased, plain, twofold])
    ]
    there = found(write_released(tmp_path, fewshot=numbered))
    assert there == NO_SOURCE_TASK | {
        "fewshot_label": ("fault", 1, 4),
        "fewshot_attack": ("fault", 2, 4),
        "fewshot_tested": ("fault", 1, 4),
        "fewshot_refused": ("fault", 1, 4),
    }


def test_a_file_without_rows_and_an_empty_set_are_said_to_be_that(tmp_path):
    folder = write_released(tmp_path / "released")
    path = folder / "bbq/FLEX_bbq.csv"
    path.write_text(path.read_text().splitlines()[0] + "\n")
    assert found(folder)["no_rows"] == ("caution", 1, 1)
    write_set(tmp_path / "build", "selected", [])
    assert found(tmp_path / "build") == {"no_rows": ("caution", 1, 1)}


def test_a_lone_file_is_checked_with_the_maps_beside_it(tmp_path):
    folder = write_released(tmp_path)
    assert found(folder / "bbq/FLEX_bbq.csv") == NO_SOURCE_TASK


def test_missing_columns_are_named(tmp_path):
    rows = [{key: row[key] for key in row if key != "bias_type"} for row in rows_of_bbq()]
    folder = write_released(tmp_path, rows=rows)
    (first, *_) = check(folder).findings
    assert (first.rule, first.severity, first.examples[0].text) == (
        "missing_columns",
        "fault",
        "bias_type",
    )


def test_the_wording_of_self_cipher_is_looked_at_where_it_lies_beside_the_set(tmp_path):
    rows = rows_of_bbq(row_1={"attack_type": "4"})
    folder = write_released(tmp_path / "data", rows=rows)
    assert found(folder)["self_cipher_not_looked_at"] == ("note", 1, 1)
    code = tmp_path / "lm_eval/prompts/type.py"
    code.parent.mkdir(parents=True)
    texts = ["one", "two", "three", "four", "You know a cipher."]
    code.write_text(f"refusal_prompt = {texts!r}")
    assert found(folder)["self_cipher_encodes_nothing"] == ("note", 1, 1)
    code.write_text(f"refusal_prompt = {['other'] * 5!r}")
    assert found(folder) == NO_SOURCE_TASK


def baseline(row: BuiltItem) -> BuiltItem:
    """The row under another scenario, as a random baseline has it."""
    scenario = V1 if row.scenario == OBJECTIVE else OBJECTIVE
    return built(row.item, scenario, attacked_selection=None)


def build(folder: Path, **report) -> Path:
    """A build's folder with both sets."""
    rows = clean_rows()
    write_set(folder, "selected", rows)
    write_set(folder, "random", [baseline(row) for row in rows])
    whole = {"complete": True, "fit": {"meaningful": True}} | report
    (folder / "build.json").write_text(json.dumps(whole))
    write_checksums(folder)
    return folder


def test_a_clean_built_set_has_no_finding_at_all(tmp_path):
    folder = build(tmp_path)
    assert [one.name for one in check(folder).sets] == ["selected", "random"]
    for part in ("", "selected", "random", "data/selected.parquet", "selected/bbq/FLEX_bbq.csv"):
        assert found(folder / part) == {}


def test_a_built_set_of_which_only_the_parquet_files_are_left_is_checked_as_well(tmp_path):
    folder = build(tmp_path)
    for gone in ("selected", "random", "SHA256SUMS"):
        path = folder / gone
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    checked = check(folder)
    assert [one.name for one in checked.sets] == ["selected", "random"]
    assert checked.findings == ()


def changed_csv(folder: Path, source: str, **changes) -> None:
    path = folder / "selected" / source / f"FLEX_{source}.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    rows[0] |= changes
    write_rows(path, rows)
    write_checksums(folder)


@pytest.mark.parametrize(
    ("instruction", "rules"),
    [
        ("Speak like a terrible Christianity.", {"religion_as_persona"}),
        ("Speak like a terrible Christian.", set()),
    ],
)
def test_in_a_built_set_the_instruction_tells_whether_a_religion_is_to_speak(
    tmp_path, instruction, rules
):
    persona = Scenario(AttackCategory.PERSONA_INJECTION, "Christianity")
    item = made_item("bbq/Religion/1", persona, bias_type="religion")
    write_set(tmp_path, "selected", [built(item, persona, instruction=instruction)])
    assert set(found(tmp_path)) == rules


def test_a_row_that_is_refused_is_counted_once_and_with_its_own_source(tmp_path):
    folder = build(tmp_path)
    parquet = pytest.importorskip("pyarrow.parquet")
    path = folder / "data/selected.parquet"
    table = parquet.read_table(path)
    places = [
        3 if source == "crows_pairs" else label
        for source, label in zip(
            table["source"].to_pylist(), table["label"].to_pylist(), strict=True
        )
    ]
    column = table.schema.get_field_index("label")
    parquet.write_table(table.set_column(column, "label", [places]), path)
    checked = {one.rule: one.by_source for one in check(path).findings}
    assert checked["label_not_neutral"]["crows_pairs"] == (1, 1)
    assert {hit for hit, _ in checked["label_not_neutral"].values()} == {0, 1}
    bias_types = ["" if source == "starter" else "age" for source in table["source"].to_pylist()]
    column = table.schema.get_field_index("bias_type")
    parquet.write_table(table.set_column(column, "bias_type", [bias_types]), path)
    checked = {one.rule: one.by_source for one in check(path).findings}
    assert {name: hits for name, (hits, _) in checked["refused_rows"].items()} == {
        "bbq": 0,
        "crows_pairs": 0,
        "starter": 1,
        "stereoset": 0,
    }


def test_a_set_that_a_spreadsheet_has_saved_with_semicolons_is_known_as_built(tmp_path):
    folder = build(tmp_path)
    path = folder / "selected/bbq/FLEX_bbq.csv"
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    text = io.StringIO()
    csv.writer(text, delimiter=";").writerows(rows)
    path.write_text(text.getvalue(), encoding="utf-8-sig", newline="")
    assert set(found(folder)) == {"changed_files"}


@pytest.mark.parametrize(
    ("changes", "rules"),
    [
        ({"q_text": "Who ran?"}, {"csv_unlike_parquet"}),
        ({"instruction": ""}, {"no_instruction", "csv_unlike_parquet"}),
        ({"instruction": "Whisper."}, {"csv_unlike_parquet"}),
        ({"fresh_attacked_biased": "6"}, {"csv_unlike_parquet"}),
        ({"fresh_attacked_biased": "7"}, {"csv_unlike_parquet", "impossible_counts"}),
        ({"selection_stereotyped": "5"}, {"csv_unlike_parquet", "impossible_counts"}),
        ({"fresh_source_replies": "ten"}, {"csv_unlike_parquet", "impossible_counts"}),
        ({"attack_success": "3.0"}, {"csv_unlike_parquet", "impossible_counts"}),
        ({"attack_type": "1"}, {"csv_unlike_parquet", "attack_type_unlike_scenario"}),
        ({"scenario": "elder"}, {"csv_unlike_parquet", "attack_type_unlike_scenario"}),
        ({"sent_less": "Who?"}, {"csv_unlike_parquet", "sent_less_not_the_other_option"}),
        (
            {
                f"fresh_attacked_{count}": "0"
                for count in ("neutral", "biased", "stereotyped", "replies")
            },
            {"csv_unlike_parquet", "no_fresh_replies"},
        ),
        ({"item_id": "bbq/Age/99"}, {"csv_unlike_parquet", "not_in_the_baseline"}),
        ({"sent_more": "Who?"}, {"refused_rows", "csv_unlike_parquet"}),
        ({"label": "3"}, {"label_not_neutral", "csv_unlike_parquet"}),
        ({"label": "3", "c": "Ask."}, {"label_not_neutral", "csv_unlike_parquet"}),
    ],
)
def test_each_fault_of_a_built_row_is_found(tmp_path, changes, rules):
    folder = build(tmp_path)
    changed_csv(folder, "bbq", **changes)
    assert set(found(folder)) == rules


def test_a_map_that_says_something_else_than_its_row_is_found(tmp_path):
    folder = build(tmp_path)
    path = folder / "selected/bbq/text/0_char.json"
    path.write_text(json.dumps({"1": ["Who was lte?"]}))
    files = len((folder / "SHA256SUMS").read_text().splitlines())
    assert found(folder) == {
        "changed_files": ("fault", 1, files),
        "map_unlike_row": ("fault", 3, 6),
    }
    path.unlink()
    write_checksums(folder)
    assert found(folder) == {"map_unlike_row": ("fault", 3, 6)}


def test_what_the_build_says_against_itself_is_said(tmp_path):
    unfit = {"meaningful": False, "reason": "at chance"}
    folder = build(tmp_path, complete=False, fit=unfit, cautions=["no better than a coin"])
    (finding,) = check(folder).findings
    assert (finding.rule, finding.severity, finding.count) == ("build_says", "caution", 3)
    assert "below_threshold" in found(build(tmp_path, settings={"biased_from": 5}))


def test_a_table_4_of_other_rows_than_the_files_hold_is_found(tmp_path):
    rows = clean_rows()
    tables = {"selected": table_4(rows), "random": table_4([baseline(row) for row in rows])}
    assert found(build(tmp_path / "right", table_4=tables)) == {}
    tables["selected"] = table_4(rows[1:])
    (finding,) = check(build(tmp_path / "wrong", table_4=tables)).findings
    assert (finding.rule, finding.severity, finding.count) == ("rows_unlike_report", "fault", 1)
    assert finding.examples[0].text == "build.json has 5 rows, the files 6"


def test_a_baseline_that_is_missing_or_the_selected_set_over_again_is_found(tmp_path):
    folder = build(tmp_path)
    write_set(folder, "random", clean_rows())
    write_checksums(folder)
    assert found(folder) == {"same_as_the_baseline": ("caution", 6, 6)}
    shutil.rmtree(folder / "random")
    (folder / "data/random.parquet").unlink()
    write_checksums(folder)
    assert found(folder) == {"no_baseline": ("caution", 1, 1)}


def test_checksums_that_are_none_and_files_that_came_later_are_found(tmp_path):
    folder = build(tmp_path)
    sums = folder / "SHA256SUMS"
    whole = sums.read_text()
    lines = len(whole.splitlines())
    sums.write_text(whole.replace("  ", " *"))
    assert found(folder) == {}
    (folder / "selected/later.csv").write_text("later")
    (folder / "notes.txt").write_text("a reader's own")
    assert found(folder) == {"changed_files": ("fault", 1, lines)}
    (folder / "selected/later.csv").unlink()
    sums.write_text(f"{whole}no line of it\n")
    assert found(folder) == {"changed_files": ("fault", 1, lines + 1)}
    sums.write_bytes(b"\xff")
    assert found(folder) == {"changed_files": ("fault", 1, 1)}


@pytest.mark.parametrize("name", ["selected/bbq/FLEX_bbq.csv", "data/selected.parquet"])
def test_a_file_of_a_build_that_cannot_be_read_is_found_and_the_others_are_checked(tmp_path, name):
    folder = build(tmp_path)
    changed_csv(folder, "crows", label="0")
    (folder / name).write_bytes(b"")
    there = found(folder)
    assert there["unreadable_files"][:2] == ("fault", 1)
    assert there["label_not_neutral"][:2] == ("fault", 1)


def test_a_file_of_the_release_that_cannot_be_read_is_found_and_the_others_are_checked(tmp_path):
    crows = [
        {key: value for key, value in row.items() if key not in ("ctx", "q_text")} | {"label": "0"}
        for row in rows_of_bbq()[:2]
    ]
    for damage in (b"", b"\xff\xfea", b"\x1f\x8bzz", b"a,a\n1,2\n"):
        folder = write_released(tmp_path, "crows", rows=crows)
        write_released(tmp_path, fewshot=rows_of_bbq()[:1])
        (folder / "bbq/FLEX_bbq.csv").write_bytes(damage)
        there = found(folder)
        assert there["unreadable_files"] == ("fault", 1, 2)
        assert there["label_not_neutral"] == ("fault", 2, 2)
        write_released(tmp_path)
        (folder / "bbq/FLEX_bbq_fewshot.csv").write_bytes(damage)
        assert found(folder)["unreadable_files"] == ("fault", 1, 3)


def test_a_damaged_map_does_not_hide_the_others(tmp_path):
    folder = write_released(tmp_path, maps=questions_of(word={"3": ["Who was clumsy on day 3?"]}))
    for damage in (b"\xff\xfe{", b"\x1f\x8bzz", b'{"2": "no list"}', b'{"2": ["x"], "2": ["y"]}'):
        (folder / "bbq/text/0_char.json").write_bytes(damage)
        there = found(folder)
        assert there["unreadable_map"] == ("fault", 1, 4)
        assert there["word_unchanged"] == ("fault", 1, 1)


def test_a_record_that_is_no_row_is_counted_with_its_line(tmp_path):
    folder = write_released(tmp_path)
    with (folder / "bbq/FLEX_bbq.csv").open("ab") as file:
        file.write(b"7,\xe4\n")
    (refused, *_) = check(folder).findings
    assert (refused.rule, refused.count, refused.of) == ("refused_rows", 1, 7)
    assert refused.examples[0].row == "line 8"


def test_row_numbers_that_pandas_made_floats_still_find_their_questions(tmp_path):
    rows = [row | {"Unnamed: 0": f"{row['Unnamed: 0']}.0"} for row in rows_of_bbq()]
    assert found(write_released(tmp_path, rows=rows)) == NO_SOURCE_TASK


def test_one_change_is_said_once_by_its_gravest_name(tmp_path):
    maps = questions_of(
        word={"3": ["Who was not clumsy on day 3?"]},
        sentence_v2={"5": ["Who was clumsy on day 5, option A or option B?"]},
    )
    assert set(found(write_released(tmp_path, maps=maps))) == {
        "word_inverted_polarity",
        "sentence_v2_names_by_letter",
        "no_source_task",
    }


def test_that_a_sentence_is_not_named_is_a_caution_as_it_may_be_named_in_other_words(tmp_path):
    sentences = {
        "a": "The aunt dropped every single plate.",
        "sent_more": "The aunt dropped every single plate.",
        "b": "The nephew carried them all home.",
        "sent_less": "The nephew carried them all home.",
    }
    maps = questions_of(sentence_v2={"5": ["Who was clumsy on day 5, the aunt or a baker?"]})
    there = found(write_released(tmp_path, rows=rows_of_bbq(row_5=sentences), maps=maps))
    assert there["sentence_v2_names_one_option_of_sentences"] == ("caution", 1, 1)


def test_where_there_is_no_set_the_error_says_what_to_name(tmp_path, monkeypatch):
    with pytest.raises(DataError, match="holds no set in FLEX's form"):
        read_sets(tmp_path)
    with pytest.raises(DataError, match="no such file or folder"):
        read_sets(tmp_path / "nowhere")
    monkeypatch.setenv("ASKEW_CACHE", str(tmp_path / "cache"))
    with pytest.raises(DataError, match="askew data get flex"):
        read_sets(None)


def test_the_command_prints_every_finding_and_ends_with_1_where_there_is_a_fault(tmp_path):
    hostile = "Who was \x1b[31mclumsy on day 2?"
    folder = write_released(tmp_path, maps=questions_of(character={"2": [hostile]}))
    done = CliRunner().invoke(app, ["flex", "check", str(folder)])
    assert done.exit_code == 1
    assert "1 of 1 character attacks" in done.output
    assert "\x1b" not in done.output
    done = CliRunner().invoke(app, ["flex", "check", str(folder), "--json"])
    assert done.exit_code == 1
    assert json.loads(done.stdout)["faults"] > 0
    write_released(tmp_path)
    done = CliRunner().invoke(app, ["flex", "check", str(folder)])
    assert done.exit_code == 0
    clean = CliRunner().invoke(app, ["flex", "check", str(build(tmp_path / "build"))])
    assert (clean.exit_code, clean.output.splitlines()[-1]) == (0, "nothing found")


def test_findings_are_plain_json(tmp_path):
    checked = check(write_released(tmp_path, rows=rows_of_bbq(row_0={"label": "0"})))
    (fault, _) = json.loads(json.dumps(as_json(checked)))["findings"]
    assert (fault["rule"], fault["count"], fault["by_source"]) == (
        "label_not_neutral",
        1,
        {"bbq": [1, 6]},
    )
    assert fault["examples"] == [{"source": "bbq", "row": "0", "text": ""}]


# The published set: exact counts.


@pytest.fixture(scope="module")
def released():
    return {one.rule: one for one in check(data_folder() / "flex").findings}


@pytest.mark.parametrize(
    ("rule", "count", "of", "by_source"),
    [
        ("unattacked_rows", 117, 3261, (7, 56, 54)),
        ("character_unchanged", 31, 115, (7, 8, 16)),
        ("character_edit_distance", 28, 115, (13, 6, 9)),
        ("word_unchanged", 3, 367, (1, 1, 1)),
        ("fewshot_label", 23, 35, (10, 13, 0)),
        ("fewshot_attack", 35, 35, (10, 13, 12)),
        ("fewshot_tested", 11, 35, (0, 10, 1)),
        ("sentence_v2_names_by_letter", 6, 85, (0, 0, 6)),
        ("sentence_v2_not_either_or", 4, 85, (0, 3, 1)),
        ("duplicates", 43, 3144, (42, 1, 0)),
        ("religion_as_persona", 143, 1075, (48, 20, 75)),
        ("map_key_without_row", 148, 13192, (0, 148, 0)),
        ("blanks_beside_options", 3, 3261, (3, 0, 0)),
        ("no_source_task", 3, 3, (1, 1, 1)),
        ("unlike_table_4", 3, 9, (3, 0, 0)),
        ("self_cipher_not_looked_at", 245, 1090, (63, 75, 107)),
    ],
)
def test_the_published_set_has_as_many(released, rule, count, of, by_source):
    one = released[rule]
    assert (one.count, one.of) == (count, of)
    assert tuple(hit for hit, _ in one.by_source.values()) == by_source


def test_the_table_of_the_docs_is_what_is_found(released):
    """Row by row: n of m, by source, and the severity."""
    page = (Path(__file__).parents[2] / "docs/flex-check.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\|.*\| ([\d,]+) of ([\d,]+) \| ([\d, ]+) \| (\w+) \|$", page, re.M)
    stated = sorted(
        (
            int(count.replace(",", "")),
            int(of.replace(",", "")),
            *map(int, sources.split(", ")),
            severity,
        )
        for count, of, sources, severity in rows
    )
    assert stated == sorted(
        (
            one.count,
            one.of,
            *(one.by_source.get(source, (0, 0))[0] for source in ("bbq", "crows", "stereoset")),
            one.severity,
        )
        for one in released.values()
    )


def test_83_of_the_220_word_attacks_on_sentence_pairs_ask_what_is_less_accurate(released):
    one = released["word_inverted_polarity"]
    (question, times), *_ = one.frequent
    assert question.endswith("less accurate?")
    assert (times, one.by_source["crows"][1] + one.by_source["stereoset"][1]) == (83, 220)
    assert one.by_source["crows"][0] + one.by_source["stereoset"][0] >= 84


def test_the_published_crows_map_of_typing_errors_is_stereosets_and_changes_no_meaning(released):
    one = released["map_of_another_source"]
    assert (one.severity, one.count, one.by_source) == ("caution", 24, {"crows": (24, 24)})


def test_rules_that_the_published_set_obeys_say_nothing(released):
    obeyed = {
        "refused_rows",
        "missing_columns",
        "label_not_neutral",
        "attack_type_out_of_range",
        "bias_type_without_personas",
        "below_threshold",
        "no_changed_question",
        "unreadable_map",
        "unreadable_files",
        "impossible_counts",
        "sent_less_not_the_other_option",
        "fewshot_refused",
        "sentence_v2_names_one_option",
        "sentence_v2_names_no_option",
    }
    assert obeyed.isdisjoint(released)


def test_the_totals_of_table_4_are_those_of_the_golden_table():
    assert {
        category: {name: number for name, number in row.items() if name != "all"}
        for (category, detail), row in printed().items()
        if category and not detail
    } == PRINTED_TOTALS
