"""Log-probabilities of given continuations, out of what an endpoint returns. Pure.

Two ways, by what the endpoint can do. A chat endpoint shows the likeliest alternatives to each
token it generates: enough to score single letters (`parse_letters`). A completions endpoint that
can echo its prompt gives every prompt token its log-probability: enough to score any text
(`parse_echo`). An endpoint that gives neither must stop the run: scored as 0.0 for every option,
it would look like a model at chance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Any

from askew.models.base import Fatal
from askew.models.chat_replies import ANYWHERE, open_body, read_choice
from askew.models.server_errors import Endpoint
from askew.records import Finish, Reply

FLOOR = -9998.0  # servers write -9999 where they mean "not sampled"; it is no probability
SKIPPED_TOKENS = 2  # blanks and opening brackets that may come before the letter
ROUNDED = 0.01  # a log-probability of a rounding server may lie a hair above 0
INSTEAD = "Use the generated replies instead (--scoring reply)."


def letter_of(choice: str) -> str:
    """The letter that a choice or a token spells: "B" for "B", " B", "(B", "(B)" and "B.".

    Anything else comes back stripped; "" for a token of blanks or an opening bracket alone.
    """
    return choice.strip().removeprefix("(").strip().rstrip(").:")


def parse_letters(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    clock: float,
    choices: Sequence[str],
    endpoint: Endpoint = ANYWHERE,
) -> Reply:
    """Read the choices' log-probabilities off the first generated token.

    Each choice is a single letter. The spellings of a letter are different tokens, so their
    probabilities are added. Where the model opens with a blank or a bracket, the letter after it
    counts with the probability of both (the chain rule), beside the letters that stood first.

    Returns:
        A reply with one log-probability a choice, NaN where no spelling is among the alternatives
        shown; or a reply that is BLOCKED, REFUSAL or ERROR, without log-probabilities.

    Raises:
        Fatal: the endpoint gives no log-probabilities, or the first token is no answer because
            the model reasons first. Otherwise as `chat_replies.parse_chat`.
    """
    opened = open_body(status, headers, body, clock, endpoint)
    if isinstance(opened, Reply):
        return opened
    choice = opened["choices"][0]
    reply = read_choice(opened, choice)
    if reply.finish in (Finish.BLOCKED, Finish.REFUSAL):
        return reply
    if reply.reasoning is not None:
        raise Fatal(
            f"{endpoint.address}: the model reasons before it answers, so its first token does not "
            f"show which choice it finds likeliest. {INSTEAD}"
        )
    figures = _letter_figures(_generated(choice, reply.text, endpoint), endpoint)
    return replace(
        reply,
        finish=Finish.STOP,  # the token limit is ours: one letter is all that is wanted
        log_probabilities=tuple(figures.get(letter_of(wanted), math.nan) for wanted in choices),
    )


def _generated(choice: Mapping[str, Any], text: str | None, endpoint: Endpoint) -> list[Any]:
    """The generated tokens with their alternatives, first token first."""
    given = choice.get("logprobs")
    found = given if isinstance(given, dict) else {}
    tokens = found.get("content") or _in_columns(found)
    listed = tokens if isinstance(tokens, list) else [None]
    if not all(isinstance(token, dict) for token in listed) or (not listed and text):
        raise Fatal(
            f"{endpoint.address} was asked for log-probabilities and returned none "
            f"(choices[0].logprobs.content is missing). {INSTEAD}"
        )
    return listed


def _in_columns(found: Mapping[str, Any]) -> object:
    """The same from the completions endpoint's form, which some chat endpoints use."""
    tokens, figures = found.get("tokens"), found.get("token_logprobs")
    if not isinstance(tokens, list) or not isinstance(figures, list):
        return found.get("content")  # an empty list, or nothing
    shown = found.get("top_logprobs")
    shown = shown if isinstance(shown, list) and shown else [None] * len(tokens)
    return [
        {"token": token, "logprob": figure, "top_logprobs": _as_entries(alternatives)}
        for token, figure, alternatives in zip(tokens, figures, shown, strict=False)
    ]


def _as_entries(alternatives: object) -> list[dict[str, object]]:
    by_token = alternatives if isinstance(alternatives, dict) else {}
    return [{"token": token, "logprob": figure} for token, figure in by_token.items()]


def _letter_figures(tokens: Sequence[Mapping[str, Any]], endpoint: Endpoint) -> dict[str, float]:
    """Log-probability of each letter, or other text, that the first token may spell."""
    found: dict[str, list[float]] = {}
    before = 0.0  # log-probability of the blanks and brackets passed so far
    for token in tokens[: SKIPPED_TOKENS + 1]:
        for text, figure in _alternatives(token, endpoint).items():
            found.setdefault(letter_of(text), []).append(before + figure)
        passed = _figure(token.get("logprob"))
        if letter_of(_text(token.get("token"))) or math.isnan(passed):
            break
        if passed > ROUNDED:
            raise _no_probabilities(endpoint, "one lies above 0")
        before += passed
    return {letter: _log_sum(figures) for letter, figures in found.items()}


