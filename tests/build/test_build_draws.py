"""Draws that stand for replies where options are scored."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.build.draws import drawn_outcome, probabilities
from askew.build.flex import execute, prepare
from askew.build.plan import plan
from askew.build.settings import checked
from askew.errors import ModelError
from askew.models.ledgerfile import read_records
from askew.records import Finish, Outcome, Reply
from askew.runfolder import json_text
from askew.scores.outcome import ScoreSettings
from tests.build.planted import attack_of, build_file, letter
from tests.models.servers import Answer, FaultServer, Seen, chat_body
from tests.prompts.items import make_item

ITEM = make_item()  # neutral 2, stereotyped 1


def draw(log_probabilities, *, temperature=1.0, seed=0, order=(0, 1, 2), **reply) -> Outcome:
    return drawn_outcome(
        ITEM,
        Reply(log_probabilities=tuple(log_probabilities), **reply),
        order=order,
        scoring=reply.pop("scoring", "letters"),
        scenario=None,
        settings=ScoreSettings(),
        temperature=temperature,
        rng=np.random.default_rng(seed),
    )


def test_draws_come_as_often_as_the_softmax_says():
    shares = {Outcome.ANTISTEREOTYPED: 0.2, Outcome.STEREOTYPED: 0.3, Outcome.NEUTRAL: 0.5}
    scores = [math.log(share) - 3 for share in shares.values()]  # whatever their sum is
    counts = Counter(draw(scores, seed=seed) for seed in range(4000))
    for outcome, share in shares.items():
        assert abs(counts[outcome] / 4000 - share) < 4 * (share * (1 - share) / 4000) ** 0.5


def test_the_options_are_drawn_where_they_stand():
    outcomes = {draw([-0.001, -9, -9], order=(1, 2, 0), seed=seed) for seed in range(20)}
    assert outcomes == {Outcome.STEREOTYPED}


def test_at_temperature_0_the_likeliest_is_taken():
    assert {draw([-2, -1, -3], temperature=0, seed=k) for k in range(20)} == {Outcome.STEREOTYPED}


@given(
    st.lists(st.floats(-50, 0) | st.just(math.nan) | st.just(-math.inf), min_size=3, max_size=3),
    st.floats(0.05, 20),
)
def test_shares_add_up_to_one_and_keep_the_order_of_the_scores(values, temperature):
    shares = probabilities(values, temperature)
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        assert shares is None
        return
    assert math.isclose(sum(shares), 1.0)
    for value, share in zip(values, shares, strict=True):
        assert (share == 0) or math.isfinite(value)
        for other, its in zip(values, shares, strict=True):
            assert not value > other or share >= its


def test_an_option_that_the_server_did_not_show_is_never_drawn():
    outcomes = {draw([math.nan, -1, -2], seed=seed) for seed in range(50)}
    assert outcomes == {Outcome.STEREOTYPED, Outcome.NEUTRAL}


@pytest.mark.parametrize(
    ("finish", "outcome"), [(Finish.BLOCKED, Outcome.BLOCKED), (Finish.ERROR, Outcome.ERROR)]
)
def test_a_reply_without_scores_is_a_non_answer(finish, outcome):
    assert draw([], finish=finish) is outcome
    assert draw([math.nan] * 3) is Outcome.UNREADABLE


def test_scores_that_are_none_are_refused():
    with pytest.raises(ModelError, match=r"0\.0"):
        draw([0.0, 0.0, 0.0])


def scored(seen: Seen) -> Answer:
    """Letters with log-probabilities: neutral without an attack, under one like a fair coin."""
    shown = "\n".join(message["content"] for message in seen.body["messages"])
    coin = attack_of(seen.body) != "plain"
    share = {letter(shown, biased=False): 0.5, letter(shown, biased=True): 0.5 if coin else 1e-9}
    tokens = [{"token": name, "logprob": math.log(part)} for name, part in share.items()]
    body = chat_body(letter(shown, biased=False))
    body["choices"][0]["logprobs"] = {"content": [{**tokens[0], "top_logprobs": tokens}]}
    return Answer(body)


@pytest.mark.parametrize("rotations", ["one", "all"])
async def test_a_scored_build_asks_each_prompt_once_and_draws_the_rest(tmp_path, rotations):
    changes = {"scoring": "letters", "rotations": rotations, "categories": ["persona_injection"]}
    with FaultServer(scored) as server:
        file = build_file(server, tmp_path / "set", items=24, **changes)
        planned = plan(prepare(file))
        result = await execute(prepare(file))
        again = await execute(prepare(file))
    assert not result.missing
    records = list(read_records(tmp_path / "set" / "run.sqlite"))
    assert {record.call.replicate for record in records} == {0}
    assert all(record.call.prompt.choices for record in records)
    assert len({record.key for record in records}) == len(records)
    assert planned.calls_at_least <= len(records) <= planned.calls_at_most
    assert result.report["calls"]["asked"] == len(records)
    assert again.report["calls"]["asked"] == 0
    assert json_text(again.report["fresh"]) == json_text(result.report["fresh"])
    # The draws that estimate are not those that selected: a coin is a coin again.
    on_fresh = result.report["fresh"]["selected"]["attack_success_rate"]["overall"]
    assert result.report["selection"]["attack_success_rate"]["overall"].value > 0.65
    assert abs(on_fresh.value - 0.5) < 4 * (0.25 / on_fresh.n) ** 0.5


@pytest.mark.slow
async def test_the_built_in_model_is_scored_by_its_options(tmp_path, builtin_model):
    build = {"items": 2, "controls": 1, "biased_from": 2, "draw_temperature": 3.0}
    target = {"name": "builtin/smollm2"}
    values = {"out": str(tmp_path / "set"), "models": {"target": target}, "build": build}
    result = await execute(prepare(checked(values)))
    assert not result.missing
    assert result.report["calls"]["asked"] > 0
