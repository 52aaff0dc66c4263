from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.build.card import card_text
from askew.build.figures import Pair, report_of
from askew.build.release import write_set
from askew.build.statistics import table_4
from askew.records import Outcome
from askew.report.markup import code
from askew.runfolder import json_text
from tests.build.made import clean_rows

HOSTILE = "m`odel <b>|x</b> [a](https://example.org) \n# head\x1b[31m *b* ---\n"


def pairs(rows, turned: int):
    """For each row, ten pairs of which the attack turns so many."""
    return [
        Pair(
            row.item,
            row.scenario,
            (0, 1, 2),
            Outcome.NEUTRAL,
            Outcome.STEREOTYPED if number < turned else Outcome.NEUTRAL,
        )
        for row in rows
        for number in range(10)
    ]


def report(**changes) -> dict[str, object]:
    """A whole build.json, its statistics by the builder's own code."""
    rows = clean_rows()
    chosen = {row.item.id: row.scenario for row in rows}
    funnel = {"items": 20, "not_neutral": 8, "neutral": 12, "with_a_scenario": 6}
    funnel |= {"without_a_scenario": 6, "undecided": 0}
    sources = ("bbq", "crows_pairs", "stereoset", "starter")
    return {
        "askew": "9.9",
        "complete": True,
        "model": "openai/some-model",
        "attacker": "rules",
        "judge": None,
        "embedder": "minilm",
        "seed": 7,
        "settings": {
            "source_replies": 1,
            "replies": 5,
            "biased_from": 3,
            "estimate_replies": 5,
        },
        "sources": {name: {"items": 5} for name in sources},
        "fit": {"meaningful": True, "accuracy": {"value": 0.9, "lower": 0.8, "upper": 1, "n": 80}},
        "funnel": {"overall": funnel, "source": dict.fromkeys(sources, funnel)},
        "text_attacks": {
            "character": {"wanted": 12, "passed": 11, "tries": 14, "rejected": {"unchanged": 3}}
        },
        "table_4": {"selected": table_4(rows), "random": table_4(rows)},
        "calls": {
            "asked": 1234,
            "reused": 5,
            "failed": 0,
            "unknown": 0,
            "roles": {"target": {"calls": 1234, "tokens": 99000, "money": 1.5}},
            "notes": ["temperature left out"],
        },
        "languages": {"en-GB": 5, "de": 1},
        **report_of(pairs(rows, 8), pairs(rows, 5), pairs(rows, 2), chosen, 7),
        **changes,
    }


def test_the_card_says_what_the_set_was_selected_on_and_gives_both_figures():
    text = card_text(report())
    assert "**Selected on `openai/some-model`:" in text
    selecting, fresh, curse, random, _ = next(
        [cell.strip() for cell in line.split("|")[2:-1]]
        for line in text.splitlines()
        if line.startswith("| **all** | 80 %")
    )
    assert (selecting[:4], fresh[:4], curse[:3], random[:4]) == ("80 %", "50 %", "+30", "20 %")
    assert "is fit to be measured. Control questions" in text
    assert "**is not fit" not in text
    for said in (
        "CrowS-Pairs: CC BY-SA 4.0",
        "BBQ: CC BY 4.0",
        "`starter`: Apache-2.0",
        "asked for: 1)",
        "at least 3 are biased",
        "| Character | 12 | 11 | 14 | Unchanged 3 |",
        "not by a judge",
        "by the likeness of sentence vectors (`minilm`)",
        "1,234 calls, 99,000 tokens, 1.50 by the price list",
        "seed `7`",
        "| **Text attack** | 4 | 2 | 1 | – | 1 |",
    ):
        assert said in text


def test_the_card_is_the_same_from_the_report_and_from_its_json():
    whole = report()
    assert card_text(whole) == card_text(json.loads(json_text(whole)))


def test_a_model_that_is_not_fit_is_said_so_in_bold():
    fit = {"meaningful": False, "reason": "it answers at chance", "accuracy": {"value": 0.4}}
    text = card_text(report(fit=fit, cautions=["it leans to the first option"]))
    assert "**`openai/some-model` is not fit to be measured" in text
    assert "it answers at chance" in text
    assert "Caution: `it leans to the first option`" in text


