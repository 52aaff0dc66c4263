"""Recorded replies as a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from askew.errors import ConfigError, RunError
from askew.models.base import Ability, Model, ModelSpec
from askew.models.ledger import Ledger
from askew.models.replay import ReplayModel
from askew.models.runner import Runner
from askew.records import Call, Finish, Prompt, Reply, Sampling


class Toy:
    """Says what it is called, and how often it was asked."""

    abilities = Ability.REPLY | Ability.CHOICE_LOG_PROBABILITIES
    batch, parallel, remote, paid = 1, 1, False, False

    def __init__(self, name: str) -> None:
        self.name = name

    def identity(self) -> Mapping[str, object]:
        return {"model": self.name}

    def tokens(self, call: Call) -> int:
        return 20

    async def ask(self, calls: Sequence[Call]) -> Sequence[Reply]:
        return [self._answer(call) for call in calls]

    def _answer(self, call: Call) -> Reply:
        if call.prompt.choices:
            return Reply(log_probabilities=(-1.0,) * len(call.prompt.choices))
        finish = Finish.LENGTH if call.replicate else Finish.STOP
        return Reply(text=self.name, finish=finish, prompt_tokens=9, completion_tokens=1)

    async def close(self) -> None:
        """Nothing is held."""


CALLS = [
    Call(Prompt(text="one")),
    Call(Prompt(text="one"), replicate=1),
    Call(Prompt(text="one"), role="judge"),
    Call(Prompt(text="two", choices=("A", "B"))),
]


async def record(folder: Path, *models: str) -> Path:
    folder.mkdir()
    with Ledger.open(folder / "run.sqlite") as ledger:
        for model in models:
            await Runner(ledger, reuse=()).ask(Toy(model), CALLS)
    return folder


def replay(run: Path, **options: object) -> ReplayModel:
    return ReplayModel(ModelSpec(name=f"replay/{run}", options=options))


async def test_a_recorded_run_is_answered_as_it_was_by_any_model(tmp_path):
    model = replay(await record(tmp_path / "before", "toy/m1"))
    assert isinstance(model, Model)
    assert list(await model.ask(CALLS)) == list(await Toy("toy/m1").ask(CALLS))


async def test_a_replayed_run_has_the_replies_and_the_token_counts_of_the_first(tmp_path):
    before = await record(tmp_path / "before", "toy/m1")
    (tmp_path / "after").mkdir()
    with Ledger.open(tmp_path / "after" / "run.sqlite") as ledger:
        answers = await Runner(ledger, reuse=()).ask(replay(before), CALLS)
    assert answers.replies == list(await Toy("toy/m1").ask(CALLS))


async def test_a_call_that_was_not_recorded_is_an_error_reply(tmp_path):
    model = replay(await record(tmp_path / "before", "toy/m1"))
    others = [
        Call(Prompt(text="three")),
        Call(Prompt(text="one"), Sampling(temperature=1.0)),
        Call(Prompt(text="one"), replicate=2),
    ]
    replies = await model.ask(others)
    assert [reply.finish for reply in replies] == [Finish.ERROR] * 3
    assert replies[0].error == f"{tmp_path / 'before'} has no reply to this call"


async def test_where_two_models_were_asked_the_same_one_has_to_be_chosen(tmp_path):
    run = await record(tmp_path / "before", "toy/m1", "toy/m2")
    (reply,) = await replay(run).ask(CALLS[:1])
    assert reply.error is not None
    assert "replies of toy/m1, toy/m2 to this call; choose one" in reply.error
    (reply,) = await replay(run, model="toy/m2").ask(CALLS[:1])
    assert reply.text == "toy/m2"
    with pytest.raises(
        ConfigError, match=r"no reply of 'toy/m3'\. It has replies of: toy/m1, toy/m2"
    ):
        replay(run, model="toy/m3")


async def test_two_copies_of_a_run_are_one_model_and_two_runs_are_two(tmp_path):
    one = await record(tmp_path / "one", "toy/m1")
    other = await record(tmp_path / "other", "toy/m2")
    (tmp_path / "copy").mkdir()
    (tmp_path / "copy" / "run.sqlite").write_bytes((one / "run.sqlite").read_bytes())
    assert replay(one).identity() == replay(tmp_path / "copy").identity()
    assert replay(one).identity() != replay(other).identity()


def test_a_folder_without_a_ledger_is_a_clear_error(tmp_path):
    with pytest.raises(RunError, match=r"run\.sqlite is not there|is not there"):
        replay(tmp_path)
