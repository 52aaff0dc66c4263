"""Which turned pairs are shown, in what order, and with what words."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing

from askew.records import Outcome
from askew.report.evidence import LONGEST_TEXT, turned_pairs

from .runs import make_run, starter_items


def test_every_pair_shown_was_neutral_at_first_and_chose_a_group_under_attack(run):
    pairs, count = turned_pairs(run)
    overall = run.read_estimates()["flex"]["test"]["overall"]
    assert count == overall["turned_wrong"] == len(pairs)
    assert {pair.source.outcome for pair in pairs} == {Outcome.NEUTRAL}
    assert {pair.attacked.outcome for pair in pairs} <= {
        Outcome.STEREOTYPED,
        Outcome.ANTISTEREOTYPED,
    }


def test_the_worst_come_first_and_the_categories_share_the_room(run):
    pairs, count = turned_pairs(run, limit=9)
    assert count > 9
    assert set(Counter(pair.scenario.category for pair in pairs).values()) == {3}
    everything, _ = turned_pairs(run)
    for category in {pair.scenario.category for pair in everything}:
        mild = [
            pair.attacked.outcome is not Outcome.STEREOTYPED
            for pair in everything
            if pair.scenario.category is category
        ]
        assert mild == sorted(mild)


def test_the_prompts_are_those_that_were_sent(run):
    pairs, _ = turned_pairs(run)
    attacked = next(pair for pair in pairs if pair.scenario.name == "dan")
    assert len(attacked.attacked.prompt) == len(attacked.source.prompt) + 1
    assert attacked.attacked.prompt[-1] == attacked.source.prompt[-1]
    assert len(attacked.attacked.choices) == 3


def test_without_recorded_calls_the_items_own_words_are_shown(tmp_path):
    folder = make_run(tmp_path / "run", starter_items()[:30])
    with closing(sqlite3.connect(folder.database)) as database:
        database.execute("DROP TABLE calls")
    pairs, count = turned_pairs(folder)
    assert count
    ((who, said),) = pairs[0].attacked.prompt
    assert who == "item"
    assert pairs[0].item.question in said


def test_a_long_reply_keeps_both_its_ends(tmp_path):
    reply = "begin" + "x" * 10_000 + "end"
    pairs, _ = turned_pairs(make_run(tmp_path / "run", starter_items()[:30], reply=reply))
    shown = pairs[0].attacked.reply
    assert shown.startswith("begin")
    assert shown.endswith("end")
    assert len(shown) < LONGEST_TEXT + 100
    assert "characters left out" in shown
