"""`askew clinical extract`, as a user types it."""

from __future__ import annotations

import gzip
import json
import xml.etree.ElementTree as ElementTree
from importlib.util import find_spec

import pytest
from typer.testing import CliRunner

from askew.cli.clinical import app
from askew.errors import ConfigError, DataError, MissingDependency

NOTE = "A 58-year-old woman from Lisbon has chest pain. She denies fever."
OTHER = "66 y/o M c/o SOB. Hx of HTN."
GOLD = {
    "id": "one",
    "text": NOTE,
    "source": "own",
    "tags": ["negation"],
    "triplets": [
        {"h": "patient", "r": "has_age", "t": 58, "unit": "year", "status": "present"},
        {"h": "patient", "r": "has_gender", "t": "female", "status": "present"},
        {"h": "patient", "r": "lives_in", "t": "Lisbon", "status": "present", "r_alt": ["born_in"]},
        {"h": "patient", "r": "has_symptom", "t": "chest pain", "status": "present"},
        {"h": "patient", "r": "has_symptom", "t": "fever", "status": "absent"},
    ],
    "perturb": {"impossible_gender": [], "impossible_age": [], "implausible_age": [], "reason": ""},
}


def invoke(*arguments, given=None):
    done = CliRunner().invoke(
        app, ["extract", *map(str, arguments)], input=given, catch_exceptions=True
    )
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return done


def as_json(*arguments, given=None):
    return json.loads(invoke(*arguments, "--json", given=given).stdout)


@pytest.fixture
def note(tmp_path):
    path = tmp_path / "note.txt"
    path.write_text(NOTE, encoding="utf-8")
    return path


@pytest.fixture
def gold(tmp_path):
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps(GOLD) + "\n", encoding="utf-8")
    return path


# What is read


def test_one_text_gives_its_triplets_with_status_span_and_rule(note):
    document = as_json(note)
    assert (document["extractor"], document["rules"], document["theta"]) == ("rules", "full", 0.5)
    (text,) = document["texts"]
    found = {(one["relation"], one["value"]): one for one in text["triplets"]}
    fever = found["has_symptom", "fever"]
    assert fever["head"] == "patient"
    assert (fever["status"], fever["experiencer"]) == ("absent", "patient")
    assert NOTE[slice(*fever["span"])] == fever["evidence"] == "fever"
    assert fever["rule"]
    assert 0 < fever["score"] <= 1
    assert found["has_age", 58]["unit"] == "year"


def test_blank_lines_part_texts_and_whole_keeps_them_together(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_bytes(f"\ufeff{NOTE}\r\n\r\n \r\n{OTHER}\r\n".encode())
    texts = as_json(path)["texts"]
    assert [(one["id"], one["line"]) for one in texts] == [("1", 1), ("2", 4)]
    assert [one["text"].strip() for one in texts] == [NOTE, OTHER]
    assert len(as_json(path, "--whole")["texts"]) == 1


def test_the_standard_input_is_read_as_text():
    (text,) = as_json("-", given=NOTE)["texts"]
    assert text["text"] == NOTE


def test_jsonl_keeps_the_ids_and_the_field_is_chosen(tmp_path):
    path = tmp_path / "notes.jsonl.gz"
    rows = [{"id": "a", "note": NOTE}, {"id": 7, "note": OTHER}, {"note": "A man of 40."}]
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))
    texts = as_json(path, "--field", "note")["texts"]
    assert [one["id"] for one in texts] == ["a", "7", "3"]
    assert texts[0]["text"] == NOTE


@pytest.mark.parametrize("ending", ["csv", "tsv", "json"])
def test_csv_tsv_and_json_are_read(tmp_path, ending):
    path = tmp_path / f"notes.{ending}"
    mark = "\t" if ending == "tsv" else ","
    content = f'id{mark}text\none{mark}"{NOTE}"\ntwo{mark}"{OTHER}"\n'
    if ending == "json":
        content = json.dumps([{"id": "one", "text": NOTE}, {"id": "two", "text": OTHER}])
    path.write_text(content, encoding="utf-8")
    assert [(one["id"], one["text"]) for one in as_json(path)["texts"]] == [
        ("one", NOTE),
        ("two", OTHER),
    ]


