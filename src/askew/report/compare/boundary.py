"""The boundary audit of two runs: the topics that both have tested with the same questions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.audits.boundary_records import TopicTest
from askew.report.compare.records import (
    AuditComparison,
    Bound,
    FigureDifference,
    Flip,
    FlipCount,
    FlipSide,
    Left,
    SettingDifference,
)
from askew.report.items.boundary_shelf import topic_idents
from askew.report.words import counted
from askew.runfolder import RunFolder
from askew.stats.run_difference import RunShares

_CHOSEN = (
    "the topics were chosen by two searches, so their leaning share is not that of all topics; "
    "neighbouring topics lean together, so the interval may be too short"
)
_SHADES = {"leaning": "stereotyped", "clean": "neutral", "unclear": "no-answer"}
_KINDS = (
    ("now_leaning", "clean → leaning", True, "clean", "leaning"),
    ("no_more_leaning", "leaning → clean", False, "leaning", "clean"),
    ("verdict_lost", "had a verdict → unclear", None, "", "unclear"),
    ("verdict_found", "unclear → has a verdict", None, "unclear", ""),
)


@dataclass(frozen=True, slots=True)
class _Topic:
    baseline: TopicTest
    baseline_ident: str  # in the run's report
    other: TopicTest
    other_ident: str

    @property
    def both(self) -> tuple[TopicTest, TopicTest]:
        return self.baseline, self.other


def compare_boundary(
    baseline: RunFolder,
    other: RunFolder,
    settings: tuple[SettingDifference, ...],
    *,
    margin: float,
    seed: int,
    limit: int,
) -> AuditComparison:
    """The boundary audit of two runs, without verdicts.

    Args:
        baseline: the run that is held against.
        other: the other run.
        settings: in what the two differ.
        margin: of the leaning share.
        seed: of the bootstrap.
        limit: flips listed of each kind.

    Raises:
        RunError: a run cannot be read.
    """
    before, after = _tests(baseline), _tests(other)
    in_both = [_Topic(*before[key], *after[key]) for key in before if key in after]
    topics = [topic for topic in in_both if _asked(topic.baseline) == _asked(topic.other)]
    verdicts = np.array([[one.verdict for one in topic.both] for topic in topics], dtype=object)
    verdicts = verdicts.reshape(len(topics), 2).T
    judged = verdicts != "unclear"
    shares = judged.mean(axis=1) if topics else np.full(2, math.nan)
    domains = sorted({topic.baseline.domain or "" for topic in topics} - {""})
    figures = [_leaning(verdicts, np.ones(len(topics), dtype=bool), "", margin, seed)]
    if len(domains) > 1:
        figures += [
            _leaning(
                verdicts,
                np.array([topic.baseline.domain == domain for topic in topics]),
                domain,
                margin,
                seed,
            )
            for domain in domains
        ]
    return AuditComparison(
        audit="boundary",
        unit="topics",
        paired=len(topics),
        items=len(topics),
        left=_left(before, after, len(in_both) - len(topics)),
        settings=settings,
        figures=tuple(figures),
        flips=tuple(_flips(topics, *kind, limit=limit) for kind in _KINDS),
        objection="",
        cautions=(_CHOSEN,),
        coverage=(float(shares[0]), float(shares[1])),
    )


_Key = tuple[int, str]
_Known = Mapping[_Key, tuple[TopicTest, str]]


def _tests(folder: RunFolder) -> _Known:
    """By the source's number and the title: each tested topic, and its id in the run's report."""
    tests = folder.read_parts("topic test", TopicTest)
    return {
        (one.topic_id, one.title): (one, ident)
        for one, ident in zip(tests, topic_idents(tests), strict=True)
    }


def _asked(test: TopicTest) -> list[str]:
    return sorted(one.question for one in test.questions)


def _left(before: _Known, after: _Known, asked_otherwise: int) -> tuple[Left, ...]:
    found = (
        Left(
            "topics",
            len(before.keys() - after.keys()),
            "baseline",
            "the other run's search did not come to them",
        ),
        Left(
            "topics",
            len(after.keys() - before.keys()),
            "other",
            "the baseline's search did not come to them",
        ),
        Left("topics", asked_otherwise, "both", "the two runs asked other questions about them"),
    )
    return tuple(one for one in found if one.count)


def _leaning(
    verdicts: NDArray[np.object_],
    chosen: NDArray[np.bool_],
    domain: str,
    margin: float,
    seed: int,
) -> FigureDifference:
    known = verdicts[:, chosen]
    judged = (known != "unclear").all(axis=0)
    leaning = known == "leaning"
    tried = np.stack([judged, judged]).astype(np.float64)
    name = f"leaning_share.{f'domain.{domain}' if domain else 'overall'}"
    shares = RunShares((leaning & judged).astype(np.float64), tried, seed, name)
    why = "no topic was judged in both runs" if math.isnan(shares.value) else ""
    bounds = tuple(
        Bound(reading, float(found.mean(axis=1)[1] - found.mean(axis=1)[0]))
        for reading, found in (
            ("all right", leaning),
            ("all wrong", leaning | (known == "unclear")),
        )
        if known.size
    )
    return FigureDifference(
        audit="boundary",
        name=name,
        title=f"leaning share, {domain}" if domain else "leaning share",
        slice_of="domain" if domain else "",
        good="low",
        percent=True,
        baseline=shares.baseline,
        other=shares.other,
        difference=shares.estimate(float(judged.mean()) if judged.size else math.nan, why),
        p_value=shares.p_value,
        margin=margin,
        items=shares.items,
        spread=shares.spread,
        family="exploratory" if domain else "declared",
        bounds=bounds,
    )


def _flips(
    topics: Sequence[_Topic],
    name: str,
    title: str,
    worse: bool | None,
    before: str,
    after: str,
    *,
    limit: int,
) -> FlipCount:
    """The topics whose verdict went from `before` to `after`; "" stands for any verdict."""
    found = [
        topic
        for topic in topics
        if topic.baseline.verdict != topic.other.verdict
        and _is(topic.baseline, before)
        and _is(topic.other, after)
    ]

    def rank(topic: _Topic) -> tuple[float, str]:
        change = topic.other.score - topic.baseline.score
        return (0.0 if math.isnan(change) else -abs(change)), topic.baseline.title

    shown = tuple(_flip(name, topic) for topic in sorted(found, key=rank)[:limit])
    return FlipCount(name, title, worse, len(found), shown)


def _is(test: TopicTest, verdict: str) -> bool:
    return test.verdict == verdict if verdict else test.verdict != "unclear"


def _flip(kind: str, topic: _Topic) -> Flip:
    test = topic.baseline
    facts = [("domain", test.domain)] if test.domain else []
    asked = tuple(("question", one.question) for one in test.questions)
    return Flip(
        kind,
        (topic.baseline_ident, topic.other_ident),
        test.title,
        tuple(facts),
        asked,
        _side(test),
        _side(topic.other),
    )


def _side(test: TopicTest) -> FlipSide:
    texts: list[tuple[str, str]] = []
    for one in sorted(test.questions, key=lambda one: one.question):
        texts.append((f"answer to “{one.question}”", one.answer or f"no answer: {one.outcome}"))
        if one.reason:
            texts.append((f"judged {one.outcome}", one.reason))
    judged = f"{test.leaning_answers} of {counted(test.judged_answers, 'judged answer')} lean"
    return FlipSide(f"{test.verdict} ({judged})", _SHADES[test.verdict], tuple(texts))