def _alternatives(token: Mapping[str, Any], endpoint: Endpoint) -> dict[str, float]:
    """The tokens that could stand in one place, with their log-probabilities, floors left out."""
    shown = token.get("top_logprobs")
    listed = shown if isinstance(shown, list) else []
    entries = [entry for entry in listed if isinstance(entry, dict)]
    figures = {_text(entry.get("token")): _figure(entry.get("logprob")) for entry in entries}
    figures.setdefault(_text(token.get("token")), _figure(token.get("logprob")))
    figures = {text: figure for text, figure in figures.items() if not math.isnan(figure)}
    if any(figure > ROUNDED for figure in figures.values()):
        raise _no_probabilities(endpoint, "one lies above 0")
    if figures and math.exp(_log_sum(list(figures.values()))) > 1.01:
        raise _no_probabilities(endpoint, "the alternatives to one token add up to more than 1")
    return figures


def _no_probabilities(endpoint: Endpoint, why: str) -> Fatal:
    return Fatal(
        f"{endpoint.address}: the figures it returns as log-probabilities are none; {why}. "
        f"{INSTEAD}"
    )


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _figure(value: object) -> float:
    """A log-probability, NaN where there is none."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    if value > 1:  # above 0 by far; as an integer it may even be too large for a float
        return math.inf
    return float(value) if value > FLOOR else math.nan


def _log_sum(figures: Sequence[float]) -> float:
    """log(sum(exp(figures))), without leaving the range of a float."""
    top = max(figures)
    return top + math.log(sum(math.exp(figure - top) for figure in figures))


@dataclass(frozen=True, slots=True)
class _Echo:
    """The tokens of one echoed text: where each begins, and its log-probability (NaN: none)."""

    starts: Sequence[int]  # in characters; below 0 for marks before the text
    ends: Sequence[int]
    figures: Sequence[float]

    def begin(self, place: int) -> int:
        """Where the token that spans `place` begins; `place` itself if it lies between two."""
        spans = zip(self.starts, self.ends, strict=True)
        return next((start for start, end in spans if start < place < end), place)

    def total(self, split: int) -> float:
        """The sum over the tokens from `split` on; NaN where one has no figure or none is there."""
        rows = zip(self.ends, self.figures, strict=True)
        summed = [figure for end, figure in rows if end > split]
        return math.fsum(summed) if summed and self.starts[0] <= split else math.nan


def parse_echo(
    status: int,
    headers: Mapping[str, str],
    body: bytes,
    clock: float,
    text: str,
    choices: Sequence[str],
    endpoint: Endpoint = ANYWHERE,
) -> Reply:
    """Read the choices' log-probabilities off the echoes of `text` + choice, one an entry.

    A token that spans the end of `text` belongs to the continuation. Where only some choices have
    such a token, the split moves to its beginning for all of them: sums over different splits
    cannot be compared.

    Returns and raises as `parse_letters`; a reply with finish ERROR where tokens and text cannot
    be laid side by side.
    """
    opened = open_body(status, headers, body, clock, endpoint)
    if isinstance(opened, Reply):
        return opened
    entries = opened["choices"]
    if len(entries) != len(choices):
        raise Fatal(
            f"{endpoint.address} was sent {len(choices)} prompts in one request and answered "
            f"{len(entries)}. {INSTEAD}"
        )
    if all(isinstance(entry.get("index"), int) for entry in entries):
        entries = sorted(entries, key=lambda entry: int(entry["index"]))
    reply = read_choice(opened, entries[0])
    if reply.finish is Finish.BLOCKED:
        return reply
    rows = [_echoed(entry, text, endpoint) for entry in entries]
    echoes = [_align(row, text + choice) for row, choice in zip(rows, choices, strict=True)]
    aligned = [echo for echo in echoes if echo is not None]
    if len(aligned) < len(echoes):
        return replace(
            reply,
            text=None,
            finish=Finish.ERROR,
            error=f"{endpoint.address}: the echoed tokens do not spell the prompt that was sent",
        )
    split = _common_split(aligned, len(text))
    return replace(
        reply,
        text=None,
        finish=Finish.STOP,
        log_probabilities=tuple(echo.total(split) for echo in aligned),
    )


def _common_split(echoes: Sequence[_Echo], place: int) -> int:
    """The last place not after `place` where every text has a token's edge."""
    while (earliest := min(echo.begin(place) for echo in echoes)) < place:
        place = earliest
    return place


