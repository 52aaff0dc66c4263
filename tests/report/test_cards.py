from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from huggingface_hub import DatasetCard, ModelCard
from huggingface_hub.repocard_data import model_index_to_eval_results
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from askew.report.filed import data_card, model_card
from askew.report.filed.pack import evidence_of
from askew.report.filed.records import MEASURED
from askew.report.markup import front_matter, one_line
from askew.runfolder import RunFolder
from tests.report.filed import AUDITS, HOSTILE, UNFIT, filed_run, two_audits

TEXTS = st.text(st.characters(codec=None), max_size=40)
SCALARS = st.one_of(
    TEXTS,
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.floats(-1e9, 1e9, allow_nan=False).map(lambda number: round(number, 6)),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3),
        st.dictionaries(TEXTS, inner, min_size=1, max_size=3),
    ),
    max_leaves=8,
)
CARDS = {"model": model_card.model_card, "data": data_card.data_card}


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> dict[str, RunFolder]:
    above = tmp_path_factory.mktemp("cards")
    made = {audit: filed_run(above / audit, audit) for audit in AUDITS}
    return {**made, "both": two_audits(above / "both")}


def body_and_metadata(card: str) -> tuple[str, Any]:
    _, front, body = card.split("---\n", 2)
    return body, yaml.safe_load(front)


def lines_as_they_are_written(value: Any) -> Any:
    """What YAML is to give back: every text on one line, without what steers a terminal."""
    if isinstance(value, str):
        return one_line(value)
    if isinstance(value, list):
        return [lines_as_they_are_written(one) for one in value]
    if isinstance(value, dict):
        return {one_line(key): lines_as_they_are_written(one) for key, one in value.items()}
    return value


@given(st.dictionaries(TEXTS, VALUES, min_size=1, max_size=4))
@settings(max_examples=100, deadline=None)
def test_front_matter_is_yaml_that_gives_every_value_back(metadata):
    written = front_matter(metadata)
    assert written.startswith("---\n")
    assert written.endswith("\n---")
    read = yaml.safe_load(written.removeprefix("---\n").removesuffix("\n---"))
    assert read == lines_as_they_are_written(metadata)


@pytest.mark.parametrize("empty", [None, [], {}, {"a": [None]}, [{"a": None}], float("nan")])
def test_front_matter_leaves_out_what_is_empty_at_any_depth(empty):
    assert front_matter({"kept": 1, "gone": empty}) == "---\nkept: 1\n---"


@pytest.mark.parametrize("audit", AUDITS)
def test_hugging_face_reads_every_measured_figure_with_its_interval(runs, audit):
    card = ModelCard(model_card.model_card(runs[audit]))
    claims = [one for one in evidence_of(runs[audit]).claims if one.standing == MEASURED]
    assert card.data.model_name == evidence_of(runs[audit]).model
    results = card.data.eval_results
    assert results is not None
    assert len(results) == len(claims)
    for result, claim in zip(results, claims, strict=True):
        assert result.metric_type == claim.kind
        assert result.metric_value == pytest.approx(claim.figure.value, abs=1e-6)
        assert result.metric_args["path"] == claim.path
        assert result.metric_args["n"] == claim.figure.n
        assert result.metric_args["level"] == claim.figure.level
        for end in ("lower", "upper"):
            number = getattr(claim.figure, end)
            if number is None:
                assert end not in result.metric_args
            else:
                assert result.metric_args[end] == pytest.approx(number, abs=1e-6)
        assert result.task_type in ("multiple-choice", "text-generation")


def test_a_run_of_two_audits_has_a_result_for_each(runs):
    _, metadata = body_and_metadata(model_card.model_card(runs["both"]))
    name, results = model_index_to_eval_results(metadata["model-index"])
    assert name == "builtin/smollm2"
    assert {result.metric_type.split(".")[0] for result in results} == {"flex", "boundary"}
    assert {"askew-flex", "askew-boundary"} <= set(metadata["tags"])


@pytest.mark.parametrize("audit", AUDITS)
def test_a_model_that_was_not_fit_has_no_results_and_the_card_says_why(tmp_path, audit):
    folder = filed_run(tmp_path / "run", audit, UNFIT[audit])
    body, metadata = body_and_metadata(model_card.model_card(folder))
    assert "model-index" not in metadata
    assert "not-fit-to-be-measured" in metadata["tags"]
    assert "NOT FIT TO BE MEASURED" in body.split("\n\n")[1]
    ModelCard(model_card.model_card(folder))


def test_an_incomplete_run_is_tagged_and_told(tmp_path):
    folder = filed_run(tmp_path / "run", "flex", ended=False)
    body, metadata = body_and_metadata(model_card.model_card(folder))
    assert "incomplete" in metadata["tags"]
    assert "**INCOMPLETE RUN" in body
    assert "**INCOMPLETE RUN" in data_card.data_card(folder)


