"""The flat table of names: a dict of bytes, in less memory."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

pytest.importorskip("numba", reason="numba is not installed: the extra askew[boundary]")

from askew.datasets.name_table import Names
from askew.datasets.sql_rows import Texts


def texts(names: list[bytes]) -> Texts:
    starts = np.array([0, *itertools.accumulate(map(len, names))], np.int64)
    return Texts(np.frombuffer(b"".join(names), np.uint8).copy(), starts)


BATCHES = st.lists(st.lists(st.binary(max_size=3), max_size=12), max_size=5)


@settings(max_examples=100, deadline=None)
@given(batches=BATCHES, unknown=st.lists(st.binary(max_size=3), max_size=5))
def test_names_are_numbered_as_a_dict_would(batches, unknown):
    names, plain = Names(), {}
    for batch in batches:
        expected = [plain.setdefault(name, len(plain)) for name in batch]
        assert names.add(texts(batch)).tolist() == expected
    assert len(names) == len(plain)
    assert [names[number] for number in range(len(names))] == list(plain)
    assert list(names.texts()) == list(plain)
    assert list(names.texts(len(plain) // 2)) == list(plain)[len(plain) // 2 :]
    assert names.find(texts(unknown)).tolist() == [plain.get(name, -1) for name in unknown]
    assert len(names) == len(plain)  # looking up adds nothing


def test_names_that_are_not_wanted_are_passed_over():
    names = Names()
    found = names.add(texts([b"a", b"b", b"a", b""]), np.array([False, True, True, True]))
    assert found.tolist() == [-1, 0, 1, 2]
    assert list(names.texts()) == [b"b", b"a", b""]


def test_the_table_grows_far_beyond_its_first_size():
    names = Names()
    many = [b"name %d" % number for number in range(50_000)]
    for start in range(0, len(many), 7_000):
        names.add(texts(many[start : start + 7_000]))
    assert names.find(texts(many)).tolist() == list(range(len(many)))