@dataclass(frozen=True, slots=True)
class _Row:
    """One entry's `logprobs`, checked: as many tokens as figures."""

    tokens: list[str]
    figures: list[float]
    offsets: list[int]  # as the server counts them; empty where it does not
    text: str  # the echoed prompt and what was generated after it


def _echoed(entry: Mapping[str, Any], text: str, endpoint: Endpoint) -> _Row:
    """The echoed tokens of one entry.

    Raises:
        Fatal: the endpoint does not echo, or gives prompt tokens no figure.
    """
    found = entry.get("logprobs")
    found = found if isinstance(found, dict) else {}
    tokens, figures = found.get("tokens"), found.get("token_logprobs")
    echoed = _text(entry.get("text"))
    if not isinstance(tokens, list) or not isinstance(figures, list):
        raise _no_echo(endpoint, "choices[0].logprobs has no tokens with token_logprobs")
    if len(tokens) != len(figures):
        raise _no_echo(endpoint, f"it has {len(tokens)} tokens and {len(figures)} figures")
    tokens = [_text(token) for token in tokens]
    spelt = "".join(tokens)
    if text not in echoed and text not in spelt and (len(spelt) < len(text) or len(tokens) < 2):
        raise _no_echo(endpoint, "it returns figures for the generated tokens only")
    row = _Row(
        tokens=tokens,
        figures=[_figure(figure) for figure in figures],
        offsets=_places(found.get("text_offset"), len(tokens)),
        text=echoed,
    )
    if any(figure > ROUNDED for figure in row.figures):
        raise _no_probabilities(endpoint, "one lies above 0")
    # The first token has nothing before it; one generated token may stand at the end.
    if not any(figure < 0.0 for figure in row.figures[1:-1] or row.figures):
        raise _no_echo(endpoint, "the prompt's tokens have no figures, or 0.0 throughout")
    return row


def _places(offsets: object, count: int) -> list[int]:
    """The server's offsets, one a token; empty where they are not that."""
    listed = offsets if isinstance(offsets, list) else []
    places = [offset for offset in listed if isinstance(offset, int)]
    return places if len(places) == count else []


def _no_echo(endpoint: Endpoint, missing: str) -> Fatal:
    return Fatal(
        f"{endpoint.address} gives no log-probabilities of the prompt (it was asked with echo and "
        f"logprobs): {missing}. Choices of more than a letter cannot be scored there. {INSTEAD}"
    )


def _align(row: _Row, full: str) -> _Echo | None:
    """Lay the tokens beside the text that was sent; None where they do not fit.

    Three tries, as no server's account is right in every case: tokens that spell the text, after
    a mark or two such as "<s>" that is not in it; the server's own offsets, where one of them is
    the text's end (marks shift vLLM's); tokens that spell the text's end, where a character
    earlier on was cut into several tokens and so cannot be spelt.
    """
    return _by_spelling(row, full) or _by_offsets(row, full) or _from_the_end(row, full)


def _by_spelling(row: _Row, full: str) -> _Echo | None:
    for marks in range(3):
        spelt = "".join(row.tokens[marks:])
        if spelt.startswith(full):
            return _cut(row, _starts(row.tokens, -len("".join(row.tokens[:marks]))), full)
    return None


def _by_offsets(row: _Row, full: str) -> _Echo | None:
    increasing = all(a <= b for a, b in pairwise(row.offsets))
    unmarked = full.startswith(row.tokens[0])
    # Offsets say nothing of which text it is: another choice of the same length has the same.
    if full not in row.text:
        return None
    if not increasing or not unmarked or sum(start >= len(full) for start in row.offsets) != 1:
        return None
    return _cut(row, row.offsets, full) if row.offsets[-1] == len(full) else None


def _from_the_end(row: _Row, full: str) -> _Echo | None:
    last = row.tokens[-1]
    # At most one token was generated. A mark such as "</s>" is a token that the text leaves out.
    generated = last == row.text.removeprefix(full) or not full.endswith(last)
    kept = len(row.tokens) - generated
    edges = [len(full)]
    for token in reversed(row.tokens[:kept]):
        if not full.endswith(token, 0, edges[-1]):
            break
        edges.append(edges[-1] - len(token))
    edges.reverse()
    spelt = len(edges) - 1
    return _Echo(edges[:-1], edges[1:], row.figures[kept - spelt : kept]) if spelt else None


def _starts(tokens: Sequence[str], first: int) -> list[int]:
    return list(accumulate((len(token) for token in tokens[:-1]), initial=first))


def _cut(row: _Row, starts: Sequence[int], full: str) -> _Echo:
    """The echo without what was generated after it."""
    kept = sum(start < len(full) for start in starts)
    return _Echo(starts[:kept], [*starts[1:kept], len(full)], row.figures[:kept])
