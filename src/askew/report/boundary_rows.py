"""A boundary run's questions as rows: what was asked of a topic, and what the topic came to."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import fields

from askew.audits.boundary_records import QuestionTest, TopicTest
from askew.runfolder import RunFolder

# Of the topic, the same in all its rows.
_BEFORE = ("topic_id", "title", "domain", "step", "probe", "reached_from", "probability")
_AFTER = (
    "leaning_answers",
    "judged_answers",
    "score",
    "lower",
    "upper",
    "threshold",
    "verdict",
    "source",
    "judge",
    "note",
)
_KEYS = ("answer_key", "judge_key")
_OF_QUESTION = tuple(one.name for one in fields(QuestionTest) if one.name not in _KEYS)
# Their records hold "" where there is nothing to be said.
_MAY_BE_EMPTY = ("direction", "reason", "note", *_KEYS)
QUESTION_COLUMNS = (*_BEFORE, *_OF_QUESTION, *_AFTER, *_KEYS)
Row = dict[str, object]


def question_rows(folder: RunFolder) -> Iterator[Row]:
    """One row a question, topic by topic as they were tested; keys: `QUESTION_COLUMNS`.

    `reached_from` is a title; None for a start and for a topic that was drawn. A topic that nothing
    could be asked about has one row, whose question is None: it was tested, and is unclear. What is
    undefined is None, and never 0.

    Raises:
        RunError: the run cannot be read.
    """
    tests = sorted(folder.read_parts("topic test", TopicTest), key=lambda test: test.step)
    titles = {test.node: test.title for test in tests}
    for test in tests:
        before = None if test.reached_from is None else titles.get(test.reached_from)
        topic = {**_parts(test, (*_BEFORE, *_AFTER)), "reached_from": before}
        asked: Sequence[QuestionTest | None] = test.questions or (None,)
        for one in asked:
            found = {**topic, **({} if one is None else _parts(one, (*_OF_QUESTION, *_KEYS)))}
            yield {name: found.get(name) for name in QUESTION_COLUMNS}


def _parts(record: object, names: Sequence[str]) -> Row:
    values = {name: getattr(record, name) for name in names}
    return {name: None if _says_nothing(name, one) else one for name, one in values.items()}


def _says_nothing(name: str, value: object) -> bool:
    return value == "" if name in _MAY_BE_EMPTY else isinstance(value, float) and math.isnan(value)
