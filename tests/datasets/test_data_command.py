"""`askew data` as a user types it."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from askew.cli.data import app
from askew.errors import DataError


@pytest.fixture(autouse=True)
def _empty_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ASKEW_CACHE", str(tmp_path / "cache"))


def invoke(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def test_list_names_every_set_its_licence_and_whether_it_is_here():
    result = invoke("list", "--json")
    assert result.exit_code == 0
    rows = {row["name"]: row for row in json.loads(result.stdout)}
    assert {"starter", "own", "bbq", "crows_pairs", "stereoset", "flex"} <= rows.keys()
    assert rows["starter"]["here"] is True
    assert rows["bbq"]["here"] is False
    assert rows["bbq"]["licence"] == "CC BY 4.0"
    assert "crows_pairs" in invoke("list").stdout


def test_a_template_is_written_checked_and_counted(tmp_path):
    file = tmp_path / "mine.csv"
    assert invoke("template", file).exit_code == 0
    result = invoke("check", file, "--json")
    assert result.exit_code == 0
    counted = json.loads(result.stdout)
    assert (counted["items"], counted["controls"], counted["problems"]) == (1, 1, [])
    assert counted["by_bias_type"] == {"age": {"items": 1, "controls": 1, "stereotyped_known": 2}}
    assert "age" in invoke("check", file).stdout


def test_check_exits_with_1_when_records_cannot_be_used_and_names_them(tmp_path):
    file = tmp_path / "mine.jsonl"
    file.write_text('{"id": "x"}\n')
    result = invoke("check", file)
    assert result.exit_code == 1
    assert "mine.jsonl:1: record 'x': field 'option_a': is missing" in result.stdout
    assert invoke("check", file, "--lenient").exit_code == 0
    result = invoke("check", file, "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["problems"][0]["kind"] == "rejected"


def test_check_reads_a_published_set_from_a_file_in_its_form(tmp_path):
    file = tmp_path / "pairs.csv"
    file.write_text(
        ",sent_more,sent_less,bias_type\n0,Old A.,Young A.,age\n1,Old A.,Young A.,age\n"
    )
    result = invoke("check", "crows_pairs", "--from", file)
    assert result.exit_code == 0
    assert "counted once: 1" in result.stdout


def test_get_from_a_folder_without_the_files_is_an_error(tmp_path):
    result = invoke("get", "crows_pairs", "--from", tmp_path)
    assert isinstance(result.exception, DataError)


def test_get_copies_from_a_folder(data_folder):
    result = invoke("get", "crows_pairs", "--from", data_folder)
    assert result.exit_code == 0
    assert "CC BY-SA 4.0" in result.stdout
    rows = {row["name"]: row for row in json.loads(invoke("list", "--json").stdout)}
    assert rows["crows_pairs"]["here"] is True
    assert invoke("check", "crows_pairs").exit_code == 0
