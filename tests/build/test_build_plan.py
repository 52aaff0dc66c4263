"""A plan bounds what a build then asks, and is quick for a source of any size."""

from __future__ import annotations

import time

import pytest

from askew.build.flex import execute, prepare
from askew.build.plan import plan, timed
from askew.build.settings import checked
from tests.build.planted import Planted, build_file, by_hash
from tests.models.servers import FaultServer
from tests.prompts.items import data_folder


@pytest.mark.parametrize("rotations", ["one", "all"])
@pytest.mark.parametrize("handler", [by_hash, Planted(), Planted(plain=10), Planted(dude=10)])
async def test_a_build_asks_no_more_and_no_less_than_its_plan_says(tmp_path, rotations, handler):
    with FaultServer(handler) as server:
        file = build_file(server, tmp_path / "set", rotations=rotations, items=3)
        planned = plan(prepare(file))
        built = await execute(prepare(file))
        calls = built.report["calls"]
        assert planned.calls_at_least <= calls["asked"] <= planned.calls_at_most
        tokens = calls["roles"]["target"]["tokens"]
        assert tokens <= planned.prompt_tokens + planned.completion_tokens_at_most
        assert plan(prepare(file)).made == calls["asked"]


async def test_the_time_of_a_paid_plan_is_assumed_and_named(tmp_path):
    with FaultServer(Planted()) as server:
        prepared = prepare(build_file(server, tmp_path / "set"))
        planned = await timed(prepared, plan(prepared))
        assert not server.seen
    assert planned.seconds == planned.calls_at_most / 16
    assert planned.seconds_basis == "if a reply takes 1 s, 16 at a time"


def test_money_is_the_price_of_the_most_calls(tmp_path):
    prices = tmp_path / "prices.toml"
    prices.write_text(
        '[[model]]\nname = "openai/toy"\ninput_per_million = 2\noutput_per_million = 4\n'
        'date = 2026-01-01\nsource = "made up"\n'
    )
    with FaultServer(Planted()) as server:
        planned = plan(prepare(build_file(server, tmp_path / "set", prices=str(prices))))
    expected = (planned.prompt_tokens * 2 + planned.completion_tokens_at_most * 4) / 1e6
    assert planned.money_at_most == pytest.approx(expected)


@pytest.mark.slow
def test_a_plan_for_all_of_bbq_makes_no_prompts_of_it(tmp_path):
    source = {"name": "bbq", "path": str(data_folder() / "bbq")}
    target = {"name": "openai/toy", "base_url": "http://127.0.0.1:9/v1"}
    file = checked(
        {
            "out": str(tmp_path / "set"),
            "models": {"target": target},
            "build": {"sources": [source]},
        }
    )
    prepared = prepare(file)  # reads the source
    began = time.process_time()
    planned = plan(prepared)
    assert time.process_time() - began < 2
    assert planned.items == 29_246
    assert planned.calls_as_the_paper == 29_246 + 5 * planned.scenarios
    assert planned.calls_as_the_paper > 2_000_000
