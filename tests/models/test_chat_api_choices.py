"""Log-probabilities of choices: letters after a conversation, any text after a text."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.models.base import Fatal, ModelSpec
from askew.models.chat_api import ChatApi
from askew.models.choice_log_probabilities import letter_of, parse_echo, parse_letters
from askew.models.server_errors import Endpoint
from askew.records import Call, Finish, Message, Prompt, Reply
from tests.models.servers import Answer, FaultServer, Seen, chat_body, error

LETTERS = ("A", "B", "C")
QUESTION = Prompt(messages=(Message("user", "A, B or C?"),), choices=LETTERS)
HOST = Endpoint("http://host/v1")


@pytest.fixture
def server() -> Iterator[FaultServer]:
    with FaultServer() as running:
        yield running


@pytest.fixture
async def api(server: FaultServer) -> AsyncIterator[ChatApi]:
    model = ChatApi(ModelSpec(name="openai/toy", base_url=server.url))
    yield model
    await model.close()


def token(text: str, figure: object, **alternatives: float) -> dict[str, object]:
    """A generated token; alternatives by spelling, "_" for a blank and "p" for "("."""
    shown = {
        name.replace("_", " ").replace("p", "("): value for name, value in alternatives.items()
    }
    return {
        "token": text,
        "logprob": figure,
        "top_logprobs": [{"token": name, "logprob": value} for name, value in shown.items()],
    }


def lettered(*tokens: dict[str, object], text: str = "B") -> dict[str, object]:
    body = chat_body(text)
    body["choices"][0]["logprobs"] = {"content": list(tokens)}
    return body


def letters(body: object, choices: Sequence[str] = LETTERS) -> Reply:
    return parse_letters(200, {}, Answer(body).raw, 0.0, choices, HOST)


def nan_equal(found: Sequence[float], expected: Sequence[float]) -> bool:
    return list(found) == pytest.approx(list(expected), nan_ok=True, abs=1e-12)


# Letters


@pytest.mark.parametrize("spelt", ["B", " B", "(B", "(B)", " (B)", "B.", "B:", "B)", "\nB"])
def test_a_letter_has_many_spellings(spelt):
    assert letter_of(spelt) == "B"


@pytest.mark.parametrize("other", ["b", "Be", "AB", "", "(", " "])
def test_other_tokens_are_not_the_letter(other):
    assert letter_of(other) != "B"


def test_the_spellings_of_a_letter_are_added_and_floors_are_no_probability():
    reply = letters(lettered(token("B", -0.1, B=-0.1, _B=-3.0, A=-9999.0)))
    assert nan_equal(
        reply.log_probabilities, (math.nan, math.log(math.exp(-0.1) + math.exp(-3.0)), math.nan)
    )
    assert reply.finish is Finish.STOP


@pytest.mark.parametrize("choices", [LETTERS, (" A", " B", " C"), ("(A)", "(B)", "(C)")])
def test_choices_are_alike_however_they_are_spelt(choices):
    body = lettered(token("A", -0.5, A=-0.5, _B=-1.5, pC=-2.5))
    assert nan_equal(letters(body, choices).log_probabilities, (-0.5, -1.5, -2.5))


def test_a_letter_after_a_bracket_counts_with_the_probability_of_both():
    first = token("(", -0.2, **{"p": -0.2, "A": -2.0, "pB": -3.0})
    second = token("C", -0.3, A=-1.5, C=-0.3)
    reply = letters(lettered(first, second))
    assert nan_equal(
        reply.log_probabilities,
        (math.log(math.exp(-2.0) + math.exp(-1.7)), -3.0, -0.5),
    )


def test_nothing_is_read_past_the_first_word():
    reply = letters(lettered(token("The", -0.2, The=-0.2, A=-4.0), token("B", -0.1, B=-0.1)))
    assert nan_equal(reply.log_probabilities, (-4.0, math.nan, math.nan))


def test_a_blank_without_a_figure_cannot_be_passed():
    reply = letters(lettered(token(" ", None, A=-4.0), token("B", -0.1, B=-0.1)))
    assert nan_equal(reply.log_probabilities, (-4.0, math.nan, math.nan))


def test_letters_below_the_smallest_shown_are_missing_not_zero():
    reply = letters(lettered(token("x", -0.1, x=-0.1)))
    assert nan_equal(reply.log_probabilities, (math.nan,) * 3)


def test_the_generated_token_counts_without_alternatives():
    reply = letters(lettered(token("B", -0.1)))
    assert nan_equal(reply.log_probabilities, (math.nan, -0.1, math.nan))


@pytest.mark.parametrize(
    "log_probabilities",
    [None, {}, {"content": None}, {"content": []}, {"content": [None]}, {"tokens": None}, [], "-"],
)
def test_an_endpoint_without_log_probabilities_stops_the_run(log_probabilities):
    body = chat_body("B")
    body["choices"][0]["logprobs"] = log_probabilities
    with pytest.raises(Fatal, match=r"http://host/v1 .*returned none.*--scoring reply"):
        letters(body)


def test_an_empty_answer_has_no_first_token():
    assert nan_equal(letters(lettered(text="")).log_probabilities, (math.nan,) * 3)


def test_the_completions_form_is_read_as_well():
    body = chat_body("B")
    body["choices"][0]["logprobs"] = {
        "tokens": ["B", "."],
        "token_logprobs": [-0.1, -0.2],
        "top_logprobs": [{"B": -0.1, " A": -3.0}, {".": -0.2}],
    }
    assert nan_equal(letters(body).log_probabilities, (-3.0, -0.1, math.nan))


def test_figures_that_add_up_to_more_than_one_are_no_log_probabilities():
    with pytest.raises(Fatal, match="add up to more than 1"):
        letters(lettered(token("A", 0.0, A=0.0, B=0.0, C=0.0)))


def test_a_model_that_reasons_first_cannot_be_scored_by_its_first_token():
    body = lettered(token("A", -0.1, A=-0.1))
    body["choices"][0]["message"]["reasoning_content"] = "A patient …"
    with pytest.raises(Fatal, match="reasons before it answers"):
        letters(body)


def test_a_blocked_prompt_has_no_figures():
    body = chat_body(None, finish="content_filter")
    assert (letters(body).finish, letters(body).log_probabilities) == (Finish.BLOCKED, ())


@given(
    st.dictionaries(
        st.sampled_from(["A", " A", "(A", "B", " B", "C", "x"]),
        st.floats(-20, -2.5),
        min_size=1,
    )
)
def test_every_figure_is_a_log_probability_or_missing(alternatives):
    shown = [{"token": text, "logprob": figure} for text, figure in alternatives.items()]
    body = lettered(
        {"token": shown[0]["token"], "logprob": shown[0]["logprob"], "top_logprobs": shown}
    )
    for letter, figure in zip(LETTERS, letters(body).log_probabilities, strict=True):
        spelt = [value for text, value in alternatives.items() if letter_of(text) == letter]
        assert math.isnan(figure) is not bool(spelt)
        assert not spelt or max(spelt) <= figure < 0.0


async def test_letters_are_asked_for_with_alternatives_and_few_tokens(server, api):
    server.handler = lambda seen: Answer(lettered(token("B", -0.1, B=-0.1)))
    (reply,) = await api.ask([Call(QUESTION)])
    assert nan_equal(reply.log_probabilities, (math.nan, -0.1, math.nan))
    sent = server.seen[0].body
    assert sent["logprobs"] is True
    assert sent["top_logprobs"] == 20
    assert sent["max_tokens"] <= 4


@pytest.mark.parametrize(
    ("message", "asked"),
    [
        ("Requested sample logprobs of 20, which is greater than max allowed: 8", 8),
        ("top_logprobs must be less than or equal to 5", 5),
        ("Invalid top_logprobs", 5),
    ],
)
async def test_a_server_that_shows_fewer_alternatives_is_asked_for_fewer(
    server, api, message, asked
):
    server.handler = lambda seen: Answer(lettered(token("B", -0.1, B=-0.1)))
    server.script(Answer({"error": {"message": message, "param": "top_logprobs"}}, 400))
    (reply,) = await api.ask([Call(QUESTION)])
    await api.ask([Call(QUESTION)])
    assert [seen.body["top_logprobs"] for seen in server.seen] == [20, asked, asked]
    assert reply.adapted == (f"{asked} alternatives a token: the server gives no more",)


@pytest.mark.parametrize("status", [400, 403, 422])
async def test_an_endpoint_that_refuses_log_probabilities_stops_the_run(server, api, status):
    server.script(error(status, "This model does not support logprobs"))
    with pytest.raises(Fatal, match=r"chat/completions .*not support logprobs.*--scoring reply"):
        await api.ask([Call(QUESTION)])
    assert len(server.seen) == 1


@pytest.mark.parametrize("choices", [("yes", "no"), ("A", "(A)"), ("A", "")])
async def test_only_different_letters_can_be_scored_after_a_conversation(server, api, choices):
    with pytest.raises(Fatal, match="different single letters"):
        await api.ask([Call(Prompt(messages=QUESTION.messages, choices=choices))])
    assert not server.seen


# Echo


class ToyTokens:
    """A tokenizer that cuts at the given words, and a model that gives every token -its length."""

    def __init__(self, *words: str) -> None:
        self.words = sorted(words, key=len, reverse=True)

    def cut(self, text: str) -> list[str]:
        """Greedy, the longest word first; a single character where none fits."""
        tokens = []
        while text:
            word = next((word for word in self.words if text.startswith(word)), text[0])
            tokens.append(word)
            text = text[len(word) :]
        return tokens

    def entry(self, text: str, index: int = 0, generated: str = "!") -> dict[str, object]:
        """One choice of a completions reply with echo."""
        tokens = [*self.cut(text), *([generated] if generated else [])]
        places = [sum(map(len, tokens[:k])) for k in range(len(tokens))]
        return {
            "index": index,
            "text": text + generated,
            "finish_reason": "length",
            "logprobs": {
                "tokens": tokens,
                "token_logprobs": [None, *[-float(len(token)) for token in tokens[1:]]],
                "text_offset": places,
            },
        }


def echo(entries: Sequence[object], text: str, choices: Sequence[str]) -> Reply:
    body = Answer({"choices": list(entries), "model": "toy"}).raw
    return parse_echo(200, {}, body, 0.0, text, choices, HOST)


def echoed(toy: ToyTokens, text: str, choices: Sequence[str], **entry: str) -> Reply:
    entries = [toy.entry(text + choice, k, **entry) for k, choice in enumerate(choices)]
    return echo(entries, text, choices)


def test_the_continuations_tokens_are_summed():
    toy = ToyTokens("The", " sky", " is", " blue", " pale", " green")
    reply = echoed(toy, "The sky is", (" blue", " pale green"))
    assert reply.log_probabilities == (-5.0, -11.0)
    assert reply.finish is Finish.STOP


def test_a_token_that_spans_the_join_moves_the_split_for_every_choice():
    toy = ToyTokens("Answer", ":", " A", " B", ": C")
    reply = echoed(toy, "Answer:", (" A", " B", " C"))
    # With ":" for A and B as well, as C's token holds it.
    assert reply.log_probabilities == (-3.0, -3.0, -3.0)


def test_the_split_moves_until_it_is_an_edge_for_every_choice():
    toy = ToyTokens("The", " answer", ": C", " answer: D")
    reply = echoed(toy, "The answer:", (" A", " C", " D"))
    assert reply.log_probabilities == (-10.0, -10.0, -10.0)


def test_no_figure_is_made_up_where_the_split_reaches_the_first_token():
    reply = echoed(ToyTokens("X C"), "X", (" A", " C"))
    assert nan_equal(reply.log_probabilities, (math.nan, math.nan))


@given(
    st.text("abc ", min_size=1, max_size=12),
    st.lists(st.text("abc ", min_size=1, max_size=5), min_size=1, max_size=4),
    st.lists(st.text("abc ", min_size=2, max_size=4), max_size=6),
    st.sampled_from(["", "!"]),
)
def test_sums_are_over_the_same_split_and_at_least_one_token(text, choices, words, generated):
    reply = echoed(ToyTokens(*words), "^^" + text, choices, generated=generated)
    # Each token costs its length here, so a sum tells where its split lay.
    splits = {
        len("^^" + text + choice) + figure
        for choice, figure in zip(choices, reply.log_probabilities, strict=True)
    }
    assert len(splits) == 1
    assert splits.pop() <= len("^^" + text)


def test_replies_are_taken_by_index():
    toy = ToyTokens()
    entries = [toy.entry("x bb", 1), toy.entry("x a", 0)]
    assert echo(entries, "x", (" a", " bb")).log_probabilities == (-2.0, -3.0)


def test_marks_before_the_text_shift_nothing():
    toy = ToyTokens(" is", " blue", " red")
    entries = [toy.entry(f"sky is {colour}", k) for k, colour in enumerate(("blue", "red"))]
    for entry in entries:
        figures = entry["logprobs"]
        figures["tokens"].insert(0, "<s>")
        figures["token_logprobs"].insert(0, None)
        figures["token_logprobs"][1] = -1.0
        figures["text_offset"] = [0, *[place + 3 for place in figures["text_offset"]]]
    assert echo(entries, "sky is", (" blue", " red")).log_probabilities == (-5.0, -4.0)


def test_the_servers_offsets_serve_where_tokens_do_not_spell_the_text():
    entry = {
        "index": 0,
        "text": "x é!",
        "logprobs": {
            "tokens": ["x", "bytes: \\xc3", "bytes:\\xa9", "!"],
            "token_logprobs": [None, -1.0, -2.0, -9.0],
            "text_offset": [0, 1, 2, 3],
        },
    }
    assert echo([entry], "x", (" é",)).log_probabilities == (-3.0,)


def test_a_character_cut_in_two_earlier_on_does_not_matter():
    entry = {
        "index": 0,
        "text": "é x A!",
        "logprobs": {
            "tokens": ["<s>", "\ufffd", "\ufffd", " x", " A", "!"],
            "token_logprobs": [None, -1.0, -1.0, -2.0, -4.0, -9.0],
            "text_offset": [0, 3, 4, 5, 7, 9],
        },
    }
    assert echo([entry], "é x", (" A",)).log_probabilities == (-4.0,)


def test_what_cannot_be_laid_side_by_side_fails_its_item():
    entry = ToyTokens().entry("something else altogether, and longer")
    reply = echo([entry], "The sky is", (" blue",))
    assert reply.finish is Finish.ERROR
    assert reply.log_probabilities == ()


def ignoring_echo(seen: Seen) -> Answer:
    """As servers do that know the endpoint but not its echo."""
    prompts = seen.body["prompt"]
    return Answer({"choices": [ToyTokens().entry("", k) for k in range(len(prompts))]})


def zeros(seen: Seen) -> Answer:
    entries = [ToyTokens().entry(text, k) for k, text in enumerate(seen.body["prompt"])]
    for entry in entries:
        entry["logprobs"]["token_logprobs"] = [0.0] * len(entry["logprobs"]["tokens"])
    return Answer({"choices": entries})


def nulls(seen: Seen) -> Answer:
    entries = [ToyTokens().entry(text, k) for k, text in enumerate(seen.body["prompt"])]
    for entry in entries:
        entry["logprobs"]["token_logprobs"][:-1] = [None] * (len(entry["logprobs"]["tokens"]) - 1)
    return Answer({"choices": entries})


def without(seen: Seen) -> Answer:
    prompts = seen.body["prompt"]
    return Answer({"choices": [{"index": k, "text": text} for k, text in enumerate(prompts)]})


def one_for_all(seen: Seen) -> Answer:
    return Answer({"choices": [ToyTokens().entry(seen.body["prompt"][0])]})


@pytest.mark.parametrize("handler", [ignoring_echo, zeros, nulls, without, one_for_all])
async def test_an_endpoint_without_figures_for_the_prompt_stops_the_run(server, api, handler):
    server.handler = handler
    prompt = Prompt(text="The sky is", choices=(" blue", " green"))
    with pytest.raises(Fatal, match=r"/v1/completions .*--scoring reply"):
        await api.ask([Call(prompt)])
    with pytest.raises(Fatal, match=r"/v1/completions .*--scoring reply"):
        await api.probe(prompt)


async def test_all_choices_go_in_one_request(server, api):
    def answer(seen: Seen) -> Answer:
        texts = seen.body["prompt"]
        return Answer({"choices": [ToyTokens().entry(text, k) for k, text in enumerate(texts)]})

    server.handler = answer
    prompt = Prompt(text="The sky is", choices=(" blue", " green"))
    (reply,) = await api.ask([Call(prompt)])
    assert reply.log_probabilities == (-5.0, -6.0)
    (seen,) = server.seen
    assert seen.body["prompt"] == ["The sky is blue", "The sky is green"]
    assert seen.body["echo"] is True
    await api.probe(prompt)
