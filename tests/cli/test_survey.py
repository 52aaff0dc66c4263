"""`askew survey` from its command line: what is written, printed and refused."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from askew.cli.survey import app
from askew.errors import AskewError, ConfigError
from tests.survey.studies import run_folder

HEAD = "scenario,question,a,b,ground_truth,true_attributes\n"
PAIRS = HEAD + "".join(
    f"Case {place},Question {place}?,Answer A{place}.,Answer B{place}.,gout,{changed}\n"
    for place, changed in enumerate(("age", "gender", "none"), start=1)
)


def survey(*words: object) -> str:
    """What the command prints; errors come through as they are raised."""
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def refused(*words: object) -> str:
    with pytest.raises(AskewError) as trouble:
        CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    return str(trouble.value)


@pytest.fixture
def exported(tmp_path):
    (tmp_path / "pairs.csv").write_text(PAIRS)
    out = tmp_path / "study.json"
    survey("export", tmp_path / "pairs.csv", "--out", out, "--compare", "hops,plain", "--raters", 4)
    return out


def test_a_file_of_pairs_is_exported_whole_with_its_key_beside_it(exported):
    shown = json.loads(exported.read_text())
    key = json.loads(exported.with_suffix(".key.json").read_text())
    assert len(shown["scenarios"]) == 3
    assert len(shown["sheets"]) == 4
    assert {one["a"] for one in key["scenarios"]} <= {"hops", "plain"}
    assert "hops" not in exported.read_text()


def test_a_run_is_exported_with_notes_on_what_it_lacks(tmp_path):
    run = run_folder(tmp_path / "run").path
    said = survey("export", run, "--out", tmp_path / "s.json", "--scenarios", 3, "--seed", 7)
    assert "Wrote 3 scenarios and 15 sheets" in said
    assert "no ground truth" in said
    assert "3 scenarios can be shown" in refused("export", run, "--out", tmp_path / "t.json")


def test_files_that_are_there_are_not_written_over_unasked(exported):
    pairs = exported.with_name("pairs.csv")
    before = exported.read_bytes()
    assert "--force" in refused("export", pairs, "--out", exported)
    assert exported.read_bytes() == before
    survey("export", pairs, "--out", exported, "--force", "--seed", 1)
    assert exported.read_bytes() != before


def test_without_a_seed_nobody_can_work_out_the_sides_but_who_has_the_key(exported):
    pairs, sheets = exported.with_name("pairs.csv"), set()
    for _ in range(3):
        survey("export", pairs, "--out", exported, "--force", "--raters", 15)
        sheets.add(json.dumps(json.loads(exported.read_text())["sheets"]))
    assert len(sheets) == 3
    drawn = exported.read_bytes()
    seed = json.loads(exported.with_suffix(".key.json").read_text())["seed"]
    survey("export", pairs, "--out", exported, "--force", "--raters", 15, "--seed", seed)
    assert exported.read_bytes() == drawn


def test_survey_and_key_need_two_files(tmp_path):
    (tmp_path / "pairs.csv").write_text(PAIRS)
    out = tmp_path / "s.json"
    said = refused("export", tmp_path / "pairs.csv", "--out", out, "--key", out)
    assert "both" in said


def test_who_is_let_in_is_for_the_study_to_say(tmp_path):
    (tmp_path / "pairs.csv").write_text(PAIRS)
    out = tmp_path / "s.json"
    more = ("--require", "clinician", "--ask", "Which ward?", "--allow-no-difference")
    survey("export", tmp_path / "pairs.csv", "--out", out, *more)
    shown = json.loads(out.read_text())
    required = [one["id"] for one in shown["inclusion"] if one["required"]]
    assert required == ["clinician"]
    assert shown["inclusion"][-1]["text"] == "Which ward?"
    assert shown["allow_no_difference"] is True


def test_answers_from_a_table_are_analysed_and_printed(exported):
    key = exported.with_suffix(".key.json")
    answers = exported.with_name("answers.csv")
    rows = [f"{rater},S{place},a,age" for rater in range(1, 5) for place in (1, 2, 3)]
    answers.write_text("rater,scenario,choice,noticed\n" + "\n".join(rows))
    said = survey("analyse", exported, "--key", key, "--answers", answers)
    assert "Chose hops (%)" in said.replace("Hops", "hops")
    assert "after Holm" in said
    figures = json.loads(survey("analyse", exported, "--key", key, "--answers", answers, "--json"))
    assert figures["agreement"]["choice_percent"] == 1.0
    assert figures["detection"][0]["hits"]["value"] == 1.0
    assert figures["detection"][0]["false_alarms"]["value"] == 1.0


def test_what_cannot_be_analysed_is_refused(exported, tmp_path):
    key = exported.with_suffix(".key.json")
    answers = tmp_path / "none.sqlite"
    assert "either" in refused("analyse", exported, "--key", key)
    assert "not there" in refused("analyse", exported, "--key", key, "--db", answers)
    assert "yes or no" in refused(
        "analyse", exported, "--key", key, "--db", answers, "--test", "t-test"
    )
    assert "format" in refused("analyse", exported, "--key", exported, "--db", answers)


def test_a_study_is_not_served_to_other_machines_unasked(exported, tmp_path):
    database = tmp_path / "answers.sqlite"
    said = refused("serve", exported, "--db", database, "--host", "0.0.0.0")
    assert "--allow-remote" in said
    assert not database.exists()


@pytest.mark.parametrize("compare", ["hops", "a,b,c", ""])
def test_two_arms_have_to_be_named(tmp_path, compare):
    (tmp_path / "pairs.csv").write_text(PAIRS)
    with pytest.raises(ConfigError, match="two names"):
        CliRunner().invoke(
            app,
            ["export", str(tmp_path / "pairs.csv"), "--out", "s.json", "--compare", compare],
            catch_exceptions=False,
        )
