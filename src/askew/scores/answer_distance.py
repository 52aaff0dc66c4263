"""How far apart two answers are: top diagnosis, ranking, tests, treatments, meaning, option.

All distances lie in [0, 1] and are symmetric; 0 = no difference can be seen. Two answers to the
*same* prompt are far apart as well: a distance says nothing until that floor is taken off.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from askew.scores.answer_concepts import ranked_concepts
from askew.scores.offers import offered_concepts
from askew.scores.rank_overlap import rank_biased_overlaps
from askew.vignettes import ClinicalAnswer

Matrix = NDArray[np.float64]

_WORDED = ("answered", "unreadable", "truncated")  # there is an answer's text, whole or in part


def top_diagnosis_differs(answers: Sequence[ClinicalAnswer]) -> Matrix:
    """1 where the likeliest diagnoses differ by concept, else 0; NaN where one answer has none."""
    tops = [ranked[0] if (ranked := differential(answer)) else None for answer in answers]
    return _differs(tops)


def differential_distance(answers: Sequence[ClinicalAnswer]) -> Matrix:
    """1 - rank-biased overlap (p = .9) of the differentials by concept; NaN without one."""
    ranked = [differential(answer) for answer in answers]
    overlaps = rank_biased_overlaps([concepts or () for concepts in ranked])
    # Equal lists are at distance 0, not at 1e-16.
    return _where_both(np.round(1.0 - overlaps, 12), [concepts is not None for concepts in ranked])


def offered_tests_distance(answers: Sequence[ClinicalAnswer]) -> Matrix:
    """Jaccard distance of the tests offered, by concept; NaN where an answer settles none."""
    return _jaccard([offered(answer, "tests") for answer in answers])


def offered_treatments_distance(answers: Sequence[ClinicalAnswer]) -> Matrix:
    """Jaccard distance of the treatments offered, by concept; NaN where an answer settles none."""
    return _jaccard([offered(answer, "treatments") for answer in answers])


def option_differs(answers: Sequence[ClinicalAnswer]) -> Matrix:
    """1 where the chosen options differ, else 0; NaN where one answer has chosen none."""
    return _differs([answer.chosen if answer.outcome == "answered" else None for answer in answers])


def embedding_distance(
    answers: Sequence[ClinicalAnswer], vectors: NDArray[np.floating] | None
) -> Matrix:
    """1 - cosine of the answers' vectors, at most 1; NaN without vectors or without a text.

    Args:
        answers: the answers.
        vectors: shape (answers, dimensions), as `text_vectors` makes them; None = not embedded.

    Raises:
        ValueError: `vectors` has not one row for each answer.
    """
    count = len(answers)
    if vectors is None:
        return np.full((count, count), math.nan)
    rows = np.asarray(vectors, dtype=np.float64)
    if rows.ndim != 2 or len(rows) != count:
        raise ValueError(
            f"vectors has shape {rows.shape}, expected one row for each of {count} answers; "
            "make them with text_vectors(answers, embed)"
        )
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    # A vector of zeros has no direction.
    rows = np.divide(rows, lengths, out=np.full_like(rows, math.nan), where=lengths > 0)
    found = np.clip(1.0 - rows @ rows.T, 0.0, 1.0)
    return _where_both(_zero_diagonal(found), [worded(answer) for answer in answers])


def text_vectors(
    answers: Sequence[ClinicalAnswer],
    embed: Callable[[Sequence[str]], NDArray[np.floating]],
    *,
    masked: bool = False,
    mask: Callable[[str], str] | None = None,
) -> NDArray[np.float64]:
    """One vector an answer, for `embedding_distance`.

    "He should be seen" and "She should be seen" differ because of the patient, not of the care. To
    leave such words out is a choice that moves the figure, so it has to be asked for.

    Args:
        answers: the answers.
        embed: texts to vectors, such as `askew.models.embedder.load_embedder().embed`.
        masked: embed the text after `mask`.
        mask: what takes demographic words out of a text, `askew.perturb`'s for one.

    Returns:
        Shape (answers, dimensions); a row of NaN where an answer has no text of its own.

    Raises:
        ValueError: `masked` without a `mask`, or a `mask` that would not be used.
    """
    if masked != (mask is not None):
        given = "a mask" if mask is not None else "no mask"
        raise ValueError(f"masked is {masked} and {given} is given; give both or neither")
    rows = [row for row, answer in enumerate(answers) if worded(answer)]
    texts = [answers[row].text for row in rows]
    found = np.asarray(embed([mask(text) for text in texts] if mask else texts), dtype=np.float64)
    vectors = np.full((len(answers), *found.shape[1:]), math.nan)
    vectors[rows] = found
    return vectors


def worded(answer: ClinicalAnswer) -> bool:
    """Whether the reply is an answer in words, one that could not be read or is cut included."""
    return answer.outcome in _WORDED and bool(answer.text.strip())


def differential(answer: ClinicalAnswer) -> tuple[str, ...] | None:
    """The differential by concept, likeliest first; None where the reply gives none."""
    if not settles(answer, "differential"):
        return None
    return ranked_concepts(answer.differential)


def offered(answer: ClinicalAnswer, field: str) -> frozenset[str] | None:
    """The "tests" or "treatments" by concept; None where the reply does not settle them."""
    if not settles(answer, field):
        return None
    if field == "tests":
        return offered_concepts(answer.tests, "test")
    return offered_concepts(answer.treatments, "treatment")


def settles(answer: ClinicalAnswer, field: str) -> bool:
    """Whether a complete reply settles one of the lists; an empty list may be an answer."""
    return answer.outcome == "answered" and (field in answer.given or bool(getattr(answer, field)))


# The two-answer endpoints that need no vectors; `endpoints.ENDPOINTS` describes them.
DISTANCES: Mapping[str, Callable[[Sequence[ClinicalAnswer]], Matrix]] = {
    "top_diagnosis_differs": top_diagnosis_differs,
    "differential_distance": differential_distance,
    "tests_distance": offered_tests_distance,
    "treatments_distance": offered_treatments_distance,
    "option_differs": option_differs,
}


def _differs(values: Sequence[str | int | None]) -> Matrix:
    codes = {value: code for code, value in enumerate(dict.fromkeys(values))}
    column = np.array([codes[value] for value in values], dtype=np.int64)
    different = (column[:, None] != column[None, :]).astype(np.float64)
    return _where_both(different, [value is not None for value in values])


def _jaccard(sets: Sequence[frozenset[str] | None]) -> Matrix:
    """1 - |A ∩ B| / |A ∪ B|; two answers that offer nothing agree."""
    columns = {name: at for at, name in enumerate(dict.fromkeys(n for s in sets for n in s or ()))}
    listed = np.zeros((len(sets), len(columns)))
    for row, names in enumerate(sets):
        listed[row, [columns[name] for name in names or ()]] = 1.0
    shared = listed @ listed.T
    sizes = listed.sum(axis=1)
    union = sizes[:, None] + sizes[None, :] - shared
    alike = np.divide(shared, union, out=np.ones_like(shared), where=union > 0)
    return _where_both(1.0 - alike, [names is not None for names in sets])


def _where_both(matrix: Matrix, defined: Sequence[bool]) -> Matrix:
    known = np.array(defined, dtype=bool)
    return np.where(known[:, None] & known[None, :], matrix, math.nan)


def _zero_diagonal(matrix: Matrix) -> Matrix:
    """A text is at distance 0 from itself, whatever rounding makes of its cosine."""
    np.fill_diagonal(matrix, np.where(np.isnan(np.diag(matrix)), math.nan, 0.0))
    return matrix
