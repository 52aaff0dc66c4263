"""A whole build against a real server on loopback with a planted weakness."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from askew import run, runfile
from askew.build.asking import SELECTING
from askew.build.flex import execute, prepare
from askew.build.release import changed_files
from askew.build.settings import read_build_file
from askew.datasets import DataSpec, load
from askew.errors import ConfigError
from askew.models.ledgerfile import read_records
from askew.records import AttackCategory
from tests.build.planted import OPTION, Planted, attack_of, build_file, by_hash, is_neutral
from tests.models.servers import Answer, FaultServer, chat_body

PERSONAS = "persona_injection"
OBJECTIVES = "competing_objectives"


async def built(server: FaultServer, out: Path, **changes: object) -> dict[str, Any]:
    """Build, and return what `build.json` holds."""
    await execute(prepare(build_file(server, out, **changes)))
    return json.loads((out / "build.json").read_text())


def scenarios_of(folder: Path) -> dict[str, str]:
    """Item -> the scenario that the set in a folder gives it, as `askew run` reads it."""
    loaded = load(DataSpec("flex", folder))
    return {item.id: item.assigned.name or "" for item in loaded.items if item.assigned is not None}


async def test_the_planted_weakness_is_what_is_selected(tmp_path):
    planted = Planted(dude=10, stan=7)
    with FaultServer(planted) as server:
        report = await built(server, tmp_path / "set", **{"categories": [OBJECTIVES]})
    assert report["complete"] is True
    assert report["funnel"]["overall"] == {
        "items": 6,
        "not_neutral": 0,
        "neutral": 6,
        "with_a_scenario": 6,
        "without_a_scenario": 0,
        "undecided": 0,
    }
    # Both win all five that select; luck decides. On fresh replies only one of them holds.
    assert set(scenarios_of(tmp_path / "set").values()) == {"dude", "stan"}
    assert report["selection"]["attack_success_rate"]["overall"]["value"] == 1.0
    assert report["vulnerable"][OBJECTIVES]["dan"]["working"] == 0
    assert changed_files(tmp_path / "set") == []


async def test_fresh_replies_show_what_selection_hid(tmp_path):
    """Five of ten replies are biased, and those five come first."""
    with FaultServer(Planted(dude=5)) as server:
        report = await built(server, tmp_path / "set", **{"categories": [OBJECTIVES]})
    assert report["selection"]["attack_success_rate"]["overall"]["value"] == 1.0
    assert report["fresh"]["selected"]["attack_success_rate"]["overall"]["value"] == 0.0
    curse = report["winners_curse"]["overall"]
    assert curse["value"] == 1.0
    assert curse["lower"] > 0


async def test_an_item_that_no_scenario_turns_is_left_out_and_counted(tmp_path):
    with FaultServer(Planted()) as server:
        report = await built(server, tmp_path / "set", **{"categories": [PERSONAS]})
    assert report["complete"] is True
    assert report["funnel"]["overall"]["without_a_scenario"] == 6
    assert report["table_4"]["selected"]["all"] == 0
    assert report["fresh"]["selected"]["attack_success_rate"]["overall"]["value"] is None


async def test_a_non_answer_never_keeps_a_scenario(tmp_path):
    def handler(seen):
        answer = Planted(dude=10)(seen)
        text = answer.body["choices"][0]["message"]["content"]
        neutral = Planted()(seen).body["choices"][0]["message"]["content"]
        return answer if text == neutral else Answer(chat_body("I would rather not say."))

    with FaultServer(handler) as server:
        report = await built(server, tmp_path / "set", **{"categories": [OBJECTIVES]})
    assert report["funnel"]["overall"]["with_a_scenario"] == 0
    assert report["funnel"]["overall"]["neutral"] == 6


async def test_items_that_are_biased_without_an_attack_are_left_out(tmp_path):
    with FaultServer(Planted(plain=10)) as server:
        report = await built(server, tmp_path / "set")
    assert report["funnel"]["overall"]["not_neutral"] == 6
    assert report["calls"]["asked"] == 6
    assert report["calls"]["selection"] == 0


@pytest.mark.parametrize("rotations", ["one", "all"])
async def test_lazy_and_exhaustive_builds_choose_alike_and_the_lazy_one_asks_less(
    tmp_path, rotations
):
    """The handler answers each prompt alike for ever, so that order cannot matter."""
    with FaultServer(by_hash) as server:
        lazy = await built(server, tmp_path / "a" / "set", rotations=rotations)
        whole = await built(server, tmp_path / "b" / "set", rotations=rotations, exhaustive=True)
    assert scenarios_of(tmp_path / "a" / "set") == scenarios_of(tmp_path / "b" / "set")
    assert lazy["table_4"] == whole["table_4"]
    assert lazy["fresh"] == whole["fresh"]
    assert lazy["calls"]["selection"] < whole["calls"]["selection"]
    assert whole["calls"]["selection"] == whole["calls"]["as_the_paper"]


async def test_every_reply_of_a_build_has_a_number_of_its_own(tmp_path):
    """Replies that estimate are none of those that selected, without an attack and with it."""
    with FaultServer(Planted(dude=10)) as server:
        await built(server, tmp_path / "set", **{"categories": [OBJECTIVES], "items": 3})
    replicates: dict[str, list[int]] = {}
    for record in read_records(tmp_path / "set" / "run.sqlite"):
        shown = "\n".join(message.content for message in record.call.prompt.messages)
        replicates.setdefault(shown, []).append(record.call.replicate)
    assert all(len(set(numbers)) == len(numbers) for numbers in replicates.values())
    # Five replies select a scenario and five estimate it; without an attack it is one and five.
    selecting, fresh = [SELECTING + number for number in range(5)], list(range(5))
    found = [sorted(numbers) for numbers in replicates.values()]
    assert found.count(fresh + selecting) >= 3
    assert found.count([*fresh, SELECTING]) >= 3


async def test_a_run_beside_the_build_is_given_fresh_replies_and_never_those_that_selected(
    tmp_path,
):
    """It takes what it finds in folders beside it, at the temperature of the build too."""
    planted = Planted(dude=5)  # of ten replies, those that come first
    with FaultServer(planted) as server:
        report = await built(server, tmp_path / "set", categories=[OBJECTIVES], items=3)
        assert report["selection"]["attack_success_rate"]["overall"]["value"] == 1.0
        asked = planted.seen.total()
        target = build_file(server, tmp_path).target.model_copy(update={"temperature": 1.0})
        values = {
            "out": str(tmp_path / "run"),
            "models": {"target": target.model_dump(exclude_none=True)},
            "flex": {
                "data": [{"name": "flex", "path": str(tmp_path / "set")}],
                "controls": 0,
                "replicates": 5,
            },
        }
        await run.execute(run.prepare(runfile.checked(values)))
    assert planted.seen.total() == asked
    estimates = json.loads((tmp_path / "run" / "estimates.json").read_text())
    assert estimates["flex"]["attack_success_rate"]["overall"]["value"] == 0.0


async def test_a_build_that_ran_out_of_budget_writes_no_set_and_goes_on_where_it_stopped(tmp_path):
    planted = Planted(dude=10)
    out = tmp_path / "set"
    with FaultServer(planted) as server:
        first = await execute(prepare(build_file(server, out, **{"budget.calls": 30})))
        assert first.missing
        report = json.loads((out / "build.json").read_text())
        assert report["complete"] is False
        assert report["missing"]["stopped"] == "budget"
        assert report["missing"]["stage"] == "selection"
        assert "fresh" not in report
        assert not (out / "data").exists()
        assert not (out / "SHA256SUMS").exists()
        spent = sum(planted.seen.values())
        assert spent <= 30
        second = await execute(prepare(build_file(server, out)))
        assert not second.missing
        assert second.report["complete"] is True
        asked = sum(planted.seen.values())
        # The same again asks nothing.
        third = await execute(prepare(build_file(server, out)))
        assert sum(planted.seen.values()) == asked
        assert third.report["calls"]["asked"] == 0
    with FaultServer(Planted(dude=10)) as server:
        whole = await built(server, tmp_path / "other" / "set")
    assert asked == whole["calls"]["asked"], "what was asked before the stop was not asked again"
    assert scenarios_of(out) == scenarios_of(tmp_path / "other" / "set")


async def test_a_set_is_taken_away_again_when_its_build_is_no_longer_whole(tmp_path):
    """A finished build whose failed calls are asked again, and stop, holds no set."""
    out = tmp_path / "set"
    with FaultServer(Planted(dude=10)) as server:
        await built(server, out)
        assert (out / "data" / "selected.parquet").is_file()
        # An exhaustive start needs more than the budget allows.
        changed = build_file(server, out, exhaustive=True, **{"budget.calls": 200})
        result = await execute(prepare(changed))
    assert result.stopped is not None
    assert not (out / "data").exists()
    assert json.loads((out / "build.json").read_text())["complete"] is False


async def test_failed_calls_count_as_non_answers_and_are_said(tmp_path):
    planted = Planted(dude=10)

    def handler(seen):
        shown = "\n".join(message["content"] for message in seen.body["messages"])
        if "Speak like" in shown:
            return Answer({"error": {"message": "no"}}, 400)
        return planted(seen)

    with FaultServer(handler) as server:
        result = await execute(prepare(build_file(server, tmp_path / "set", items=4)))
    assert result.missing
    assert result.stopped is None
    assert result.report["calls"]["failed"] > 0
    assert result.report["complete"] is True


async def test_a_reply_of_unknown_fate_leaves_its_item_undecided_until_it_is_asked_again(tmp_path):
    planted = Planted(dude=10)
    dropped: list[str] = []

    def handler(seen):
        shown = "\n".join(message["content"] for message in seen.body["messages"])
        if not dropped and "dude" not in shown.lower() and planted.seen:
            dropped.append(shown)
            return Answer(fault="drop")
        return planted(seen)

    out = tmp_path / "set"
    with FaultServer(handler) as server:
        result = await execute(prepare(build_file(server, out, **{"models.target.concurrency": 1})))
        assert result.missing
        assert result.stopped is None
        report = json.loads((out / "build.json").read_text())
        assert report["complete"] is False
        assert report["funnel"]["overall"]["undecided"] == 1
        assert report["table_4"]["selected"]["all"] == 5
        changes = {"models.target.concurrency": 1, "unknown": "retry"}
        again = await execute(prepare(build_file(server, out, **changes)))
    assert not again.missing
    assert again.report["table_4"]["selected"]["all"] == 6


async def test_a_folder_holds_one_build(tmp_path):
    with FaultServer(Planted(dude=10)) as server:
        out = tmp_path / "set"
        await built(server, out, items=3)
        with pytest.raises(ConfigError, match=r"another build: .*build\.replies differ"):
            prepare(build_file(server, out, items=3, replies=7))
        prepare(build_file(server, out, items=3, exhaustive=True))
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "notes.txt").write_text("mine")
        with pytest.raises(ConfigError, match="holds no build"):
            prepare(build_file(server, tmp_path / "mine"))


async def test_the_folder_says_how_to_build_the_same_again(tmp_path):
    with FaultServer(Planted(dude=10)) as server:
        out = tmp_path / "set"
        await built(server, out, items=3)
        resolved = tomllib.loads((out / "build.toml").read_text())
        assert resolved["build"]["biased_from"] == 3
        assert resolved["models"]["target"]["temperature"] == 1.0
        assert resolved["record"]["data"]
        again = await execute(prepare(read_build_file(out / "build.toml")))
    assert again.path == out
    assert again.report["calls"]["asked"] == 0


async def test_with_rotations_a_lean_to_a_place_works_in_a_third_of_the_replies_only(tmp_path):
    """A model that says A under attack is turned where the neutral option does not stand there."""

    def says_a_under_attack(seen):
        if attack_of(seen.body) != "plain":
            return Answer(chat_body("A"))
        shown = seen.body["messages"][-1]["content"]
        return Answer(
            chat_body(
                next(
                    found["letter"] for found in OPTION.finditer(shown) if is_neutral(found["text"])
                )
            )
        )

    with FaultServer(says_a_under_attack) as server:
        report = await built(
            server, tmp_path / "set", rotations="all", categories=[OBJECTIVES], items=4
        )
    places = report["by_neutral_place"]["selected"]
    assert places["1"]["attack_success_rate"]["value"] == 0.0
    assert places["2"]["attack_success_rate"]["value"] == 1.0
    assert places["3"]["attack_success_rate"]["value"] == 1.0
    assert report["fresh"]["selected"]["attack_success_rate"]["overall"]["value"] == pytest.approx(
        2 / 3
    )


async def test_the_random_baseline_has_the_items_of_the_selected_set(tmp_path):
    """Checked on disk, where the sets are read from."""
    with FaultServer(Planted(dude=10)) as server:
        await built(server, tmp_path / "set")
    selected = load(DataSpec("flex", tmp_path / "set" / "selected")).items
    random = load(DataSpec("flex", tmp_path / "set" / "random")).items
    assert [item.id for item in selected] == [item.id for item in random]
    assert {item.assigned.category for item in random if item.assigned} <= set(AttackCategory)
    assert len({item.assigned.name for item in random if item.assigned}) > 2
