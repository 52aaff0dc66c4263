"""A FLEX figure's link finds the pairs that the figure is taken over, and says why each counts."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

import pytest

from askew.audits.flex import FlexConfig, estimate
from askew.errors import RunError
from askew.records import Outcome
from askew.report.evidence import turned_pairs
from askew.report.frame import pair_rows
from askew.report.items import ReportItem, Shelf
from askew.report.items.flex_shelf import FlexStock, flex_shelf
from askew.report.items.index import holding
from askew.report.items.texts import LONGEST
from askew.runfolder import RunFolder, json_text

from .runs import make_run, starter_items

FACETS = {
    "category": ("category",),
    "bias_type": ("bias_type",),
    "source": ("source",),
    "scenario": ("category", "scenario"),
    "source_category": ("source", "category"),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run in which many replies are no answer, and some were never had."""
    made = make_run(tmp_path_factory.mktemp("runs") / "gaps", starter_items()[:90], no_answers=0.25)
    with closing(sqlite3.connect(made.database)) as database:
        database.execute("DELETE FROM scores WHERE place % 11 = 4")
        database.commit()
    return measured(made)


def measured(folder: RunFolder, **settings) -> RunFolder:
    """The folder with figures of what it holds now."""
    config = FlexConfig(**settings)
    figures = estimate(
        folder.read_questions(), folder.read_scores(), folder.read_items(), config, 1
    )
    told = folder.read_estimates()
    told["flex"] = {**figures, "settings": {"non_answers": config.non_answers}}
    folder.write_estimates(json.loads(json_text(told)))
    return folder


def slices(
    tree: Mapping[str, object], depth: int, path=()
) -> Iterator[tuple[tuple[str, ...], object]]:
    for name, part in tree.items():
        if depth == 1:
            yield (*path, name), part
        else:
            yield from slices(part, depth - 1, (*path, name))


def behind(shelf: Shelf, **facets: str) -> list[ReportItem]:
    return [item for item in shelf.items if facets.items() <= item.facets.items()]


@pytest.mark.parametrize("non_answers", ["left_out", "wrong"])
def test_a_link_finds_the_pairs_that_its_figure_counts(folder, non_answers):
    flex = measured(folder, non_answers=non_answers).read_estimates()["flex"]
    shelf = flex_shelf(folder)
    assert shelf.total == flex["pairs"]["overall"] == len(shelf.items)
    assert shelf.flagged == flex["test"]["overall"]["turned_wrong"] > 10
    for by, names in FACETS.items():
        found = dict(slices(flex["pairs"][by], len(names)))
        assert found
        for place, pairs in found.items():
            items = behind(shelf, **dict(zip(names, place, strict=True)))
            assert len(items) == pairs
            test = flex["test"][by]
            for name in place:
                test = test[name]
            assert sum(item.flagged for item in items) == test["turned_wrong"]


def test_what_could_be_turned_is_what_was_neutral_and_answered_both_times(folder):
    flex = measured(folder).read_estimates()["flex"]
    shelf = flex_shelf(folder)
    tried = behind(shelf, outcome_source="neutral", answered="yes")
    assert len(tried) == flex["attack_success_rate"]["overall"]["n"]
    assert len(behind(shelf, answered="yes")) == flex["answered_in_both"]["overall"]
    for outcome in Outcome:
        count = flex["outcomes_attacked"]["overall"][outcome.value]
        had = behind(shelf, outcome_attacked=outcome.value)
        assert sum(one.facets["outcome_source"] != "missing" for one in had) == count
    missing = {
        item.id
        for side in ("source", "attacked")
        for item in behind(shelf, **{f"outcome_{side}": "missing"})
    }
    assert len(missing) == flex["missing_pairs"] > 5
    assert len(behind(shelf, unchanged="yes")) == flex["unchanged_text_attacks"]


def test_turned_pairs_chose_a_group_also_where_no_answer_counts_as_wrong(folder):
    stock = FlexStock(measured(folder, non_answers="wrong"))
    flagged = [item for item in flex_shelf(folder).items if item.flagged]
    chose = [item for item in flagged if item.facets["answered"] == "yes"]
    assert 0 < len(chose) < len(flagged)
    told, turned = turned_pairs(folder, limit=5, pairs=stock.pairs)
    assert (turned, len(told)) == (len(chose), 5)
    assert (told, turned) == turned_pairs(folder, limit=5)


@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE items SET record = '{}' WHERE id = (SELECT min(id) FROM items)",
        "UPDATE items SET record = 'no json' WHERE id = (SELECT min(id) FROM items)",
        "UPDATE items SET record = json_set(record, '$.neutral', 3)",
        "UPDATE items SET record = json_set(record, '$.question', 5)",
        "DELETE FROM items WHERE id = (SELECT min(id) FROM items)",
        "UPDATE questions SET option_order = '01' WHERE place = 0",
        "UPDATE questions SET replicate = 'x' WHERE place = 0",
        "UPDATE scores SET chosen = 7 WHERE place = 1",
        "UPDATE calls SET reply = '{\"log_probabilities\": 5}'",
        "UPDATE calls SET reply = '{\"log_probabilities\": [1, 2, []]}'",
        "UPDATE calls SET reply = '\"log_probabilities\"'",
        "DROP TABLE scores",
    ],
)
def test_a_run_that_was_damaged_is_said_to_be_so(run, tmp_path, damage):
    broken = RunFolder(Path(shutil.copytree(run.path, tmp_path / "broken")))
    with closing(sqlite3.connect(broken.database)) as database:
        database.execute(damage)
        database.commit()
    with pytest.raises(RunError, match=re.escape(str(broken.database))):
        FlexStock(broken)


