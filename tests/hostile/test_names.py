"""A model's name makes a plain folder below the one that it is joined to, whatever it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.run.common import folder_of
from tests.hostile.texts import ALL, FLOOD, TERMINAL, steering


@given(st.text() | st.sampled_from(list(TERMINAL.values())))
def test_every_name_is_a_plain_one(text):
    name = folder_of(text)
    assert len(Path(name).parts) == 1
    assert name not in ("", ".", "..")
    assert not set('/\\:*?"<>|') & set(name)
    assert len(name.encode()) <= 201
    assert [one for one in steering(name) if not FLOOD.match(one)] == []
    assert name == name.rstrip(". ")


@pytest.mark.parametrize("text", ["..", ".", "", "con", "NUL.txt", "com1", "lpt9.a", "..\x00", ALL])
def test_a_folder_can_be_made_of_it(text, tmp_path):
    made = tmp_path / folder_of(text)
    made.mkdir()
    assert made.parent == tmp_path
    assert made.resolve().parent == tmp_path.resolve()


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("openai/gpt-4o", "openai-gpt-4o"),
        ("local//models/a b.gguf", "local--models-a b.gguf"),
        ("python/mine:target", "python-mine-target"),
        ("inspect/anthropic/claude", "inspect-anthropic-claude"),
    ],
)
def test_plain_names_are_what_they_were(model, name):
    """An older run is found where it was put."""
    assert folder_of(model) == name
