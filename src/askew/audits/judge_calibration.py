"""Measures a judge against people: how often it agrees, where it errs, and whom it errs about."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from askew.audits.judge_label_files import NEGATIVE, POSITIVE, LabelFile, Labelled
from askew.errors import DataError
from askew.prompts.judging import verdict
from askew.records import Call, Estimate, Reply, Sampling
from askew.scores.judge_reading import SERVER_FAULTS, Fault
from askew.scores.judge_verdict import read_verdict
from askew.stats.agreement import alpha_estimate, kappa_estimate
from askew.stats.cluster_mean import cluster_mean
from askew.stats.intervals import Clusters, Numbers, rate_estimate

SAMPLING = Sampling(temperature=0.0, max_tokens=400)
UNREADABLE = "without verdict"


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer with people's word and the judge's."""

    item: Labelled
    truth: str | None  # what most people say; None where they are divided
    judge: str | None  # None: the judge said nothing that could be read
    fault: Fault | None = None


def calls_of(file: LabelFile, sampling: Sampling = SAMPLING) -> list[Call]:
    """The judge's calls, one an answer.

    Raises:
        DataError: an answer has no text to be judged.
    """
    bare = [item.id for item in file.items if not item.answer]
    if bare:
        raise DataError(
            f"{file.label}: {len(bare)} records have no text to be judged, {bare[0]!r} first. Call "
            "its column 'answer', or name it with --answer."
        )
    return [
        Call(verdict(item.question, item.answer), sampling, role="judge") for item in file.items
    ]


def answers_of(file: LabelFile, replies: Sequence[Reply | None] | None = None) -> list[Answer]:
    """Each answer with the people's majority and the judge's label.

    Args:
        file: the labels.
        replies: the judge's, one an answer; None takes the judge's labels from the file.

    Raises:
        DataError: the file has no label of a judge, and no replies are given.
    """
    if replies is None:
        if all(item.judge is None for item in file.items):
            raise DataError(
                f"{file.label}: no field holds a judge's labels. Call its column 'judge', name it "
                "with --judge-column, or have a judge asked with --judge provider/model."
            )
        return [Answer(item, _majority(item), item.judge) for item in file.items]
    answers = []
    for item, reply in zip(file.items, replies, strict=True):
        if reply is None:
            answers.append(Answer(item, _majority(item), None, Fault.NOT_ASKED))
            continue
        read = read_verdict(reply)
        answers.append(Answer(item, _majority(item), read.verdict, read.fault))
    return answers


def calibration(
    answers: Sequence[Answer], *, seed: int, threshold: float | None = None
) -> Mapping[str, object]:
    """How a judge compares with people.

    Args:
        answers: with labels of one kind: "biased" and "not_biased", other words, or numbers.
        seed: of the bootstraps.
        threshold: numbers from here on are "biased"; None leaves numbers as they are, and
            sensitivity and specificity undefined.

    Returns:
        `counts`, `confusion` (people's label -> judge's -> how many), `sensitivity`,
        `specificity`, `agreement`, `kappa` (weighted for numbers), `human_alpha`, `shift` (share
        called biased by the judge minus that of people), `by_group`. docs/judge.md explains each.
    """
    numbers = _numbers(answers)
    people = _people(answers, numbers is not None)
    if numbers is not None:
        answers = [_of_numbers(one, threshold) for one in answers]
    ordinal = numbers is not None and threshold is None
    paired = [one for one in answers if one.truth is not None and one.judge is not None]
    clusters = Clusters.of([_cluster(one) for one in paired])
    figures = _figures(answers)
    groups = sorted({one.item.group for one in answers if one.item.group})
    return {
        "counts": _counts(answers),
        "faults": dict(Counter(one.fault.value for one in answers if one.fault is not None)),
        "invalid": _invalid(answers),
        "confusion": _confusion(answers),
        **figures,
        "kappa": _kappa(paired, numbers if ordinal else None, clusters, seed),
        "human_alpha": alpha_estimate(
            people,
            "nominal" if numbers is None else "ordinal",
            Clusters.of([_cluster(one) for one in answers]),
            seed,
        ),
        "by_group": {
            group: _figures([one for one in answers if one.item.group == group]) for group in groups
        },
    }


def _majority(item: Labelled) -> str | None:
    ranked = Counter(item.human.values()).most_common(2)
    if len(ranked) > 1 and ranked[0][1] == ranked[1][1]:
        return None
    return ranked[0][0]


def _counts(answers: Sequence[Answer]) -> dict[str, int]:
    return {
        "answers": len(answers),
        "raters": len({rater for one in answers for rater in one.item.human}),
        "divided": sum(one.truth is None for one in answers),
        "judged": sum(one.judge is not None for one in answers),
        "compared": sum(one.truth is not None and one.judge is not None for one in answers),
    }