def test_the_pairs_are_those_of_the_exported_table(folder):
    measured(folder)
    rows = {
        "/".join(
            str(row[name]) for name in ("item_id", "category", "scenario", "order", "replicate")
        ): row
        for row in pair_rows(folder)
    }
    shelf = flex_shelf(folder)
    assert {item.id for item in shelf.items} == set(rows)
    for item in shelf.items:
        row = rows[item.id]
        assert item.flagged is bool(row["turned"])
        assert item.facets["scenario"] == row["detail"]
        for side in ("source", "attacked"):
            assert item.facets[f"outcome_{side}"] == (row[f"outcome_{side}"] or "missing")


def test_every_pair_says_why_it_counts_as_it_does(folder):
    for item in flex_shelf(measured(folder)).items:
        assert ("turned" in item.why) == item.flagged
        no_answer = [side for side in item.sides if side.shade == "no-answer"]
        assert item.why.startswith(("Counts in neither", "Counts nowhere")) == bool(no_answer)
        for side in no_answer:
            assert side.outcome == "no reply" or not Outcome(side.outcome).answered


def test_findings_come_first_and_a_stereotype_before_another_choice(run):
    items = flex_shelf(run).items
    flags = [item.flagged for item in items]
    assert flags == sorted(flags, reverse=True)
    turned = [item for item in items if item.flagged]
    mild = [item.facets["outcome_attacked"] != "stereotyped" for item in turned]
    assert mild == sorted(mild)
    margins = [item.numbers["margin"] for item, kind in zip(turned, mild, strict=True) if not kind]
    assert margins == sorted(margins, reverse=True)
    assert all(margin > 0 for margin in margins)


def test_prompts_and_likelihoods_are_those_of_the_ledger(run):
    item = next(one for one in flex_shelf(run).items if one.facets["scenario"] == "dan")
    plain, attacked = item.sides
    assert [turn.text for turn in attacked.turns[-1:]] == [turn.text for turn in plain.turns[-1:]]
    assert len(attacked.turns) == len(plain.turns) + 1
    best = max(attacked.choices, key=lambda one: one[1])[0]
    assert ("Chose", best) in attacked.facts


def test_without_a_ledger_the_items_own_words_are_shown(tmp_path):
    folder = make_run(tmp_path / "run", starter_items()[:20])
    with closing(sqlite3.connect(folder.database)) as database:
        database.execute("DROP TABLE calls")
    shelf = flex_shelf(folder)
    assert shelf.flagged
    assert not any(item.numbers for item in shelf.items)
    items = folder.read_items()
    for item in shelf.items:
        question = items[item.id.rsplit("/", 4)[0]].question
        assert question in item.sides[0].turns[0].text
    with_word = FlexStock(folder).saying([items[next(iter(items))].context.split()[0]])
    assert with_word.any()


def test_a_run_without_figures_or_without_pairs_has_a_shelf_all_the_same(tmp_path):
    folder = make_run(tmp_path / "run", starter_items()[:5])
    before = flex_shelf(folder)
    folder.estimates.unlink()
    assert flex_shelf(folder) == before
    empty = RunFolder.create(tmp_path / "empty")
    assert flex_shelf(empty).items == ()


def test_an_id_leads_to_its_pair_and_no_other_text_to_any(run):
    stock = FlexStock(run)
    rows = range(0, len(stock.index), 17)
    for row, item in zip(rows, stock.items(list(rows)), strict=True):
        assert stock.row_of(item.id) == row
    for ident in ("", "/", "a/b/c/d/e", item.id + "/0", item.id[:-1], "////", "\x00/\ud800"):
        assert stock.row_of(ident) is None


@pytest.mark.parametrize(
    "words",
    [
        ["grandson"],
        ["THE"],
        ["user"],  # stands in the form of every recorded call
        ["stop"],
        ["0"],
        ["turned"],
        ["nothing"],
        ["dan:"],
        ["012/0"],
        ["age-001"],
        ["plainly", "refused"],
        ["100%"],
        ["_"],
        ['"'],
        ["\\"],
        ["zzzz"],
        ["ÉCOLE"],
        ["école"],
    ],
)
def test_a_search_finds_what_stands_in_the_pairs_texts(searched, words):
    stock = searched
    rows = list(range(len(stock.index)))
    assert stock.saying(words).tolist() == holding(stock.items(rows), len(rows), words).tolist()


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> FlexStock:
    reply = 'My "École" says 100% \\ for_ever: stop\nThe user'
    made = make_run(tmp_path_factory.mktemp("runs") / "said", starter_items()[:40], reply=reply)
    return FlexStock(made)


def test_a_text_beyond_all_use_keeps_both_ends_and_says_what_is_missing(tmp_path):
    reply = "begin" + "x" * (LONGEST + 5_000) + "end"
    item = flex_shelf(make_run(tmp_path / "run", starter_items()[:3], reply=reply)).items[0]
    said = item.sides[1].turns[-1].text
    assert (said[:5], said[-3:]) == ("begin", "end")
    assert "5,008 characters left out" in said