def test_what_is_missing_is_said_not_to_be_measured():
    for part in ({}, {"model": "m", "complete": False}, {"table_4": None, "fresh": 3, "fit": []}):
        text = card_text(part)
        assert "not measured" in text
        assert "$" not in text
        assert "None" not in text
    assert "The build is not complete" in card_text({"complete": False})
    undefined = {"value": None, "lower": None, "upper": None, "n": 0, "note": "nothing was turned"}
    whole = report(selection={"attack_success_rate": {"overall": undefined}})
    assert "– (`nothing was turned`)" in card_text(whole)


def test_hugging_face_reads_the_front_matter():
    hub = pytest.importorskip("huggingface_hub")
    card = hub.DatasetCard(card_text(report()))
    data = card.data.to_dict()
    assert data["license"] == ["apache-2.0", "cc-by-4.0", "cc-by-sa-4.0"]
    assert data["language"] == ["de", "en"]
    assert data["size_categories"] == ["n<1K"]
    assert data["configs"] == [
        {
            "config_name": "selected",
            "data_files": [{"split": "test", "path": "data/selected.parquet"}],
            "default": True,
        },
        {
            "config_name": "random",
            "data_files": [{"split": "test", "path": "data/random.parquet"}],
        },
    ]
    again = hub.DatasetCardData(**data)
    assert again.pretty_name == "FLEX selected on openai/some-model"
    assert card.text.lstrip().startswith("# FLEX")


def test_a_built_folder_is_loaded_by_the_names_in_its_card(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    datasets = pytest.importorskip("datasets")
    folder = tmp_path / "set"
    rows = clean_rows()
    write_set(folder, "selected", rows)
    write_set(folder, "random", rows[:2])
    (folder / "README.md").write_text(card_text(report()), encoding="utf-8")
    sizes = {}
    for name in ("selected", "random"):
        loaded = datasets.load_dataset(str(folder), name, cache_dir=str(tmp_path / "cache"))
        assert list(loaded) == ["test"]
        sizes[name] = loaded["test"].num_rows
    assert sizes == {"selected": 6, "random": 2}
    default = datasets.load_dataset(str(folder), cache_dir=str(tmp_path / "cache"), split="test")
    assert default.num_rows == 6


def kinds_of(text: str) -> set[str]:
    """The kinds of Markdown that a CommonMark parser with tables and links sees in a text."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    tokens = parser.parse(text)
    return {
        token.type
        for block in tokens
        for token in (block, *(block.children or ()))
        if token.type in ("link_open", "html_inline", "html_block", "image", "em_open")
    }


def test_names_that_others_made_are_no_markup_and_break_nothing():
    hub = pytest.importorskip("huggingface_hub")
    hostile = report(
        model=HOSTILE,
        attacker=HOSTILE,
        embedder=HOSTILE,
        judge=HOSTILE,
        sources={HOSTILE: {"items": 1}},
        funnel={"overall": {}, "source": {HOSTILE: {"items": 1}}},
        text_attacks={HOSTILE: {"wanted": 1, "rejected": {HOSTILE: 2}}},
        fit={"meaningful": False, "reason": HOSTILE},
        cautions=[HOSTILE],
        calls={"notes": [HOSTILE], "roles": {HOSTILE: {"calls": 1}}},
        table_4={
            "selected": {
                "all": 1,
                "by_source": {HOSTILE: 1},
                "categories": {
                    "text_attack": {
                        "all": 1,
                        "by_source": {HOSTILE: 1},
                        "details": {HOSTILE: {"all": 1, "by_source": {HOSTILE: 1}}},
                    }
                },
            }
        },
    )
    text = card_text(hostile)
    card = hub.DatasetCard(text)
    assert len(card.data.to_dict()["configs"]) == 2
    assert "\x1b" not in text
    assert kinds_of(card.text) == set()
    head, *rows = [line for line in card.text.splitlines() if line.startswith("| ")]
    assert head
    assert rows


@given(st.text())
@settings(max_examples=200, deadline=None)
def test_a_code_span_holds_whatever_is_put_into_it(text):
    from markdown_it import MarkdownIt

    (block,) = [t for t in MarkdownIt("commonmark").parse(f"a {code(text)} b") if t.children]
    assert [token.type for token in block.children] == ["text", "code_inline", "text"]


def test_the_template_is_part_of_the_package():
    from importlib.resources import files

    assert Path(str(files("askew.build"))).joinpath("card_template.md").is_file()
