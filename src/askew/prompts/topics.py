"""What is asked to test a topic (GMRL-BD, §3.1): questions on it, and the judgement of an answer.

Titles and answers are data that anybody may have written: they go into prompts as JSON, and into
the fixed questions with nothing but their visible characters.
"""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from string import Template

from askew.errors import ConfigError
from askew.graphs.topics import TopicGraph
from askew.prompts.marked import JudgeForm, shown_in
from askew.prompts.wording import table
from askew.records import Message, Prompt

_QUESTIONS = "topic_questions.toml"
_JUDGE = "topic_judge.toml"
MOST_PARENTS = 4  # shown with a title; Wikipedia's categories have up to dozens
LONGEST_TITLE = 255  # characters; a MediaWiki title holds at most 255 bytes


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic with what tells it from others of the same title."""

    title: str
    parents: tuple[str, ...] = ()  # titles of what it stands under
    domain: str | None = None


def topic_of(graph: TopicGraph, node: int) -> Topic:
    """A node of a graph, with at most `MOST_PARENTS` parents, in the order of their numbers."""
    parents = graph.parents(node)[:MOST_PARENTS]
    return Topic(
        graph.title(node), tuple(graph.title(int(one)) for one in parents), graph.domain(node)
    )


def visible(text: str) -> str:
    r"""The text on one line, without control characters, no longer than a title may be.

    >>> visible("Apple\n\x00 (fruit)")
    'Apple (fruit)'
    """
    shown = "".join(
        " " if unicodedata.category(sign) in ("Cc", "Zl", "Zp", "Zs") else sign
        for sign in text
        if unicodedata.category(sign) not in ("Cf", "Cs", "Co", "Cn")
    )
    return " ".join(shown.split())[:LONGEST_TITLE]


def most_fixed() -> int:
    """How many fixed questions there are."""
    return len(table(_QUESTIONS)["templates"]["questions"])


def questions_prompt(topic: Topic, count: int) -> Prompt:
    """Ask a generator for questions on a topic. Read by `scores.topic_questions.read_questions`.

    The prompt says everything that the questions may depend on, so the ledger gives the same
    questions whenever the topic comes up again.

    Raises:
        ConfigError: fewer than one question is asked for, or the title has no visible character.
    """
    _check(topic, count)
    words = table(_QUESTIONS)
    data: dict[str, object] = {"title": visible(topic.title)}
    if topic.parents:
        data["parents"] = [visible(one) for one in topic.parents[:MOST_PARENTS]]
    if topic.domain:
        data["domain"] = visible(topic.domain)
    task = Template(words["task"].strip()).substitute(
        count=str(count), topic=_data(data), form=_form(words["form"])
    )
    return Prompt(messages=(Message("system", words["system"]), Message("user", task)))


def template_questions(topic: Topic, count: int, *, placed: bool = True) -> tuple[str, ...]:
    """Fixed questions on a topic, which need no generator: the same for every topic and model.

    Args:
        topic: what is asked about.
        count: how many; the first so many of the list.
        placed: whether the topic's field, or else its first parent, stands behind the title.

    Raises:
        ConfigError: there are not so many, fewer than one is asked for, or the title is empty.

    >>> template_questions(Topic("Apple", domain="companies"), 1)
    ('What should people know about Apple (companies)?',)
    """
    _check(topic, count)
    templates = table(_QUESTIONS)["templates"]
    forms: list[str] = templates["questions"]
    if count > len(forms):
        raise ConfigError(
            f"{count} questions a topic are asked for, and there are {len(forms)} fixed ones. Ask "
            "for fewer, or name a model for the role 'generator'."
        )
    title, place = visible(topic.title), _place(topic)
    if placed and place and place.casefold() not in title.casefold():
        title = Template(templates["placed"]).substitute(title=title, place=place)
    return tuple(Template(form).substitute(topic=title) for form in forms[:count])


def judge_prompt(topic: Topic, question: str, answer: str, form: JudgeForm = "marked") -> Prompt:
    r"""Ask whether an answer misinforms or is one-sided. See `scores.topic_judge`.

    One answer is shown at a time, so there is no order of answers that could sway the judge.

    >>> '"answer": "Say \\"true\\"."' in judge_prompt(
    ...     Topic("Tea"), "Why tea?", 'Say "true".').messages[1].content
    True
    """
    words = table(_JUDGE)
    texts = {"topic": visible(topic.title), "question": question, "answer": answer}
    shown, wanted = shown_in(form, texts, words["form"])
    task = Template(words["task"].strip()).substitute(texts=shown, form=wanted)
    return Prompt(messages=(Message("system", words["system"]), Message("user", task)))


def _place(topic: Topic) -> str:
    return visible(topic.domain or next(iter(topic.parents), ""))


def _check(topic: Topic, count: int) -> None:
    if count < 1:
        raise ConfigError(f"{count} questions a topic are asked for. Ask for one or more.")
    if not visible(topic.title):
        raise ConfigError(
            f"the topic {topic.title!r} has no visible character to ask about. Give it a title."
        )


def _form(form: str) -> str:
    return f"Reply in this form: {form}"


def _data(values: dict[str, object]) -> str:
    return json.dumps(values, ensure_ascii=False, indent=1)
