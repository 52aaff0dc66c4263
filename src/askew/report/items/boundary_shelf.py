"""The tested topics of a boundary run as items of a report: each with its questions and answers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from askew.audits.boundary_figures import NO_DOMAIN, path_to, strongest
from askew.audits.boundary_records import QuestionTest, TopicTest
from askew.models.ledgerfile import CallRecord
from askew.report.items import Number, ReportItem, Shelf, Side, Turn
from askew.report.items.index import Flags, ItemIndex, NumberColumn, coded, holding, shelf_of
from askew.report.items.texts import call_facts, calls_of, ending, prompt_turns, reply_turns, turn
from askew.report.words import UNDEFINED, counted, label
from askew.runfolder import RunFolder, without_surrogates

VERDICTS = ("leaning", "clean", "unclear")
_SOURCES = {
    "file": "a file that was given",
    "generated": "written by a model",
    "asked again": "written by a model, at the second attempt",
    "templates": "askew's fixed questions",
}
_SHADES = {"leaning": "stereotyped", "clean": "neutral"}
_SAID = {None: "not judged", True: "yes", False: "no"}


class BoundaryStock:
    """All tested topics of a boundary run; see `item_index.Stock`.

    Raises:
        RunError: the run cannot be read.
    """

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        tests = folder.read_parts("topic test", TopicTest)
        self._tests = sorted(tests, key=lambda test: test.step)
        self._by_node = {test.node: test for test in self._tests}
        self._idents = topic_idents(self._tests)
        self._rows = {ident: row for row, ident in enumerate(self._idents)}
        self._index = _index(self._tests, self._idents)

    @property
    def index(self) -> ItemIndex:
        """What the topics are, without texts."""
        return self._index

    def items(self, rows: Sequence[int]) -> Iterator[ReportItem]:
        """The topics of these rows, in this order, with their questions."""
        keys = (
            key
            for row in rows
            for one in self._tests[row].questions
            for key in (one.answer_key, one.judge_key)
        )
        calls = calls_of(self._folder, keys)
        for row in rows:
            yield self._item(row, calls)

    def _item(self, row: int, calls: Mapping[str, CallRecord]) -> ReportItem:
        test, index = self._tests[row], self._index
        return ReportItem(
            id=self._idents[row],
            title=test.title,
            flagged=bool(index.flagged[row]),
            facets=index.facets_of(row),
            numbers=index.numbers_of(row),
            sides=(
                *(_question(one, test, calls) for one in test.questions),
                Side("The topic", "", "plain", (), (), tuple(_facts(test, self._by_node))),
            ),
            why=_why(test),
        )

    def row_of(self, ident: str) -> int | None:
        """The row of the topic with this id."""
        return self._rows.get(without_surrogates(ident))

    def saying(self, words: Sequence[str]) -> Flags:
        """Shape (topics,): those in which every one of the words stands, in any case."""
        return holding(self.items(range(len(self._tests))), len(self._tests), words)


def boundary_shelf(folder: RunFolder) -> Shelf:
    """All tested topics of a boundary run.

    Raises:
        RunError: the run cannot be read.
    """
    return shelf_of(BoundaryStock(folder))


def topic_idents(tests: Sequence[TopicTest]) -> list[str]:
    """An id for each tested topic: its title; of topics with one title, their numbers tell."""
    titles = [without_surrogates(test.title) for test in tests]
    often, taken = Counter(titles), set(titles)
    idents = []
    for title, test in zip(titles, tests, strict=True):
        ident = title
        if often[title] > 1:
            ident = f"{title} ({test.topic_id})"
            if ident in taken:
                ident = f"{title} (topic {test.node} of the graph)"
            taken.add(ident)
        idents.append(ident)
    return idents


def _index(tests: Sequence[TopicTest], idents: Sequence[str]) -> ItemIndex:
    leaning = [test for test in tests if test.verdict == "leaning"]
    ranks = {test.node: rank for rank, test in enumerate(strongest(leaning))}
    rows = sorted(range(len(tests)), key=lambda row: _badness(tests[row], ranks))
    chances = [math.nan if test.probability is None else test.probability for test in tests]
    numbers = {
        Number("score", "Share of leaning answers"): [test.score for test in tests],
        Number("step", "Tested as number", 0): [float(test.step) for test in tests],
        Number("probability", "Chance given beforehand"): chances,
    }
    return ItemIndex(
        audit="boundary",
        title="topics",
        flag="leaning",
        facets=(
            coded("verdict", "Verdict", [test.verdict for test in tests], label, VERDICTS),
            coded("domain", "Domain", [test.domain or NO_DOMAIN for test in tests], label),
            coded(
                "source",
                "Questions from",
                [test.source for test in tests],
                lambda value: _SOURCES.get(value, value),
            ),
        ),
        numbers=tuple(
            NumberColumn(number, np.array(values, np.float64)) for number, values in numbers.items()
        ),
        flagged=np.array([test.verdict == "leaning" for test in tests], np.bool_),
        worst=np.array(rows, np.int64),
        by_id=np.array(sorted(range(len(idents)), key=idents.__getitem__), np.int64),
    )


def _badness(test: TopicTest, ranks: Mapping[int, int]) -> tuple[int, float, float]:
    """Findings by what they rest on; then what could not be judged; then clean ones by score."""
    if test.verdict == "leaning":
        return 0, ranks[test.node], test.step
    if test.verdict == "unclear":
        return 1, 0, test.step
    return 2, math.inf if math.isnan(test.score) else -test.score, test.step


def _question(one: QuestionTest, test: TopicTest, calls: Mapping[str, CallRecord]) -> Side:
    asked, judged = calls.get(one.answer_key), calls.get(one.judge_key)
    turns = list(prompt_turns(asked)) if asked else [turn("question", one.question)]
    answers = reply_turns(asked) or ((turn("reply", one.answer),) if one.answer else ())
    turns += answers
    turns += (Turn("judge", said.text) for said in reply_turns(judged) if said.who == "reply")
    if one.reason and not judged:
        turns.append(turn("judge", one.reason))
    return Side(
        title=one.question,
        outcome=one.outcome,
        shade=_SHADES.get(one.outcome, "no-answer"),
        turns=tuple(turns),
        facts=(*_judgement(one, test, asked), *call_facts(asked), *call_facts(judged)),
    )


def _judgement(
    one: QuestionTest, test: TopicTest, asked: CallRecord | None
) -> Iterator[tuple[str, str]]:
    if one.misinformation is not None or one.one_sided is not None:
        yield "Misinformation", _SAID[one.misinformation]
        yield "One-sided", _SAID[one.one_sided]
    if one.direction:
        yield "Leans", one.direction
    if one.reason:
        yield "Reason", one.reason
    if test.judge:
        yield "Judged by", test.judge
    if asked is not None:
        yield from ending(asked)


def _facts(test: TopicTest, by_node: Mapping[int, TopicTest]) -> Iterator[tuple[str, str]]:
    before = None if test.reached_from is None else by_node.get(test.reached_from)
    if before is not None:
        yield "Reached from", before.title
        yield "Path", " → ".join(one.title for one in path_to(test, by_node))
    elif test.probe:
        yield "Reached from", "drawn uniformly from all topics"
    else:
        yield "Reached from", "nowhere: the search began here"
    yield "Test", f"{test.step:,}"
    chance = "the search gave none" if test.probability is None else _share(test.probability)
    yield "Chance given beforehand", chance
    yield "Score", _score(test)
    yield "Leans from", _share(test.threshold)
    yield "Domain", test.domain or NO_DOMAIN
    yield "Questions", _SOURCES.get(test.source, test.source)
    if test.note:
        yield "Note", test.note


def _score(test: TopicTest) -> str:
    if math.isnan(test.score):
        return f"{UNDEFINED} (no answer was judged)"
    ends = (test.lower, test.upper)
    interval = "" if any(map(math.isnan, ends)) else f" ({' to '.join(map(_share, ends))})"
    return f"{_share(test.score)}{interval}"


def _share(value: float) -> str:
    return UNDEFINED if math.isnan(value) else f"{value:.2f}"


def _why(test: TopicTest) -> str:
    judged = counted(test.judged_answers, "judged answer")
    counts = f"{test.leaning_answers:,} of {judged} lean"
    match test.verdict:
        case "leaning":
            said = f"{counts}, which is {_share(test.threshold)} of them or more: leaning"
        case "clean":
            said = f"{counts}, which is less than {_share(test.threshold)} of them: clean"
        case _:
            said = f"{counts}, which is too little to go by: unclear"
    note = f" ({test.note})" if test.note else ""
    return f"{said}{note}."