# What cannot be read


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.txt", b"", "there is no text"),
        ("a.txt", b" \n\n\t\n", "there is no text"),
        ("a.txt", b"fine\n\n\xff\xfe bad", r"a\.txt:3: not UTF-8"),
        ("a.txt", b"\xff\xfeA\x00", "UTF-16"),
        ("a.jsonl", b"", "there is no text"),
        ("a.jsonl", b'{"text": "x"}\n{"text": ', r"a\.jsonl:2: not JSON"),
        ("a.jsonl", b'{"note": "x"}', r"a\.jsonl:1: field 'text'.*fields here are 'note'.*--field"),
        ("a.jsonl", b'{"text": 5}', r"a\.jsonl:1: field 'text' is 5"),
        ("a.jsonl", b'{"text": "  "}', r"a\.jsonl:1: field 'text'"),
        ("a.jsonl", b'["x"]', r"a\.jsonl:1: .*expected an object"),
        ("a.jsonl", b'{"id": {}, "text": "x"}', r"a\.jsonl:1: field 'id'"),
        (
            "a.jsonl",
            b'{"id":1,"text":"x"}\n{"id":"1","text":"y"}',
            r"a\.jsonl:2: field 'id'.*line 1",
        ),
        ("a.csv", b"note\nx\n", "text"),
        ("a.csv", b"", "empty"),
        ("a.csv", b"id,text\n1,\n", r"a\.csv:2: field 'text'"),
        ("a.csv", b"id,text\n1,\xff\n", r"a\.csv:2: not UTF-8"),
        ("a.json", b'[{"text": "x"}, 5]', "entry 2 is no object"),
        ("a.json", b"{", r"a\.json:1: not JSON"),
    ],
)
def test_what_cannot_be_read_is_said_with_file_line_and_mend(tmp_path, name, content, said):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"(?s){said}"):
        invoke(path)


