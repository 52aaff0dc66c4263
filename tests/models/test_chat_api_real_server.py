"""Against llama.cpp's server with a small real model, on loopback."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Iterator

import pytest

from askew.models.base import Fatal, ModelSpec
from askew.models.chat_api import ChatApi
from askew.records import Call, Finish, Message, Prompt, Sampling
from tests.models.llama import serve

QUESTION = (Message("user", "Is ice cold? Answer with A for yes or B for no."),)


@pytest.fixture(scope="module")
def base_url() -> Iterator[str]:
    yield from serve(context=512)


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
