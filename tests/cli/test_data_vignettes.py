"""`askew data` on clinical sets, as a user types it."""

from __future__ import annotations

import csv
import json
import os

import pytest
from typer.testing import CliRunner

from askew.cli.data import app
from askew.errors import ConfigError


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ASKEW_CACHE", str(tmp_path / "cache"))


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def listed():
    rows = json.loads(invoke("list", "--json").stdout)
    return {(row["name"], row["for"]): row for row in rows}


def test_list_names_the_clinical_sets_beside_the_others():
    rows = listed()
    for name in ("equitymedqa", "diversity_medqa", "zack_nurse", "zack_cases"):
        assert rows[name, "clinical"]["here"] is False
    assert rows["starter", "clinical"]["items"] == "36 vignettes"
    assert rows["starter", "flex"]["here"] is True
    assert rows["own", "clinical"]["licence"] == "yours"
    assert "all rights reserved" in rows["zack_nurse", "clinical"]["licence"]
    assert "zack_cases" in invoke("list").stdout


def test_a_set_of_which_one_file_is_lacking_is_not_here(tmp_path):
    kept = tmp_path / "cache" / "zack_vignettes"
    kept.mkdir(parents=True)
    (kept / "ED_cases.csv").write_text("title,Case one liner,DDx\n")
    assert listed()["zack_cases", "clinical"]["here"] is False


def test_a_set_without_an_address_says_how_it_comes_here():
    error = invoke("get", "zack_nurse").exception
    assert isinstance(error, ConfigError)
    assert "--from FOLDER" in str(error)
    assert "--data zack_nurse=FOLDER" in str(error)


@pytest.mark.parametrize("name", ["mine.csv", "mine.jsonl"])
def test_a_clinical_template_is_written_checked_and_counted(name, tmp_path):
    file = tmp_path / name
    written = invoke("template", file, "--for", "clinical")
    assert written.exit_code == 0
    assert "--for clinical" in written.stdout
    assert "text *:" in written.stdout
    for command in (("check", file), ("check", file, "--for", "clinical")):
        result = invoke(*command, "--json")
        assert result.exit_code == 0
        counted = json.loads(result.stdout)
        assert (counted["vignettes"], counted["problems"]) == (2, [])
        assert counted["relevance"]["gender"]["relevant"] == 2
    assert "with must not miss" in invoke("check", file).stdout


def test_the_template_of_items_stays_the_default(tmp_path):
    file = tmp_path / "items.csv"
    assert invoke("template", file).exit_code == 0
    assert "option_a" in file.read_text()
    assert json.loads(invoke("check", file, "--json").stdout)["items"] == 1


def test_check_of_a_plain_text_counts_its_paragraphs(tmp_path):
    file = tmp_path / "ward.txt"
    file.write_text("A man coughs.\n\nA woman sneezes.\n")
    assert json.loads(invoke("check", file, "--json").stdout)["vignettes"] == 2


def test_check_exits_with_1_when_a_case_cannot_be_used_and_names_it(tmp_path):
    file = tmp_path / "mine.jsonl"
    file.write_text('{"id": "x", "text": ""}\n{"id": "y", "text": "A man coughs."}\n')
    result = invoke("check", file)
    assert result.exit_code == 1
    assert "mine.jsonl:1: record 'x': field 'text': is empty" in result.stdout
    assert invoke("check", file, "--lenient").exit_code == 0


def test_check_prints_likely_slips_of_attributes_and_levels_and_goes_on(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text(
        "text,relevance,impossible\nA man coughs.,sex=not_relevant,gender=man\n", encoding="utf-8"
    )
    result = invoke("check", file, "--for", "clinical")
    assert result.exit_code == 0
    assert "notes: 2" in result.stdout
    assert "mine.csv:2: record 'case-1': field 'relevance': names the attribute" in result.stdout
    assert "Did you mean 'gender'?" in result.stdout
    assert "Did you mean 'male'?" in result.stdout


def test_check_of_the_starter_sets_tells_them_apart():
    clinical = json.loads(invoke("check", "starter", "--for", "clinical", "--json").stdout)
    assert clinical["vignettes"] == clinical["with_triplets"] == 36
    assert clinical["problems"] == []
    assert "items" in json.loads(invoke("check", "starter", "--json").stdout)


def test_check_reads_a_clinical_set_by_its_name_from_a_folder(tmp_path):
    with (tmp_path / "diversity_med_qa_extracted.csv").open("w", newline="") as out:
        csv.writer(out).writerows(
            [
                ("male_sentence", "female_sentence", "options", "correct_option"),
                ("A man coughs.", "A woman coughs.", "['Flu', 'Cold']", "1"),
            ]
        )
    result = invoke("check", "diversity_medqa", "--from", tmp_path, "--json")
    counted = json.loads(result.stdout)
    assert (counted["vignettes"], counted["given_twins"], counted["with_answer"]) == (1, 2, 1)
    assert [problem["kind"] for problem in counted["problems"]] == ["note"]
    assert "may matter" in invoke("check", "diversity_medqa", "--from", tmp_path).stdout


@pytest.mark.skipif("ASKEW_DATA" not in os.environ, reason="ASKEW_DATA is not set")
def test_get_takes_published_files_from_a_folder_into_the_cache():
    data_folder = os.environ["ASKEW_DATA"]
    for name in ("equitymedqa", "diversity_medqa", "zack_nurse", "zack_cases"):
        assert invoke("get", name, "--from", data_folder).exit_code == 0
        assert listed()[name, "clinical"]["here"] is True
        assert json.loads(invoke("check", name, "--json").stdout)["vignettes"] > 20
