"""Hashed titles: the same everywhere, near where words are shared, whole on hostile text."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import askew.search.title_vectors as title_vectors
from askew.graphs.topics import build_graph
from askew.search.title_vectors import LazyTitles, hashed

TITLES = ["Tax policy", "Economics of education", "Économie", "Ὀδύσσεια", "<b>AI</b>\x00\u202e", ""]


@given(st.lists(st.text(max_size=40), max_size=8), st.integers(2, 70))
@settings(max_examples=50, deadline=None)
def test_every_title_has_a_vector_of_length_one_or_none_at_all(titles, dimensions):
    vectors = hashed(titles, dimensions)
    assert vectors.shape == (len(titles), dimensions)
    assert vectors.dtype == np.float32
    lengths = np.linalg.norm(vectors, axis=1)
    assert (np.isclose(lengths, 1, atol=1e-5) | (lengths == 0)).all()
    for row, title in enumerate(titles):  # a title's vector does not depend on its company
        np.testing.assert_array_equal(vectors[row], hashed([title], dimensions)[0])


def test_other_processes_make_the_same_vectors():
    code = (
        f"from askew.search.title_vectors import hashed;print(hashed({TITLES!r}).tobytes().hex())"
    )
    for salt in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": salt},
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.strip() == hashed(TITLES).tobytes().hex()


def test_case_accents_and_small_words_do_not_count():
    one, other = hashed(["The Économie of Health", "economie   HEALTH"])
    np.testing.assert_array_equal(one, other)


def test_titles_that_share_words_or_parts_of_words_are_near():
    start, word, part, neither = hashed(
        ["Immigration law", "Immigration detention", "Immigrants", "Painting"], 256
    )
    assert start @ word > start @ part > start @ neither + 0.1


def test_words_that_are_forgotten_come_back_the_same(monkeypatch):
    titles = ["Tax law", "Art", "Tax policy", "Trade law"]
    whole = hashed(titles)
    monkeypatch.setattr(title_vectors, "WORDS_KEPT", 1)
    np.testing.assert_array_equal(hashed(titles), whole)


def test_stretches_do_not_show(monkeypatch):
    titles = [f"Topic number {at}" for at in range(25)]
    whole = hashed(titles)
    monkeypatch.setattr(title_vectors, "STRETCH", 4)
    np.testing.assert_array_equal(hashed(titles), whole)


def test_lazy_titles_are_the_same_vectors():
    nothing = np.zeros(0, int)
    graph = build_graph(TITLES, nothing, nothing)
    lazy = LazyTitles(graph)
    for nodes in ([4, 0], [0, 0, 3], [], list(range(6))):
        np.testing.assert_array_equal(
            lazy.of(np.array(nodes, int)), hashed(TITLES)[np.array(nodes, int)]
        )


def test_one_dimension_is_too_few():
    with pytest.raises(ValueError, match="at least 2"):
        hashed(["a"], 1)
