"""A callable in this process as the model."""

from __future__ import annotations

import asyncio
import functools
import importlib
import os
import subprocess
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

def exits(prompt):
    raise SystemExit("no key")

async def exits_later(prompt):
    raise SystemExit("no key")

def runs_out(prompt):
    return next(iter([]))

class Mute(Exception):
    def __str__(self):
        raise ValueError

def mute(prompt):
    raise Mute

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
        ("exits", "SystemExit: no key"),
        ("exits_later", "SystemExit: no key"),
        ("runs_out", "raised StopIteration"),
        ("mute", "Mute, whose text cannot be had"),
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


@pytest.mark.parametrize("function", ["upper", "bot", "bot.reply"])
def test_an_edited_function_is_another_model_once_it_is_imported_anew(module, function):
    before = app(function).identity()
    assert app(function).identity() == before
    module.write_text(SOURCE + "\n# edited\n")
    with pytest.raises(ConfigError, match=r"toy_app:.*has changed.*importlib\.reload"):
        app(function)
    importlib.reload(sys.modules["toy_app"])
    assert app(function).identity() != before


def handed(function: object, revision: str = "1") -> dict[str, object]:
    spec = ModelSpec(name="python/__main__:answer", revision=revision)
    return dict(PythonApp(spec, function).identity())


def test_a_function_that_no_module_holds_is_known_by_its_code_and_its_revision():
    def one(prompt):
        return "A" if prompt in {"x", "y", "z"} else "B"

    def same(prompt):
        return "A" if prompt in {"x", "y", "z"} else "B"

    def other(prompt):
        return "A" if prompt in {"x", "y"} else "B"

    assert handed(one) == handed(same)
    assert handed(one) != handed(other)
    assert handed(one) != handed(one, revision="2")
    assert handed(lambda p, style="rude": style) != handed(lambda p, style="kind": style)
    assert handed(lambda prompt: [p * 2 for p in prompt]) != handed(lambda p: [q * 3 for q in p])


def _plainly(function):
    def asks(prompt):
        return function(prompt)

    return asks


def _properly(function):
    return functools.wraps(function)(_plainly(function))


@pytest.mark.parametrize("decorate", [functools.cache, functools.partial, _plainly, _properly])
def test_a_decorated_function_is_known_by_the_code_within(decorate):
    assert handed(decorate(lambda prompt: "A")) == handed(decorate(lambda prompt: "A"))
    assert handed(decorate(lambda prompt: "A")) != handed(decorate(lambda prompt: "B"))


def test_a_partial_is_known_by_its_arguments():
    def one(prompt, style):
        return style

    assert handed(functools.partial(one, style="rude")) != handed(
        functools.partial(one, style="kind")
    )


def test_a_function_that_calls_itself_has_one_code():
    def one(prompt):
        return one(prompt[1:]) if prompt else "A"

    assert handed(one) == handed(one)


@pytest.mark.parametrize("function", [str.upper, functools.partial(print, "x")])
def test_a_callable_without_python_code_is_refused(function):
    with pytest.raises(ConfigError, match="shows no Python code"):
        handed(function)


def test_a_functions_code_is_known_again_in_another_process(tmp_path):
    script = tmp_path / "asks.py"
    script.write_text(
        "from askew.models.base import ModelSpec\n"
        "from askew.models.python_app import PythonApp\n"
        "def answer(prompt):\n"
        "    return (lambda p: 'A' if p in {'x', 'y', 'z'} else 'B')(prompt)\n"
        "spec = ModelSpec(name='python/__main__:answer', revision='1')\n"
        "print(PythonApp(spec, answer).identity()['code_sha256'])\n"
    )
    digests = {
        subprocess.run([sys.executable, script], capture_output=True, check=True, env=seeded).stdout
        for hash_seed in ("1", "2")
        if (seeded := {**os.environ, "PYTHONHASHSEED": hash_seed})
    }
    assert len(digests) == 1


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
