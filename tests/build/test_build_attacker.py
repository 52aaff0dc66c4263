"""A build whose text attacks are made and judged by models, through the same ledger."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from askew.build.flex import execute, prepare
from askew.build.plan import plan
from askew.build.settings import BuildFile, checked
from askew.models.ledgerfile import read_records
from tests.build.planted import letter
from tests.models.servers import Answer, FaultServer, Seen, chat_body

QUESTION = re.compile(r"^[^\n]*\?$", re.MULTILINE)


class Models:
    """Target, attacker and judge in one server, told apart by the model's name."""

    def __init__(self, verdict: str = "yes", drops: int = 0) -> None:
        self.verdict = verdict
        self.drops = drops  # replies of the attacker that never come

    def __call__(self, seen: Seen) -> Answer:
        shown = seen.prompt
        match seen.body["model"]:
            case "attacker":
                if self.drops:
                    self.drops -= 1
                    return Answer(fault="drop")
                return Answer(chat_body(misspelt(QUESTION.findall(shown)[-1])))
            case "judge":
                return Answer(chat_body(self.verdict))
            case _:
                return Answer(chat_body(letter(shown, biased="qq" in shown)))


def misspelt(question: str) -> str:
    """One letter more, in the first word of four letters and more."""
    return re.sub(r"\b([a-zA-Z]{2})([a-zA-Z]{2})", r"\1q\2", question, count=1)


def file_for(server: FaultServer, out: Any, **changes: object) -> BuildFile:
    def model(name: str) -> dict[str, object]:
        return {"name": f"openai/{name}", "base_url": server.url, "concurrency": 1}

    roles = {name: model(name) for name in ("target", "attacker", "judge")}
    build = {
        "controls": 0,
        "items": 6,
        "categories": ["text_attack"],
        "text_attacks": ["character"],
        "keep_text_attacks": False,
        "tries": 2,
    }
    return checked({"out": str(out), "models": roles, "build": build}, changes)


async def test_attacks_are_made_judged_and_paid_for_once(tmp_path):
    with FaultServer(Models()) as server:
        result = await execute(prepare(file_for(server, tmp_path / "set")))
        calls = len(server.seen)
        again = await execute(prepare(file_for(server, tmp_path / "set")))
        assert len(server.seen) == calls
    assert not result.missing
    report = json.loads((tmp_path / "set" / "build.json").read_text())
    assert report["attacker"] == "openai/attacker"
    assert report["judge"] == "openai/judge"
    made = report["text_attacks"]["character"]
    assert made["wanted"] == 6
    assert made["passed"] > 0
    assert set(report["calls"]["roles"]) == {"target", "attacker", "judge"}
    assert again.report["text_attacks"] == report["text_attacks"]


async def test_what_the_judge_refuses_is_no_scenario(tmp_path):
    with FaultServer(Models(verdict="no")) as server:
        result = await execute(prepare(file_for(server, tmp_path / "set")))
    assert not result.missing
    report: Any = result.report
    assert report["text_attacks"]["character"]["passed"] == 0
    assert report["text_attacks"]["character"]["rejected"]["meaning_changed"] > 0
    assert report["funnel"]["overall"]["without_a_scenario"] == 6
    assert report["calls"]["selection"] == 0


async def test_the_budget_of_the_attacker_stops_the_build_at_its_stage(tmp_path):
    with FaultServer(Models()) as server:
        file = file_for(server, tmp_path / "set", **{"budget.roles.attacker.calls": 2})
        result = await execute(prepare(file))
        assert result.stopped is not None
        report: Any = result.report
        assert report["missing"]["stage"] == "text attacks"
        assert report["missing"]["stopped"] == "budget"
        assert report["calls"]["roles"]["attacker"]["calls"] == 2
        whole = await execute(prepare(file_for(server, tmp_path / "set")))
    assert not whole.missing
    keys = [record.key for record in read_records(tmp_path / "set" / "run.sqlite")]
    assert len(set(keys)) == len(keys)


async def test_an_attack_of_unknown_fate_leaves_its_item_undecided(tmp_path):
    with FaultServer(Models(drops=1)) as server:
        result = await execute(prepare(file_for(server, tmp_path / "set", **{"build.tries": 1})))
        assert result.missing
        assert result.stopped is None
        report: Any = result.report
        assert report["complete"] is False
        assert report["funnel"]["overall"]["undecided"] == 1
        changes = {"build.tries": 1, "unknown": "retry"}
        again = await execute(prepare(file_for(server, tmp_path / "set", **changes)))
    assert not again.missing
    assert again.report["complete"] is True


@pytest.mark.parametrize("role", ["attacker", "judge"])
async def test_a_money_budget_needs_the_price_of_every_role_before_it_starts(tmp_path, role):
    from askew.errors import ConfigError

    prices = tmp_path / "prices.toml"
    known = [name for name in ("target", "attacker", "judge") if name != role]
    prices.write_text(
        "".join(
            f'[[model]]\nname = "openai/{name}"\ninput_per_million = 1\noutput_per_million = 1\n'
            'date = 2026-01-01\nsource = "made up"\n'
            for name in known
        )
    )
    with FaultServer(Models()) as server:
        changes = {"budget.money": 1.0, "prices": str(prices)}
        with pytest.raises(ConfigError, match=f"price of openai/{role}"):
            prepare(file_for(server, tmp_path / "set", **changes))
        assert not server.seen


async def test_the_plan_bounds_calls_tokens_and_money_of_every_role(tmp_path):
    prices = tmp_path / "prices.toml"
    prices.write_text(
        "".join(
            f'[[model]]\nname = "openai/{name}"\ninput_per_million = 1\noutput_per_million = 1\n'
            'date = 2026-01-01\nsource = "made up"\n'
            for name in ("target", "attacker")
        )
    )
    with FaultServer(Models(verdict="no")) as server:
        file = file_for(server, tmp_path / "set", prices=str(prices))
        planned = plan(prepare(file))
        assert not server.seen
        result = await execute(prepare(file))
    report: Any = result.report
    for role, bounds in planned.roles.items():
        spent = report["calls"]["roles"][role]
        assert 0 < spent["calls"] <= bounds.calls_at_most
        assert spent["tokens"] <= bounds.prompt_tokens + bounds.completion_tokens_at_most
    attacker = planned.roles["attacker"]
    tokens = planned.prompt_tokens + planned.completion_tokens_at_most
    tokens += attacker.prompt_tokens + attacker.completion_tokens_at_most
    assert planned.money_at_most == pytest.approx(tokens / 1e6)
    assert planned.unpriced == ("openai/judge",)


async def test_a_plan_without_text_attacks_asks_no_attacker_and_no_judge(tmp_path):
    with FaultServer(Models()) as server:
        changes = {"build.categories": ["competing_objectives"]}
        planned = plan(prepare(file_for(server, tmp_path / "set", **changes)))
    assert planned.roles == {}
    assert planned.unpriced == ("openai/target",)
