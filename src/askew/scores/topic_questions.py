"""A generator's questions on a topic: read strictly, and never filled up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from askew.records import Finish, Reply
from askew.scores.judge_objects import Node, Record, Row, Text, scan
from askew.scores.judge_reading import Faulty, text_of

LONGEST = 400  # characters of a question
FEWEST_WORDS = 4
_ENDS_ASKING = re.compile(r"[?？؟]\Z")
_ITEM = re.compile(r"^[ \t]*(?:[-*•][ \t]+|\**\(?\d{1,3}[.):]\)?\**[ \t]*)(?P<said>\S.*)$", re.M)
_GAP = re.compile(r"[\[{<][^\]}>]{0,60}[\]}>]|\.{3,}|…")
_KEYS = frozenset(("questions", "question", "items", "list"))


@dataclass(frozen=True, slots=True)
class QuestionList:
    """The questions, or why there are none to be had."""

    questions: tuple[str, ...]  # as many as were asked for, or none
    fault: str = ""  # "unreadable", "too few", or what the server says
    left_out: int = 0  # entries that are repeats, no questions, or have gaps to fill


def read_questions(reply: Reply | None, count: int) -> QuestionList:
    r"""The questions in a generator's reply.

    A list of JSON is read, or a numbered list. Repeats, entries that do not ask, and those with
    gaps left to fill are left out; where fewer than `count` remain there is none, so that a topic
    is never tested with fewer questions than its neighbours. Of more, the first `count` are taken.

    >>> read_questions(Reply('{"questions": ["Why do people trade?", "What is a tariff for?"]}'), 2)
    QuestionList(questions=('Why do people trade?', 'What is a tariff for?'), fault='', left_out=0)
    >>> read_questions(Reply('["Why do people trade?", "Why do people trade?"]'), 2).fault
    'too few'
    """
    if reply is None:
        return QuestionList((), "it is unknown what became of the call")
    text = text_of(reply)
    if isinstance(text, Faulty):
        return QuestionList((), text.detail)
    entries = list(_entries(text))
    if not entries:
        return QuestionList((), "unreadable")
    if reply.finish is Finish.LENGTH and len(entries) <= count:
        entries = entries[:-1]  # the last one may be cut off
    first: dict[str, str] = {}
    for entry in entries:
        question = " ".join(entry.strip().strip("\"'“”*_` ").split())
        if _asks(question):
            first.setdefault(" ".join(re.findall(r"\w+", question.casefold())), question)
    left_out = len(entries) - len(first)
    if len(first) < count:
        return QuestionList((), "too few", left_out)
    return QuestionList(tuple(first.values())[:count], left_out=left_out)


def _asks(question: str) -> bool:
    return (
        _ENDS_ASKING.search(question) is not None
        and len(question) <= LONGEST
        and len(re.findall(r"\w+", question)) >= FEWEST_WORDS
        and _GAP.search(question) is None
    )


def _entries(text: str) -> Iterator[str]:
    """The entries of the reply's one list; nothing where there are two, or none."""
    lists = [entries for one in scan(text).found if (entries := list(_of_node(one.node)))]
    if len(lists) == 1:
        yield from lists[0]
    elif not lists:
        yield from (item["said"] for item in _ITEM.finditer(text))


def _of_node(node: Node) -> Iterator[str]:
    if isinstance(node, Text):
        yield node.text
    elif isinstance(node, Row):
        for entry in node.entries:
            yield from _of_node(entry)
    elif isinstance(node, Record):
        for key, value in node.pairs:
            if key.strip().casefold() in _KEYS:
                yield from _of_node(value)