def test_a_file_that_is_not_there_is_said(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        invoke(tmp_path / "none.txt")


def test_a_text_that_is_far_too_long_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "huge.txt"
    path.write_text("pain " * 200_001, encoding="utf-8")
    with pytest.raises(DataError, match=r"huge\.txt:1: .*at most 1,000,000 characters"):
        invoke(path)


# What is printed


def test_the_table_shows_every_fact(note):
    shown = invoke(note).stdout
    for word in ("has_symptom", "chest pain", "absent", "58 years", "Lisbon", "score"):
        assert word in shown


def test_explain_marks_the_words_in_their_sentence_and_says_why(note):
    shown = invoke(note, "--explain").stdout
    assert "She denies [fever]." in shown
    assert "A 58-year-old woman from Lisbon has [chest pain]." in shown
    assert "why: a wording of a term list (0.9)" in shown


def test_theta_leaves_out_what_is_less_sure_and_explain_shows_it(note):
    assert as_json(note, "--theta", "0.99")["texts"][0]["triplets"] == []
    shown = invoke(note, "--theta", "0.99", "--explain").stdout
    assert "no facts about a patient" in shown
    assert "has_symptom chest pain (present): R(e) = 0.9" in shown


def test_rules_can_be_named_and_single_ones_taken_off(note):
    statuses = {
        rules: {
            one["value"]: one["status"]
            for one in as_json(note, "--rules", rules)["texts"][0]["triplets"]
        }
        for rules in ("full", "full-context")
    }
    assert statuses["full"]["fever"] == "absent"
    assert statuses["full-context"]["fever"] == "present"


def test_a_text_cannot_steer_the_terminal(tmp_path):
    path = tmp_path / "note.txt"
    path.write_text("A woman of 40 has \x1b[31mred\x1b[0m chest pain.", encoding="utf-8")
    assert "\x1b[31m" not in invoke(path, "--explain").stdout


# The graph


def test_the_graph_is_written_in_three_forms(note, tmp_path):
    for name in ("g.json", "g.graphml", "g.svg"):
        invoke(note, "--graph", tmp_path / name)
    document = json.loads((tmp_path / "g.json").read_text(encoding="utf-8"))
    assert {edge["relation"] for edge in document["edges"]} >= {"has_age", "has_symptom"}
    ElementTree.parse(tmp_path / "g.graphml")
    assert "chest pain" in (tmp_path / "g.svg").read_text(encoding="utf-8")


def test_several_texts_are_one_graph_and_a_picture_each(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text(f"{NOTE}\n\n{OTHER}", encoding="utf-8")
    invoke(path, "--graph", tmp_path / "g.svg")
    assert sorted(one.name for one in tmp_path.glob("*.svg")) == ["g-1.svg", "g-2.svg"]
    invoke(path, "--graph", tmp_path / "g.json")
    nodes = json.loads((tmp_path / "g.json").read_text(encoding="utf-8"))["nodes"]
    assert [one["id"] for one in nodes if one["kind"] == "patient"] == ["patient:1", "patient:2"]


def test_json_and_a_graph_go_together(note, tmp_path):
    assert as_json(note, "--graph", tmp_path / "g.json")["texts"]
    assert (tmp_path / "g.json").exists()


@pytest.mark.parametrize("name", ["g.png", "g", "missing/g.json"])
def test_a_graph_that_cannot_be_written_is_said(note, tmp_path, name):
    with pytest.raises(ConfigError, match="--graph"):
        invoke(note, "--graph", tmp_path / name)


# The score and the ablation


def test_score_needs_no_file_and_prints_the_figures(gold):
    document = as_json("--score", gold)
    assert document["overall"]["f1"] == 1
    assert document["per_relation"]["has_symptom"]["recall"] == 1
    assert set(document["overall"]) >= {"precision", "recall", "f1"}
    assert document["ignoring_status"]["overall"]["f1"] == 1
    assert "allergic_to" not in document["per_relation"]


def test_a_rule_set_that_finds_nothing_has_no_precision_and_not_zero(gold):
    document = as_json("--score", gold, "--rules", "ner", "--theta", "1")
    assert document["overall"]["precision"] is None
    assert document["overall"]["recall"] == 0


def test_all_rule_sets_are_scored_side_by_side(gold):
    sets = as_json("--score", gold, "--rules", "all")["rule_sets"]
    assert list(sets) == sorted(["ner", "patterns", "context", "full"])
    assert sets["patterns"]["overall"]["f1"] < sets["full"]["overall"]["f1"]
    shown = invoke("--score", gold, "--rules", "patterns").stdout
    assert "wrong has_symptom 'fever' (present)" in shown


def test_a_broken_gold_file_is_said(tmp_path):
    path = tmp_path / "gold.jsonl"
    path.write_text(json.dumps({**GOLD, "triplets": [{"r": "has_fever"}]}), encoding="utf-8")
    for option in ("--score", "--ablation"):
        with pytest.raises(DataError, match=r"gold\.jsonl:1"):
            invoke(option, path)


def test_the_ablation_of_gold_has_scores_and_questions(gold):
    document = as_json("--ablation", gold)
    assert document["texts"] == 1
    sets = document["rule_sets"]
    assert set(sets) == {"ner", "patterns", "context", "full"}
    assert sets["full"]["precision"] == 1
    for row in sets.values():
        assert row["coherent"] <= row["questions"]
        assert row["coherent_share"] == pytest.approx(row["coherent"] / row["questions"])


def test_the_ablation_of_plain_texts_makes_no_score_up(note):
    sets = as_json("--ablation", note, "--rules", "full")["rule_sets"]
    assert set(sets) == {"full"}
    assert "precision" not in sets["full"]
    assert "no gold" in invoke("--ablation", note, "--rules", "full").stdout


# Options that do not go together


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "nothing is named"),
        (("NOTE", "--score", "GOLD"), "two jobs"),
        (("--score", "GOLD", "--ablation", "GOLD"), "two jobs"),
        (("NOTE", "--rules", "all"), "--score or --ablation"),
        (("NOTE", "--rules", "fulll"), "fulll"),
        (("NOTE", "--theta", "2"), "from 0 to 1"),
        (("--score", "GOLD", "--graph", "g.svg"), "Name one instead"),
        (("NOTE", "--extractor", "nobody"), "Known: gliner, medspacy, rules"),
        (("NOTE", "--extractor", "llm"), "Name the model"),
        (("NOTE", "--model", "builtin/smollm2"), "--extractor llm"),
        (("NOTE", "--extractor", "gliner", "--theta", "0.5"), "askew's own rules"),
    ],
)
def test_options_that_do_not_go_together_are_said(note, gold, arguments, said):
    paths = {"NOTE": note, "GOLD": gold}
    with pytest.raises(ConfigError, match=said):
        invoke(*(paths.get(one, one) for one in arguments))


# Other extractors


