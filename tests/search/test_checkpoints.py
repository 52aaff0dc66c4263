"""A checkpoint comes back as it was saved; a file that is none is named, with the mend."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps
from safetensors.numpy import save_file

from askew.errors import DataError
from askew.search.checkpoints import load_checkpoint, save_checkpoint, tensor

ARRAYS = st.dictionaries(
    st.text("abc/", min_size=1, max_size=5),
    st.sampled_from([np.float32, np.float64, np.int64, np.uint8, np.bool_]).flatmap(
        lambda kind: nps.arrays(kind, nps.array_shapes(min_side=0, max_side=4))
    ),
    max_size=4,
)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(ARRAYS)
def test_what_is_saved_comes_back(tmp_path: Path, tensors: dict[str, np.ndarray]) -> None:
    path = tmp_path / "a.safetensors"
    save_checkpoint(path, tensors, {"kind": "learned", "seed": 3})
    back = load_checkpoint(path, "learned")
    assert back.tensors.keys() == tensors.keys()
    for name, array in tensors.items():
        assert back.tensors[name].dtype == array.dtype
        np.testing.assert_array_equal(back.tensors[name], array)
    assert back.meta == {"kind": "learned", "seed": 3, "format": 1}


def test_the_same_checkpoint_is_the_same_bytes(tmp_path: Path) -> None:
    tensors = {"b": np.arange(6.0).reshape(2, 3).T, "a": np.zeros(2, np.float32)}
    save_checkpoint(tmp_path / "1", tensors, {"kind": "x", "z": [1, {"y": np.float32(2)}]})
    save_checkpoint(
        tmp_path / "2", dict(reversed(tensors.items())), {"z": (1, {"y": 2.0}), "kind": "x"}
    )
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()
    np.testing.assert_array_equal(load_checkpoint(tmp_path / "1").tensors["b"], tensors["b"])


def test_an_undefined_figure_stays_undefined(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "a", {}, {"kind": "x", "figures": {"loss": math.nan}})
    assert load_checkpoint(tmp_path / "a").meta["figures"]["loss"] is None


def test_another_policys_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    save_checkpoint(path, {}, {"kind": "gmrl_bd"})
    with pytest.raises(
        DataError, match=r"a\.safetensors: is a checkpoint of 'gmrl_bd', expected .*'learned'"
    ):
        load_checkpoint(path, "learned")


def test_a_missing_file_says_how_to_make_one(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no such checkpoint.*askew boundary train"):
        load_checkpoint(tmp_path / "nowhere.safetensors")


@pytest.mark.parametrize("kept", [0, 4, 8, 60, -1])
def test_a_cut_file_is_named(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "a.safetensors"
    save_checkpoint(path, {"w": np.ones(100)}, {"kind": "learned"})
    path.write_bytes(path.read_bytes()[:kept])
    with pytest.raises(DataError, match=r"a\.safetensors: is no whole safetensors file"):
        load_checkpoint(path)


def test_a_folder_and_foreign_bytes_are_named(tmp_path: Path) -> None:
    (tmp_path / "b").write_bytes(b"PK\x03\x04 not of this kind" * 9)
    for path in (tmp_path, tmp_path / "b"):
        with pytest.raises(DataError, match="is no whole safetensors file"):
            load_checkpoint(path)


@pytest.mark.parametrize(
    ("metadata", "words"),
    [
        (None, "not one of askew's policies"),
        ({"format": "pt"}, "not one of askew's policies"),
        ({"askew": "{"}, "is no JSON"),
        ({"askew": "[1]"}, "does not say which policy"),
        ({"askew": '{"format": 1}'}, "does not say which policy"),
        ({"askew": '{"kind": "learned", "format": 99}'}, "is of format 99"),
        ({"askew": '{"kind": "learned"}'}, "is of format None"),
    ],
)
def test_foreign_metadata_is_named(tmp_path: Path, metadata: dict[str, str], words: str) -> None:
    save_file({"w": np.ones(2)}, tmp_path / "a", metadata=metadata)
    with pytest.raises(DataError, match=words):
        load_checkpoint(tmp_path / "a")


def test_tensors_are_asked_for_by_name_and_must_be_finite(tmp_path: Path) -> None:
    save_checkpoint(tmp_path / "a", {"w": np.array([1.0, math.inf])}, {"kind": "learned"})
    back = load_checkpoint(tmp_path / "a")
    with pytest.raises(DataError, match="has no tensor 'v'"):
        tensor(back, "v", tmp_path / "a")
    with pytest.raises(DataError, match="'w' holds numbers that are not finite"):
        tensor(back, "w", tmp_path / "a")


def test_what_cannot_be_kept_is_refused_and_leaves_nothing_behind(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="kind"):
        save_checkpoint(tmp_path / "a", {}, {})
    with pytest.raises(ValueError, match="no JSON"):
        save_checkpoint(tmp_path / "a", {}, {"kind": "x", "why": object()})
    with pytest.raises(TypeError, match="'w'"):
        save_checkpoint(tmp_path / "a", {"w": np.array(["a"])}, {"kind": "x"})
    assert list(tmp_path.iterdir()) == []
