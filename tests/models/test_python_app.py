"""A callable in this process as the model."""

from __future__ import annotations

import asyncio
import sys
import textwrap
from pathlib import Path

import pytest

from askew.errors import ConfigError
from askew.models.base import Ability, Fatal, Model, ModelSpec, RateLimited, ServerFault
from askew.models.python_app import PythonApp
from askew.records import Call, Finish, Message, Prompt, Reply

SOURCE = """
import asyncio, threading
from collections.abc import Sequence
from askew.models.base import RateLimited
from askew.records import Finish, Reply

def upper(prompt):
    return prompt.upper()

async def later(prompt: str) -> str:
    await asyncio.sleep(0)
    return "later " + prompt

def roles(messages: Sequence[dict]) -> str:
    return " ".join(message["role"] for message in messages)

def whole(prompt):
    return Reply(text="B", finish=Finish.REFUSAL)

def nothing(prompt):
    return None

def number(prompt):
    return 3

def fails(prompt):
    raise KeyError("no " + prompt)

def limited(prompt):
    raise RateLimited("slow down", 2.0)

async def hangs(prompt):
    await asyncio.sleep(60)

def times_out(prompt):
    raise TimeoutError("upstream")

def many(prompts):
    return [prompt + "!" for prompt in prompts]

def thinks(prompt):
    return "<think>A?</think> B"

def thread(prompt):
    return threading.current_thread().name

class Bot:
    async def __call__(self, prompt):
        return "bot " + prompt
    def reply(self, prompt):
        return "method " + prompt

bot = Bot()
constant = 3
"""


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A module `toy_app` in the working directory."""
    path = tmp_path / "toy_app.py"
    path.write_text(textwrap.dedent(SOURCE))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delitem(sys.modules, "toy_app", raising=False)
    return path


def app(function: str, *, seconds: float = 20.0, **options: object) -> PythonApp:
    name = f"python/toy_app:{function}"
    return PythonApp(ModelSpec(name=name, timeout_seconds=seconds, options=options))


async def ask(model: PythonApp, *prompts: Prompt) -> list[Reply]:
    try:
        return list(await model.ask([Call(prompt) for prompt in prompts]))
    finally:
        await model.close()


@pytest.mark.parametrize(
    ("function", "text"),
    [
        ("upper", "WHO?"),
        ("later", "later who?"),
        ("roles", "user"),
        ("nothing", None),
        ("thinks", "B"),
        ("bot", "bot who?"),
        ("bot.reply", "method who?"),
    ],
)
async def test_functions_of_every_form_are_called(function, text):
    (reply,) = await ask(app(function), Prompt(text="who?"))
    assert (reply.text, reply.finish) == (text, Finish.STOP)


async def test_messages_are_given_where_the_option_says_so():
    prompt = Prompt(messages=(Message("system", "Be brief."), Message("user", "Who?")))
    assert (await ask(app("roles"), prompt))[0].text == "system user"
    assert (await ask(app("upper"), prompt))[0].text == "BE BRIEF.\n\nWHO?"
    (reply,) = await ask(app("upper", takes="messages"), prompt)
    assert "AttributeError" in (reply.error or "")


async def test_a_reply_is_passed_on_whole():
    assert await ask(app("whole"), Prompt(text="x")) == [Reply(text="B", finish=Finish.REFUSAL)]


@pytest.mark.parametrize(
    ("function", "error"),
    [
        ("fails", "KeyError: 'no x'"),
        ("number", "returned int"),
        ("times_out", "TimeoutError: upstream"),
    ],
)
async def test_what_fails_is_an_error_of_its_item(function, error):
    (reply,) = await ask(app(function), Prompt(text="x"))
    assert reply.finish is Finish.ERROR
    assert error in (reply.error or "")


async def test_a_function_may_ask_to_slow_down():
    with pytest.raises(RateLimited) as caught:
        await ask(app("limited"), Prompt(text="x"))
    assert caught.value.wait_seconds == 2.0


async def test_a_function_that_hangs_is_a_fault_whose_outcome_is_unknown():
    with pytest.raises(ServerFault, match=r"within 0\.05 s") as caught:
        await ask(app("hangs", seconds=0.05), Prompt(text="x"))
    assert caught.value.sent


async def test_a_batch_goes_in_one_call():
    model = app("many", batch=3)
    assert model.batch == 3
    replies = await ask(model, Prompt(text="a"), Prompt(text="b"))
    assert [reply.text for reply in replies] == ["a!", "b!"]


async def test_a_batch_that_comes_back_short_fails_as_a_whole():
    replies = await ask(app("upper", batch=2), Prompt(text="a"), Prompt(text="b"))
    assert [reply.finish for reply in replies] == [Finish.ERROR, Finish.ERROR]
    replies = await ask(app("nothing", batch=2), Prompt(text="a"), Prompt(text="b"))
    assert "a batch of 2 came back as None" in (replies[0].error or "")


async def test_sync_functions_leave_the_event_loop_free():
    model = app("thread", parallel=2)
    asked = [model.ask([Call(Prompt(text="x"))]) for _ in range(4)]
    names = {replies[0].text for replies in await asyncio.gather(*asked)}
    await model.close()
    assert all("askew" in (name or "") for name in names)


def test_the_model_follows_the_protocol():
    model = app("upper")
    assert isinstance(model, Model)
    assert (model.abilities, model.batch, model.parallel) == (Ability.REPLY, 1, 1)
    assert (model.remote, model.paid) == (False, True)
    assert app("later").parallel > 1
    assert app("upper", remote=True, paid=False).remote


def test_an_edited_function_is_another_model(module):
    before = app("upper").identity()
    assert app("upper").identity() == before
    module.write_text(SOURCE + "\n# edited\n")
    assert app("upper").identity() != before


async def test_log_probabilities_are_a_clear_error():
    with pytest.raises(Fatal, match="--scoring reply"):
        await ask(app("upper"), Prompt(text="x", choices=("A", "B")))


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("toy_app", "module:function"),
        ("toy_app:", "module:function"),
        ("no_such_module:f", "importing no_such_module .*No module named"),
        ("toy_app:uper", "no 'uper' there. Known: .*upper"),
        ("toy_app:constant", "int, not a function"),
    ],
)
def test_a_function_that_cannot_be_found_is_refused(reference, message):
    with pytest.raises(ConfigError, match=message):
        PythonApp(ModelSpec(name=f"python/{reference}"))


def test_a_module_that_fails_on_import_says_how(tmp_path):
    (tmp_path / "broken_app.py").write_text("raise RuntimeError('no database')")
    with pytest.raises(ConfigError, match="RuntimeError: no database"):
        PythonApp(ModelSpec(name="python/broken_app:f"))


@pytest.mark.parametrize("options", [{"takes": "json"}, {"batch": 0}, {"tkaes": "text"}])
def test_an_option_that_cannot_be_used_is_refused(options):
    with pytest.raises(ConfigError):
        app("upper", **options)
