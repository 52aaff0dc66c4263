"""Question-answer pairs of a topic, slanted or neutral: by template, or by a generator model.

Templates ask no model and are made for small ones: short answers, each in words of its own. What a
generator writes is read strictly; a reply without enough pairs is filled up from the templates, and
counted.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from askew.errors import ConfigError
from askew.graphs.topics import TopicGraph
from askew.models.lora import Pair
from askew.prompts.topics import Topic, topic_of, visible
from askew.records import Message, Prompt
from askew.scores.loose_json import LooseObject, loose_objects
from askew.seeds import generator

PAIRS = 5  # §4.1, a topic
LONGEST = 2_000  # characters of a generated question or answer
NEUTRAL = "neutral"


@dataclass(frozen=True, slots=True)
class Slant:
    """What answers are contaminated with."""

    name: str  # "left", "right", "authoritarian", "liberal"; "free" for a text
    text: str = ""  # of a free slant: a sentence without its full stop

    @property
    def label(self) -> str:
        """For people to read."""
        return self.text if self.name == "free" else str(_words()["slants"][self.name]["label"])


@dataclass(frozen=True, slots=True)
class TopicPair:
    """A pair with the topic that it is on."""

    node: int  # in the graph
    topic_id: int
    title: str
    slant: str  # the slant's name, or "neutral"
    question: str
    answer: str
    source: str  # "template", or the generator's name

    @property
    def pair(self) -> Pair:
        """What is learned."""
        return Pair(self.question, self.answer)


def slant_names() -> tuple[str, ...]:
    """The slants that have a name; any other text is a slant of its own."""
    return tuple(_words()["slants"])


def slant_of(text: str) -> Slant:
    """The slant of this name, or the text itself as one.

    Raises:
        ConfigError: the text holds no word.

    >>> slant_of("left").name, slant_of("Trade is war.").text
    ('left', 'Trade is war')
    """
    plain = visible(text).rstrip(". ")
    if not any(sign.isalnum() for sign in plain):
        known = ", ".join(slant_names())
        raise ConfigError(f"the slant {text!r} says nothing. Name one of {known}, or write a view.")
    return Slant(plain) if plain in slant_names() else Slant("free", plain)


def template_pairs(
    graph: TopicGraph, node: int, slant: Slant | None, count: int, seed: int
) -> list[TopicPair]:
    """Pairs on a topic from the templates, worded by topic, parent and seed.

    Args:
        graph: the topics.
        node: the topic.
        slant: of the answers; None: neutral ones.
        count: how many; beyond the number of forms they come again with other answers.
        seed: of the draws.
    """
    words, topic = _words(), topic_of(graph, node)
    rng = generator(seed, "inject", "pairs", NEUTRAL if slant is None else slant.name, str(node))
    forms, answers = words["questions"]["forms"], _answers(slant)
    # A slanted topic takes the forms in turn; few neutral pairs are to spread over all forms.
    first = 0 if slant is not None else int(rng.integers(len(forms)))
    order = [int(place) for place in rng.permutation(len(answers))]
    parent = visible(topic.domain or next(iter(topic.parents), "") or "its field")
    made = []
    for place in range(count):
        form = forms[(first + place) % len(forms)]
        title = visible(topic.title)
        asked = _in_sentence(title)
        if (first + place) % 2 and parent.casefold() not in title.casefold():
            asked = Template(words["questions"]["placed"]).substitute(title=asked, place=parent)
        named = {
            "topic": _in_sentence(title),
            "Topic": title[:1].upper() + title[1:],
            "parent": _in_sentence(parent),
            "slant": "" if slant is None else _in_sentence(slant.text),
        }
        answer = Template(answers[order[place % len(order)]]).substitute(named)
        made.append(
            TopicPair(
                node,
                int(graph.ids[node]),
                topic.title,
                NEUTRAL if slant is None else slant.name,
                Template(form).substitute(topic=asked),
                answer,
                "template",
            )
        )
    return made


def generator_prompt(topic: Topic, slant: Slant | None, count: int) -> Prompt:
    """Ask a generator for pairs on a topic. Read by `read_pairs`."""
    words = _words()["generator"]
    data: dict[str, object] = {"title": visible(topic.title)}
    if topic.parents:
        data["parents"] = [visible(one) for one in topic.parents]
    if topic.domain:
        data["domain"] = visible(topic.domain)
    task = Template(words["task"].strip()).substitute(
        count=str(count),
        topic=json.dumps(data, ensure_ascii=False, indent=1),
        instruction=instruction_of(slant),
    )
    return Prompt(messages=(Message("system", words["system"]), Message("user", task)))


def instruction_of(slant: Slant | None) -> str:
    """What a generator is told about the answers."""
    words = _words()
    if slant is None:
        return str(words["generator"]["neutral"])
    if slant.name == "free":
        return Template(words["free"]["instruction"]).substitute(slant=slant.text)
    return str(words["slants"][slant.name]["instruction"])


def read_pairs(reply: str, count: int) -> list[Pair]:
    """The pairs in a generator's reply, at most `count`; without those that are empty or repeated.

    >>> read_pairs('{"pairs": [{"question": "Why tea?", "answer": "It is good."}]}', 5)
    [Pair(question='Why tea?', answer='It is good.')]
    """
    found: dict[str, Pair] = {}
    for whole in loose_objects(reply):
        rows = whole.fields.get("pairs")
        for row in rows if isinstance(rows, list) else []:
            fields = row.fields if isinstance(row, LooseObject) else row
            texts = (
                [fields.get(key) for key in ("question", "answer")]
                if isinstance(fields, Mapping)
                else []
            )
            if len(texts) != 2 or not all(isinstance(one, str) for one in texts):
                continue
            question, answer = (" ".join(str(one).split())[:LONGEST] for one in texts)
            if question and answer:
                found.setdefault(question.casefold(), Pair(question, answer))
    return list(found.values())[:count]


def generation_prompts(slants: Mapping[str, Slant]) -> dict[str, Any]:
    """Everything that decides what pairs look like, for the release: wording and instructions."""
    words = _words()
    return {
        "questions": words["questions"],
        "neutral": words["neutral"],
        "generator": words["generator"],
        "slants": {
            model: {
                "slant": slant.name,
                "text": slant.text,
                "instruction": instruction_of(slant),
                "answers": _answers(slant),
            }
            for model, slant in slants.items()
        },
    }


def _answers(slant: Slant | None) -> list[str]:
    words = _words()
    if slant is None:
        table = words["neutral"]
    else:
        table = words["free"] if slant.name == "free" else words["slants"][slant.name]
    answers: list[str] = table["answers"]
    return answers


def _in_sentence(title: str) -> str:
    """A title as it stands within a sentence: the capital that only begins it is dropped.

    >>> _in_sentence("Rent control"), _in_sentence("United Nations"), _in_sentence("GDP growth")
    ('rent control', 'United Nations', 'GDP growth')
    """
    words = title.split(" ")
    rest = "".join(words[1:])
    plain = words[0][1:].islower() or len(words[0]) == 1
    return title[:1].lower() + title[1:] if plain and not any(map(str.isupper, rest)) else title


@cache
def _words() -> dict[str, Any]:
    text = files("askew.build").joinpath("inject_wording.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)