def _invalid(answers: Sequence[Answer]) -> Estimate:
    """Of the judge's replies, the share that cannot be read."""
    had = [one for one in answers if one.fault not in SERVER_FAULTS and (one.judge or one.fault)]
    return _share([one.fault is not None for one in had], had, len(answers))


def _confusion(answers: Sequence[Answer]) -> dict[str, dict[str, int]]:
    table: dict[str, dict[str, int]] = {}
    for one in answers:
        if one.truth is not None:
            row = table.setdefault(one.truth, {})
            said = one.judge or UNREADABLE
            row[said] = row.get(said, 0) + 1
    return table


def _figures(answers: Sequence[Answer]) -> dict[str, Estimate]:
    """Agreement, sensitivity, specificity and shift of some of the answers."""
    known = [one for one in answers if one.truth is not None]
    compared = [one for one in known if one.judge is not None]
    figures = {
        "agreement": _share([one.judge == one.truth for one in compared], compared, len(known))
    }
    for name, truth in (("sensitivity", POSITIVE), ("specificity", NEGATIVE)):
        of_truth = [one for one in known if one.truth == truth]
        read = [one for one in of_truth if one.judge is not None]
        figures[name] = _share([one.judge == truth for one in read], read, len(of_truth))
    two_sided = [one for one in compared if {one.judge, one.truth} <= {POSITIVE, NEGATIVE}]
    figures["shift"] = cluster_mean(
        np.array(
            [float(one.judge == POSITIVE) - float(one.truth == POSITIVE) for one in two_sided]
        ),
        Clusters.of([_cluster(one) for one in two_sided]),
        asked=len(known),
    )
    return figures


def _kappa(
    paired: Sequence[Answer], numbers: list[float] | None, clusters: Clusters, seed: int
) -> Estimate:
    """Cohen's kappa; for numbers, weighted by the squared distance of their ranks."""
    labels = {label for one in paired for label in (one.truth, one.judge) if label is not None}
    names = sorted(labels) if numbers is None else [f"{number:g}" for number in numbers]
    people = np.array([names.index(one.truth or "") for one in paired], dtype=np.int64)
    judge = np.array([names.index(one.judge or "") for one in paired], dtype=np.int64)
    if numbers is None:
        return kappa_estimate(people, judge, len(names), clusters, seed, "none")
    return kappa_estimate(people, judge, len(names), clusters, seed, "quadratic")


def _people(answers: Sequence[Answer], numeric: bool) -> Numbers:
    """People's labels, shape (raters, answers); NaN where one did not label."""
    raters = sorted({rater for one in answers for rater in one.item.human})
    names = sorted({label for one in answers for label in one.item.human.values()})
    ratings = np.full((len(raters), len(answers)), math.nan)
    for place, one in enumerate(answers):
        for rater, label in one.item.human.items():
            value = _number(label) if numeric else float(names.index(label))
            ratings[raters.index(rater), place] = math.nan if value is None else value
    return ratings


def _numbers(answers: Sequence[Answer]) -> list[float] | None:
    """The distinct numbers, where every label is one; None for words, and for yes and no."""
    labels = {label for one in answers for label in one.item.human.values()}
    labels |= {one.judge for one in answers if one.judge is not None}
    if labels <= {POSITIVE, NEGATIVE}:
        return None
    found = [_number(label) for label in labels]
    numbers = {number for number in found if number is not None}
    return sorted(numbers) if len(numbers) == len(found) else None


def _number(label: str) -> float | None:
    # "1" and "0" were read as yes and no; beside other numbers they are numbers.
    if label in (POSITIVE, NEGATIVE):
        return float(label == POSITIVE)
    try:
        number = float(label)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _of_numbers(one: Answer, threshold: float | None) -> Answer:
    """The answer with people's lower middle for their majority; cut in two at the threshold."""
    given = sorted(
        number for label in one.item.human.values() if (number := _number(label)) is not None
    )
    middle = given[(len(given) - 1) // 2]
    judged = None if one.judge is None else _number(one.judge)
    return Answer(one.item, _side(middle, threshold), _side(judged, threshold), one.fault)


def _side(number: float | None, threshold: float | None) -> str | None:
    if number is None:
        return None
    if threshold is None:
        return f"{number:g}"
    return POSITIVE if number >= threshold else NEGATIVE


def _cluster(one: Answer) -> str:
    return one.item.cluster or one.item.id


def _share(hits: Sequence[bool], of: Sequence[Answer], asked: int) -> Estimate:
    hit = np.array(list(hits), dtype=np.bool_)
    clusters = Clusters.of([_cluster(one) for one in of])
    return rate_estimate(hit, np.ones(len(hit), np.bool_), clusters, asked=asked)