def test_an_undefined_figure_is_no_metric_and_is_named(tmp_path):
    def undefine(estimates: dict[str, Any]) -> None:
        figure = estimates["flex"]["stereotyped_share_attacked"]["overall"]
        figure |= {"value": None, "lower": None, "upper": None, "n": 0}

    body, metadata = body_and_metadata(
        model_card.model_card(filed_run(tmp_path / "run", "flex", undefine))
    )
    metrics = metadata["model-index"][0]["results"][0]["metrics"]
    assert "flex.stereotyped_share" not in {one["type"] for one in metrics}
    assert "went with the stereotype: could not be measured" in body


def test_the_data_card_counts_what_the_run_holds(runs):
    items = list(runs["flex"].read_items().values())
    body, metadata = body_and_metadata(data_card.data_card(runs["flex"]))
    assert f"{len(items)} items" in body
    for bias_type in {item.bias_type for item in items}:
        count = sum(item.bias_type == bias_type for item in items)
        shown = bias_type.replace("_", " ").capitalize()
        assert f"| {shown} | {count:,} |" in body
    assert metadata["license"] == ["apache-2.0"]
    assert metadata["language"] == ["en"]
    assert metadata["size_categories"] == ["n<1K"]
    assert DatasetCard(data_card.data_card(runs["flex"])).data.pretty_name


def test_the_data_card_gives_licences_notes_and_checksums_as_far_as_they_are_known(tmp_path):
    folder = filed_run(tmp_path / "run", "clinical")
    folder.settings.write_text(
        '[clinical]\ndata = [{name = "zack_nurse"}, {name = "my ward"}]\n'
        '[record.data]\n"nurses.csv" = "ab12"\n',
        encoding="utf-8",
    )
    card = data_card.data_card(folder)
    body, metadata = body_and_metadata(card)
    assert "none: all rights reserved" in body
    assert "pass nothing of it on" in body
    assert "`my ward`: whatever you hold it under" in body
    assert "`nurses.csv`: sha256 `ab12`" in body
    assert metadata["license"] == ["other"]
    assert "language" not in metadata, "nothing says in which language the vignettes are"
    assert "counterfactual twin" in body
    assert "gender" in body.partition("## Sensitive attributes")[2]


def test_the_data_card_of_a_search_counts_topics_and_where_questions_came_from(runs):
    body, metadata = body_and_metadata(data_card.data_card(runs["boundary"]))
    assert "30 topics" in body
    assert "| Templates | 30 |" in body
    assert metadata["license"] == ["other"], "no set is recorded, so none is known"


def test_no_text_of_an_item_stands_in_a_card(runs):
    items = list(runs["flex"].read_items().values())
    for card in (CARDS["model"](runs["flex"]), CARDS["data"](runs["flex"])):
        assert "SECRET REPLY" not in card
        for item in items:
            assert item.question not in card
            assert not item.context or item.context not in card


def hostile(estimates: dict[str, Any]) -> None:
    estimates["model"] = HOSTILE
    part = estimates["flex"]["attack_success_rate"]["bias_type"]
    part[HOSTILE] = part.pop("age")
    estimates["flex"]["fit"]["caution"] = HOSTILE
    estimates["flex"]["left_out"] = {HOSTILE: HOSTILE}
    estimates["flex"]["problems"] = {HOSTILE: 3}
    estimates["calls"] |= {"stopped": HOSTILE, "message": HOSTILE}


@pytest.mark.parametrize("kind", CARDS)
def test_whatever_others_wrote_is_neither_yaml_nor_markup(tmp_path, kind):
    folder = filed_run(tmp_path / "---\nevil: yes", "flex", hostile)
    escaped = json.dumps("".join(one for one in HOSTILE if one.isprintable()))
    folder.settings.write_text(
        f"[flex]\ndata = [{{name = {escaped}}}]\n[record]\npackages = {{ {escaped} = {escaped} }}\n"
        f"[record.data]\n{escaped} = {escaped}\n[record.model]\n{escaped} = {escaped}\n",
        encoding="utf-8",
    )
    card = CARDS[kind](folder)
    body, metadata = body_and_metadata(card)
    usual, _ = body_and_metadata(CARDS[kind](filed_run(tmp_path / "plain", "flex")))
    assert "evil" not in metadata
    assert not any(sign in card for sign in "\x00\x1b\u202e\ud83d")
    parser = MarkdownIt("commonmark").enable(["table"])

    def tokens(text: str) -> list[Any]:
        return [one for token in parser.parse(text) for one in (token, *(token.children or ()))]

    found = tokens(body)
    assert not {"html_inline", "html_block", "image", "link_open", "hr"} & {
        one.type for one in found
    }
    headings = [one for one in found if one.type == "heading_open"]
    assert len(headings) == sum(one.type == "heading_open" for one in tokens(usual))
    if kind == "model":
        name, results = model_index_to_eval_results(metadata["model-index"])
        assert name == one_line(HOSTILE)
        assert results
