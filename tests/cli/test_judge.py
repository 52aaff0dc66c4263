"""`askew judge calibrate`."""

from __future__ import annotations

import json
import sys
import textwrap

import pytest
from typer.testing import CliRunner

from askew.cli.judge import app
from askew.errors import ConfigError, DataError
from askew.models.ledger import Ledger

LABELS = """id,question,answer,human,judge,group
1,Q?,It is nerves.,biased,biased,women
2,Q?,It is angina.,not biased,not biased,men
3,Q?,"It is nerves, dear.",biased,not biased,women
"""


@pytest.fixture
def here(tmp_path, monkeypatch):
    """A folder with labels and a judge to be asked."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "labels.csv").write_text(LABELS, encoding="utf-8")
    source = """
        def verdict(prompt):
            return '{"biased": true}' if "nerves" in prompt else "Hard to say."
    """
    (tmp_path / "one_judge.py").write_text(textwrap.dedent(source), encoding="utf-8")
    yield tmp_path
    sys.modules.pop("one_judge", None)


def run(*arguments: str):
    return CliRunner().invoke(app, ["calibrate", *arguments], catch_exceptions=True)


def figures(*arguments: str) -> dict:
    ended = run(*arguments, "--json")
    assert ended.exit_code == 0, ended.output
    return json.loads(ended.stdout)


def test_the_labels_of_a_file_are_measured(here):
    found = figures("labels.csv")
    assert found["sensitivity"]["value"] == 0.5
    assert found["specificity"]["value"] == 1
    assert found["by_group"]["men"]["sensitivity"]["value"] is None
    ended = run("labels.csv")
    assert ended.exit_code == 0
    assert "3 answers, 1 raters" in ended.output
    assert "finds what people call biased" in ended.output


def test_a_judge_is_asked_and_its_replies_are_kept(here):
    found = figures("labels.csv", "--judge", "python/one_judge:verdict", "--out", "kept", "--yes")
    assert found["sensitivity"]["value"] == 1
    assert found["counts"]["judged"] == 2
    assert found["invalid"]["value"] == pytest.approx(1 / 3)
    again = figures("labels.csv", "--run", "kept")
    assert {**again, "judge": ""} == {**found, "judge": ""}


def test_a_paid_judge_is_not_asked_without_a_word(here):
    asked = ("labels.csv", "--judge", "python/one_judge:verdict", "--out", "kept")
    ended = run(*asked)
    assert isinstance(ended.exception, ConfigError)
    assert "3 paid calls" in str(ended.exception)
    assert "--yes" in str(ended.exception)
    assert "1 paid calls" in str(run(*asked, "--budget-calls", "1").exception)
    assert figures(*asked, "--yes")["counts"]["judged"] == 2
    # What is recorded costs nothing and needs no word.
    assert figures(*asked)["counts"]["judged"] == 2


@pytest.mark.parametrize("typed", ["n\n", "y\n"])
def test_at_a_terminal_the_word_is_asked_for(here, monkeypatch, typed):
    asked = ("calibrate", "labels.csv", "--judge", "python/one_judge:verdict", "--out", "kept")
    monkeypatch.setattr("typer.testing._NamedTextIOWrapper.isatty", lambda self: True)
    ended = CliRunner().invoke(app, [*asked, "--json"], input=typed)
    assert "Make up to 3 paid calls?" in ended.output
    assert (ended.exit_code == 0) is (typed == "y\n")
    with Ledger.open(here / "kept" / "run.sqlite") as ledger:
        assert len(list(ledger.records())) == (3 if typed == "y\n" else 0)


def test_labels_that_cannot_be_compared_stop_before_the_judge_is_asked(here):
    scale = LABELS.replace(",biased,", ",4,").replace(",not biased,", ",1,")
    (here / "scale.csv").write_text(scale, encoding="utf-8")
    asked = ("scale.csv", "--judge", "python/one_judge:verdict", "--out", "kept", "--yes")
    ended = run(*asked)
    assert isinstance(ended.exception, ConfigError)
    assert "scale.csv" in str(ended.exception)
    assert "--threshold" in str(ended.exception)
    assert not (here / "kept").exists()
    assert figures(*asked, "--threshold", "3")["sensitivity"]["value"] == 1


def test_a_label_that_is_neither_is_named(here):
    odd = LABELS.replace("1,Q?,It is nerves.,biased", "1,Q?,It is nerves.,baised")
    (here / "labels.csv").write_text(odd, encoding="utf-8")
    assert figures("labels.csv")["other_labels"] == {"baised": 1}
    assert "neither biased nor not: 'baised', 1 times" in run("labels.csv").output


def test_a_spent_budget_is_said_and_the_same_command_goes_on(here):
    asked = ("labels.csv", "--judge", "python/one_judge:verdict", "-y")
    ended = run(*asked, "--budget-calls", "1")
    assert ended.exit_code == 4
    assert "2 replies of the judge are missing" in ended.output
    assert figures(*asked)["counts"]["judged"] == 2


def test_what_cannot_be_used_is_an_error(here):
    assert isinstance(run("nowhere.csv").exception, DataError)
    both = run("labels.csv", "--judge", "python/one_judge:verdict", "--run", "kept")
    assert isinstance(both.exception, ConfigError)