APPLICATION = """
import json

def doctor(prompt: str) -> str:
    return json.dumps([
        {"relation": "has_symptom", "value": "chest pain", "status": "present",
         "evidence": "chest pain"},
        {"relation": "has_symptom", "value": "rash", "status": "present", "evidence": "rash"},
    ])

def poet(prompt: str) -> str:
    return "The lady aches."
"""


@pytest.fixture
def applications(tmp_path, monkeypatch):
    (tmp_path / "extracting_apps.py").write_text(APPLICATION, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_model_extracts_through_the_ledger_and_its_inventions_are_counted(note, applications):
    llm = ("--extractor", "llm", "--model", "python/extracting_apps:doctor", "--yes")
    document = as_json(note, *llm)
    assert [one["value"] for one in document["texts"][0]["triplets"]] == ["chest pain"]
    assert document["replies"]["rejected"] == {"not_in_text": 1}
    assert (applications / document["replies"]["folder"] / "run.sqlite").exists()
    assert "triplets rejected: 1 not_in_text" in invoke(note, *llm).stdout


def test_a_model_is_scored_like_any_other(gold, applications):
    llm = ("--extractor", "llm", "--model", "python/extracting_apps:doctor", "--yes")
    document = as_json("--score", gold, *llm)
    assert document["overall"]["precision"] == 1
    assert document["overall"]["recall"] == pytest.approx(1 / 5)


def test_a_model_that_answers_in_prose_gives_no_facts_and_says_so(note, applications):
    done = invoke(
        note, "--extractor", "llm", "--model", "python/extracting_apps:poet", "--yes", "--out", "o"
    )
    assert "no facts about a patient" in done.stdout
    assert "not one JSON document" in done.stderr
    assert "1 replies unreadable" in done.stdout


def test_nobody_is_charged_without_being_asked(note, applications):
    with pytest.raises(ConfigError, match="--yes"):
        invoke(note, "--extractor", "llm", "--model", "python/extracting_apps:doctor")


def test_an_extractor_that_is_not_installed_says_so(note):
    if find_spec("medspacy"):
        pytest.skip("medspacy is installed")
    with pytest.raises(MissingDependency, match="medspacy is not installed"):
        invoke(note, "--extractor", "medspacy")


@pytest.mark.parametrize("name", ["notes.csv", "notes.tsv", "notes.csv.gz"])
def test_a_table_without_the_column_names_its_columns_and_the_option(tmp_path, name):
    path = tmp_path / name
    rows = f"id\tnote\n1\t{NOTE}\n".encode()
    path.write_bytes(gzip.compress(rows) if name.endswith(".gz") else rows)
    wanted = r"no column 'text'\. It has: 'id', 'note'\. Name the .* with --field\."
    with pytest.raises(DataError, match=wanted):
        invoke(path)
    assert as_json(path, "--field", "note")["texts"][0]["text"] == NOTE


def test_a_table_without_a_header_shows_an_excerpt_of_its_first_row_alone(tmp_path):
    path = tmp_path / "notes.csv"
    path.write_text(f"1;{NOTE}\n2;{OTHER}\n", encoding="utf-8")
    with pytest.raises(DataError, match="no column 'text'") as trouble:
        invoke(path)
    assert "chest pain" not in str(trouble.value)


@pytest.mark.parametrize("columns", [70, 80, 120])
def test_no_relation_and_no_status_breaks_in_the_table(tmp_path, monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", str(columns))
    path = tmp_path / "note.txt"
    path.write_text(
        "A 58-year-old woman from Lisbon takes metformin. Her grandmother had acute myocardial "
        "infarction. She may have pulmonary embolism.",
        encoding="utf-8",
    )
    table = invoke(path).stdout.split("\n")
    assert max(map(len, table)) <= columns
    for whole in ("takes_medication", "family_history", "possible", "grandmother", "experiencer"):
        assert sum(whole in line.split() for line in table) >= 1, whole


def test_a_narrow_terminal_folds_the_table_and_cuts_nothing_off(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "40")
    path = tmp_path / "note.txt"
    path.write_text("She takes metformin.", encoding="utf-8")
    first, *rows = invoke(path).stdout.strip("\n").split("\n")
    folded = "".join(line.split()[0] for line in rows if line[:1].strip())
    assert "takes_medication" in folded
    assert "…" not in first
