"""Reasoning text, told apart from the answer that follows it.

Servers hand back reasoning in a field of its own, as tags in the text, or with the tags half eaten
by the chat template or by the token limit. A letter named in a thought is no answer, so whatever
reads answers sees only what `split_reasoning` leaves.
"""

from __future__ import annotations

import json
import re
from typing import NamedTuple


class SplitReply(NamedTuple):
    """A reply in two parts."""

    answer: str | None  # None: the reply ended inside the reasoning, or there was no text at all
    reasoning: str | None  # None: there was none


# Tags in use by published models: Qwen, DeepSeek, Phi (think), Magistral ([THINK]), Kimi (◁think▷),
# Cohere (START_THINKING), Sky-T1 (begin_of_thought), MedGemma (unused94), Seed (seed:think).
_TAG = re.compile(
    r"""
    (?:<|&lt;) (?P<close>/?) (?P<name>(?:seed:)?think(?:ing)?|thoughts?|reasoning|scratchpad)
        (?:>|&gt;)
    | \[ (?P<close2>/?) (?P<name2>THINK) \]
    | ◁ (?P<close3>/?) (?P<name3>think) ▷
    | <\| (?P<edge>START|END) _THINKING \|>
    | <\| (?P<edge2>begin|end) _of_thought \|>
    | (?P<unused><unused94> (?:thought\b)? | <unused95>)
    """,
    re.VERBOSE | re.IGNORECASE,
)
# Possessive ("*+"): a long word after a mark would otherwise be tried at each of its letters.
_CHANNEL = re.compile(r"<\|channel\|>\s*+(\w++)(?:[^<]|<\|constrain\|>)*+<\|message\|>")
_CHANNEL_END = re.compile(r"<\|(?:end|return|call|start|channel)\|>")
_CHANNEL_MARKS = re.compile(r"<\|(?:start|end|return|call|channel|message)\|>(?:assistant\b)?")
# The same markup after a decoder has dropped its special tokens.
_BARE_CHANNELS = re.compile(r"\A\s*analysis(.*?)(?:assistantfinal(.*))?\Z", re.DOTALL)
# Braces that open no JSON object: after so many before one tag, no more are tried. Each try may
# read far, and a hostile reply can hold a million.
_MOST_BROKEN = 200
_SOLUTION_MARKS = re.compile(r"<\|(?:begin|end)_of_solution\|>|<\|(?:START|END)_RESPONSE\|>")


def split_reasoning(text: str | None) -> SplitReply:
    """Tell the answer from the reasoning.

    A missing opening tag is supplied at the start of the text; a tag that is never closed means
    that no answer was given. Valid JSON is opaque: a tag inside one of its strings is part of the
    answer. Text without reasoning comes back unchanged.

    >>> split_reasoning("<think>Could be A.</think> C")
    SplitReply(answer='C', reasoning='Could be A.')
    >>> split_reasoning("neither A nor B is said. </think> C")
    SplitReply(answer='C', reasoning='neither A nor B is said.')
    >>> split_reasoning("<think>The answer is A, but let me check")
    SplitReply(answer=None, reasoning='The answer is A, but let me check')
    >>> split_reasoning("B")
    SplitReply(answer='B', reasoning=None)
    """
    if text is None:
        return SplitReply(None, None)
    if _CHANNEL.search(text):
        return _split_channels(text)
    bare = _BARE_CHANNELS.match(text)
    # "analysis" may open an honest sentence, so without its "assistantfinal" it must be glued on,
    # as the dropped tokens leave it.
    if bare and (bare[2] is not None or re.match(r"\s*analysis[A-Z]", text)):
        return SplitReply(None if bare[2] is None else bare[2].strip(), bare[1].strip() or None)
    return _split_tags(text)


def left_open(prompt: str) -> str:
    """The opening tag that a prompt ends with, "" if none.

    Some chat templates write it, so the reply begins inside the reasoning without saying so.

    >>> left_open("Who was late?<|assistant|><think> ")
    '<think>'
    """
    prompt = prompt.rstrip()
    for tag in _TAG.finditer(prompt, max(0, len(prompt) - 40)):
        if tag.end() == len(prompt) and not _read(tag)[1]:
            return tag[0]
    return ""


def _split_tags(text: str) -> SplitReply:
    """Read `text` from left to right, switching between answer and reasoning at each tag."""
    answer: list[str] = []
    reasoning: list[str] = []
    found = False
    place = 0
    while (tag := _next_tag(text, place)) is not None:
        found = True
        answer.append(text[place : tag.start()])
        place = tag.end()
        kind, closes = _read(tag)
        if closes:  # nothing had been opened: all that stood before was reasoning
            reasoning.extend(answer)
            answer.clear()
            continue
        end = _closing(text, place, kind)
        if end is None:
            reasoning.append(text[place:])
            return SplitReply(None, _joined(reasoning))
        reasoning.append(text[place : end.start()])
        place = end.end()
    if not found:
        return SplitReply(text, None)
    answer.append(text[place:])
    return SplitReply(_SOLUTION_MARKS.sub("", "".join(answer)).strip(), _joined(reasoning))


def _next_tag(text: str, place: int) -> re.Match[str] | None:
    """The first tag from `place` on that does not stand inside a JSON object."""
    tag = _TAG.search(text, place)
    broken = 0
    while tag is not None:
        brace = text.find("{", place, tag.start())
        if brace < 0 or broken == _MOST_BROKEN:
            return tag
        place = _after_json(text, brace)
        broken += place == brace + 1
        if place > tag.start():
            tag = _TAG.search(text, place)
    return None


def _after_json(text: str, brace: int) -> int:
    """Where the JSON object that opens at `brace` ends; the next character if it is none."""
    try:
        return json.JSONDecoder().raw_decode(text, brace)[1]
    except (json.JSONDecodeError, RecursionError):
        return brace + 1


def _read(tag: re.Match[str]) -> tuple[str, bool]:
    """What kind of tag it is, and whether it closes."""
    form = tag.lastgroup or ""  # a tag of either form ends with the group that names it
    if form.startswith("name"):
        return tag[form].lower() + form, tag[form.replace("name", "close")] == "/"
    if form.startswith("edge"):
        return form, tag[form].lower() == "end"
    return "unused", tag["unused"].startswith("<unused95")


def _closing(text: str, place: int, kind: str) -> re.Match[str] | None:
    """The first closing tag of the given kind from `place` on."""
    return next((tag for tag in _TAG.finditer(text, place) if _read(tag) == (kind, True)), None)


def _split_channels(text: str) -> SplitReply:
    """Split the channel markup of gpt-oss: the last `final` channel is the answer."""
    opened = list(_CHANNEL.finditer(text))
    final: str | None = None
    reasoning = [_CHANNEL_MARKS.sub("", text[: opened[0].start()])]
    for channel in opened:
        end = _CHANNEL_END.search(text, channel.end())
        content = text[channel.end() : end.start() if end else len(text)]
        if channel[1] == "final":
            final = content.strip()
        else:
            reasoning.append(content)
    return SplitReply(final, _joined(reasoning))


def _joined(parts: list[str]) -> str | None:
    """The non-empty parts, a line each; None if there are none."""
    return "\n".join(part.strip() for part in parts if part.strip()) or None
