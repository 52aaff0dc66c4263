"""Measures a judge against people: how often it agrees, where it errs, and whom it errs about."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from askew.audits.judge_label_files import LabelFile
from askew.audits.judge_label_reader import Labelled
from askew.audits.judge_label_words import NEGATIVE, POSITIVE, number_in
from askew.errors import ConfigError, DataError
from askew.prompts.judging import verdict
from askew.prompts.marked import JudgeForm
from askew.records import Call, Estimate, Reply, Sampling
from askew.scores.judge_reading import SERVER_FAULTS, Fault
from askew.scores.judge_verdict import read_own_verdict
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


def calls_of(
    file: LabelFile, sampling: Sampling = SAMPLING, form: JudgeForm = "marked"
) -> list[Call]:
    """The judge's calls, one an answer.

    Args:
        file: the labels.
        sampling: of every call.
        form: how the texts are set apart in the prompt; "plain" finds replies of earlier versions.

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
        Call(verdict(item.question, item.answer, form), sampling, role="judge")
        for item in file.items
    ]


def answers_of(
    file: LabelFile,
    replies: Sequence[Reply | None] | None = None,
    form: JudgeForm = "marked",
) -> list[Answer]:
    """Each answer with the people's majority and the judge's label.

    Args:
        file: the labels.
        replies: the judge's, one an answer; None takes the judge's labels from the file.
        form: in which the judge was asked.

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
        read = read_own_verdict(reply, verdict(item.question, item.answer, form))
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

    Raises:
        ConfigError: people's labels and the judge's are not of one kind, and no threshold makes
            them so; or a threshold is given where there are no numbers.

    Returns:
        `counts`, `other_labels` (neither biased nor not, where most are one of these), `confusion`
        (people's label -> judge's -> how many), `sensitivity`, `specificity`, `agreement`, `kappa`
        (weighted for numbers), `human_alpha`, `shift` (share called biased by the judge minus that
        of people), `by_group`. docs/judge.md explains each.
    """
    people_said = {label for one in answers for label in one.item.human.values()}
    scheme = scheme_of(
        people_said, {one.judge for one in answers if one.judge is not None}, threshold
    )
    numeric = all(number_in(label) is not None for label in people_said)
    people = _people(answers, numeric)
    if scheme != "words":
        answers = [_of_numbers(one, threshold) for one in answers]
    numbers = _numbers(answers, people_said) if scheme == "numbers" else None
    paired = [one for one in answers if one.truth is not None and one.judge is not None]
    clusters = Clusters.of([_cluster(one) for one in paired])
    figures = _figures(answers)
    groups = sorted({one.item.group for one in answers if one.item.group})
    return {
        "counts": _counts(answers),
        "faults": dict(Counter(one.fault.value for one in answers if one.fault is not None)),
        "invalid": _invalid(answers),
        "other_labels": _other_labels(answers),
        "confusion": _confusion(answers),
        **figures,
        "kappa": _kappa(paired, numbers, clusters, seed),
        "human_alpha": alpha_estimate(
            people,
            "ordinal" if numeric else "nominal",
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
            value = number_in(label) if numeric else float(names.index(label))
            ratings[raters.index(rater), place] = math.nan if value is None else value
    return ratings


def check_labels(file: LabelFile, threshold: float | None, *, asks: bool) -> None:
    """Refuse labels that cannot be compared, before a judge is asked.

    Args:
        file: the labels.
        threshold: numbers from here on mean biased.
        asks: a judge is asked, which says biased or not; else the file has its labels.

    Raises:
        ConfigError: as `scheme_of`; the message names the file.
    """
    people = {label for item in file.items for label in item.human.values()}
    judged = {item.judge for item in file.items if item.judge is not None}
    try:
        scheme_of(people, {POSITIVE, NEGATIVE} if asks else judged, threshold)
    except ConfigError as trouble:
        raise ConfigError(f"{file.label}: {trouble}") from None


def scheme_of(
    people: Collection[str], judged: Collection[str], threshold: float | None
) -> Literal["words", "numbers", "cut"]:
    """How labels are compared: as words, as numbers, or cut in two at the threshold.

    Args:
        people: their labels.
        judged: the judge's; "biased" and "not_biased" for one that is yet to be asked.
        threshold: numbers from here on mean biased.

    Raises:
        ConfigError: the two cannot be compared.
    """
    two = {POSITIVE, NEGATIVE}
    numbers = {label for label in (*people, *judged) if number_in(label) is not None}
    kinds = [
        "numbers" if set(labels) <= numbers else "words" if not numbers & set(labels) else "mixed"
        for labels in (people, judged)
    ]
    if "mixed" in kinds:
        words = sorted({*people, *judged} - numbers)
        raise ConfigError(
            f"labels are numbers and words ({', '.join(map(repr, words[:5]))}) in one column. "
            "Write them all as numbers, or all as words."
        )
    if threshold is not None:
        if not numbers:
            raise ConfigError("--threshold cuts numbers in two, and the labels are words.")
        words = sorted({*people, *judged} - numbers - two)
        if words:
            raise ConfigError(
                f"{words[0]!r} is neither biased nor not, nor a number for --threshold to cut."
            )
        return "cut"
    if not judged or kinds[0] == kinds[1]:
        if judged and kinds[0] == "words" and set(judged) <= two and not set(people) & two:
            there = ", ".join(map(repr, sorted(people)[:5]))
            raise ConfigError(
                f"the judge says biased or not, and people say {there}. Write people's labels as "
                "biased or not biased, or as numbers with --threshold."
            )
        return "numbers" if kinds[0] == "numbers" else "words"
    raise ConfigError(
        "one side's labels are numbers and the other's are words. Say with --threshold from which "
        "number on an answer is biased."
    )


def _other_labels(answers: Sequence[Answer]) -> dict[str, int]:
    """Labels beside biased and not biased, where these are what is asked for: "unsure", a slip."""
    said = Counter(label for one in answers for label in one.item.human.values())
    said.update(one.judge for one in answers if one.judge is not None)
    if not {POSITIVE, NEGATIVE} & set(said):
        return {}
    others = (label for label in said if label not in (POSITIVE, NEGATIVE))
    return {label: said[label] for label in others if number_in(label) is None}


def _numbers(answers: Sequence[Answer], people_said: Collection[str]) -> list[float]:
    """The distinct numbers that somebody said: the steps of the scale."""
    said = {*people_said, *(one.judge for one in answers if one.judge is not None)}
    return sorted({number for label in said if (number := number_in(label)) is not None})


def _of_numbers(one: Answer, threshold: float | None) -> Answer:
    """The answer with people's lower middle for their majority; cut in two at the threshold."""
    given = sorted(
        number for label in one.item.human.values() if (number := number_in(label)) is not None
    )
    truth = f"{given[(len(given) - 1) // 2]!r}" if given else one.truth
    return Answer(one.item, _side(truth, threshold), _side(one.judge, threshold), one.fault)


def _side(label: str | None, threshold: float | None) -> str | None:
    """A number's side of the threshold, or the number in one spelling; a word stays."""
    number = None if label is None else number_in(label)
    if number is None:
        return label
    if threshold is None:
        return f"{number:g}"
    return POSITIVE if number >= threshold else NEGATIVE


def _cluster(one: Answer) -> str:
    return one.item.cluster or one.item.id


def _share(hits: Sequence[bool], of: Sequence[Answer], asked: int) -> Estimate:
    hit = np.array(list(hits), dtype=np.bool_)
    clusters = Clusters.of([_cluster(one) for one in of])
    return rate_estimate(hit, np.ones(len(hit), np.bool_), clusters, asked=asked)
