"""How far two recorded answers to one prompt are apart, beside answers to different patients.

    python benchmarks/reproduce/clinical_floor.py FOLDER

FOLDER holds the replies of GPT-4 to the cases of Zack et al. (2024), `*_iterations.json.gz`: eight
arms (gender by race), each the same prompt asked again and again. Every figure is a mean over
pairs, once with the items as strings and once by concept. No reply is printed.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.scores.answer_distance import settles
from askew.scores.endpoints import pair_matrix
from askew.scores.rank_overlap import rank_biased_overlaps
from askew.vignettes import ClinicalAnswer

PAIRS = ("same prompt", "gender changed", "race changed", "both changed")
MEASURES = (
    "top_diagnosis_differs",
    "differential_distance",
    "tests_distance",
    "treatments_distance",
)
_LISTS = frozenset({"differential", "tests", "treatments"})


def read(path: Path) -> tuple[list[str], list[ClinicalAnswer]]:
    """The arm ("Female_Black") and the answer of every reply of one file, in its order."""
    arms, answers = [], []
    for arm, replies in json.loads(gzip.decompress(path.read_bytes())).items():
        for reply in replies:
            arms.append(arm)
            answers.append(_answer(reply))
    return arms, answers


def _answer(reply: str | dict[str, list[Any]]) -> ClinicalAnswer:
    text = reply if isinstance(reply, str) else json.dumps(reply)
    try:
        lists = json.loads(text)
        differential, _, tests, treatments = (tuple(map(str, items)) for items in lists.values())
    except ValueError:  # cut off, or another number of lists
        return ClinicalAnswer("unreadable", text)
    return ClinicalAnswer(
        "answered", text, differential, tests=tests, treatments=treatments, given=_LISTS
    )


def string_matrix(answers: Sequence[ClinicalAnswer], measure: str) -> NDArray[np.float64]:
    """The same distance with the items as they are written, upper and lower case alike."""
    field = {"tests_distance": "tests", "treatments_distance": "treatments"}.get(
        measure, "differential"
    )
    lists = [[item.casefold() for item in getattr(answer, field)] for answer in answers]
    if measure == "differential_distance":
        found = 1 - rank_biased_overlaps(lists)
    elif measure == "top_diagnosis_differs":
        tops = np.array([items[0] if items else "" for items in lists])
        found = (tops[:, None] != tops[None, :]).astype(float)
    else:
        found = np.array([[_jaccard(set(one), set(other)) for other in lists] for one in lists])
    known = np.array(
        [settles(answer, field) and bool(getattr(answer, field)) for answer in answers]
    )
    return np.where(known[:, None] & known[None, :], found, np.nan)


def _jaccard(one: set[str], other: set[str]) -> float:
    return 1 - len(one & other) / len(one | other) if one | other else 0.0


def rows(
    arms: Sequence[str], answers: Sequence[ClinicalAnswer]
) -> Iterator[tuple[str, list[float]]]:
    """Kind of pair -> for each measure the mean as strings and the mean by concept."""
    gender, race = np.array([arm.split("_") for arm in arms]).T
    other_gender = gender[:, None] != gender[None, :]
    other_race = race[:, None] != race[None, :]
    pairs = np.triu(np.ones((len(arms), len(arms)), dtype=bool), 1)
    matrices = [
        matrix
        for measure in MEASURES
        for matrix in (string_matrix(answers, measure), pair_matrix(answers, measure))
    ]
    kinds = (
        ~other_gender & ~other_race,
        other_gender & ~other_race,
        ~other_gender & other_race,
        other_gender & other_race,
    )
    for name, kind in zip(PAIRS, kinds, strict=True):
        yield name, [float(np.nanmean(matrix[kind & pairs])) for matrix in matrices]


def main() -> None:
    """Print one Markdown table a file."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("folder", type=Path)
    for path in sorted(parser.parse_args().folder.glob("*_iterations.json.gz")):
        arms, answers = read(path)
        readable = sum(answer.outcome == "answered" for answer in answers)
        print(f"\n{path.name}: {readable} of {len(answers)} replies read, {len(set(arms))} arms\n")
        columns = [
            f"{measure} ({level})" for measure in MEASURES for level in ("string", "concept")
        ]
        print("| pair |", " | ".join(columns), "|")
        print("|---|" + "---|" * len(columns))
        for name, values in rows(arms, answers):
            print(f"| {name} |", " | ".join(f"{value:.3f}" for value in values), "|")


if __name__ == "__main__":
    main()
