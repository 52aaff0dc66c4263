"""How far apart two answers are."""

from __future__ import annotations

import math

import numpy as np
import pytest

from askew.scores import answer_distance as distance
from tests.scores.clinical_answers import answer


def test_vectors_are_made_of_the_answers_that_have_words():
    seen: list[str] = []

    def embed(texts):
        seen.extend(texts)
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)

    answers = [
        answer(text="Rest."),
        answer(outcome="refused", text="I can't help with that."),
        answer(outcome="truncated", text="Rest and"),
        answer(text="  "),
        answer(outcome="unreadable", text="Well, well."),
        answer(outcome="error", text=""),
    ]
    vectors = distance.text_vectors(answers, embed)
    assert seen == ["Rest.", "Rest and", "Well, well."]
    np.testing.assert_array_equal(
        np.isnan(vectors).all(axis=1), [False, True, False, True, False, True]
    )
    found = distance.embedding_distance(answers, vectors)
    np.testing.assert_array_equal(np.isnan(np.diag(found)), np.isnan(vectors[:, 0]))


def test_demographic_words_are_left_out_only_when_that_is_asked_for():
    def embed(texts):
        return np.array([[text.count("She"), text.count("He"), 1.0] for text in texts])

    def mask(text):
        return text.replace("She", "They").replace("He", "They")

    answers = [answer(text="She should rest."), answer(text="He should rest.")]
    plain = distance.embedding_distance(answers, distance.text_vectors(answers, embed))
    masked = distance.embedding_distance(
        answers, distance.text_vectors(answers, embed, masked=True, mask=mask)
    )
    assert plain[0, 1] == pytest.approx(0.5)
    assert masked[0, 1] == 0.0
    for wrong in ({"masked": True}, {"mask": mask}):
        with pytest.raises(ValueError, match="give both or neither"):
            distance.text_vectors(answers, embed, **wrong)


def test_texts_that_point_away_from_each_other_are_at_distance_one():
    answers = [answer(), answer(), answer()]
    found = distance.embedding_distance(answers, np.array([[1.0, 0.0], [-2.0, 0.0], [0.0, 3.0]]))
    np.testing.assert_array_equal(found, 1.0 - np.eye(3))


def test_a_vector_of_zeros_has_no_distance():
    found = distance.embedding_distance([answer(), answer()], np.array([[1.0, 0.0], [0.0, 0.0]]))
    np.testing.assert_array_equal(np.isnan(found), [[False, True], [True, True]])


@pytest.mark.parametrize("shape", [(1, 3), (3, 3), (2,)])
def test_vectors_of_other_answers_are_an_error(shape):
    with pytest.raises(ValueError, match="one row for each of 2 answers"):
        distance.embedding_distance([answer(), answer()], np.ones(shape))


def test_a_cut_or_refused_reply_settles_no_list():
    lists = {
        "differential": ("Pneumonia",),
        "tests": ("ECG",),
        "treatments": ("Rest",),
        "chosen": 1,
    }
    for outcome in ("refused", "truncated", "unreadable", "blocked", "error"):
        cut = answer(outcome=outcome, **lists)
        for find in distance.DISTANCES.values():
            assert math.isnan(find([cut, answer(**lists)])[0, 1])
