"""Finding a model's files, and remembering their checksums."""

from __future__ import annotations

import hashlib
import os
import struct

import pytest

from askew.errors import ConfigError
from askew.models.weights import combined_sha256, file_sha256, locate


@pytest.fixture
def folder(tmp_path):
    """A folder that looks like a model's, as far as `locate` reads it."""
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "small.gguf").write_bytes(b"GGUF" + struct.pack("<IQQ", 3, 0, 0))
    return folder


def test_folders_and_gguf_files_are_told_apart(folder):
    assert locate(str(folder), revision=None, download=False).gguf is None
    found = locate(str(folder / "small.gguf"), revision=None, download=False)
    assert (found.folder, found.gguf, found.label) == (folder, "small.gguf", "small.gguf")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("/nowhere/at/all", "no such file or folder"),
        ("./nowhere", "no such file or folder"),
        ("smollm", "not a hub id"),
        ("no-such-organisation/no-such-model", "download = true"),
    ],
)
def test_what_is_not_there_is_said_without_asking_the_network(name, message):
    with pytest.raises(ConfigError, match=message):
        locate(name, revision=None, download=False)


def test_other_files_and_folders_are_refused(folder, tmp_path):
    for path in (folder / "config.json", tmp_path):
        with pytest.raises(ConfigError, match=r"expected a \.gguf|no config\.json"):
            locate(str(path), revision=None, download=False)


def test_a_checksum_is_remembered_until_the_file_changes(folder, empty_cache):
    weights = folder / "model.safetensors"
    assert file_sha256(weights) == hashlib.sha256(b"weights").hexdigest()
    (remembered,) = (empty_cache / "checksums").iterdir()
    remembered.write_text("as remembered\n")
    assert file_sha256(weights) == "as remembered"
    weights.write_bytes(b"Weights")
    os.utime(weights, ns=(1, 1))
    assert file_sha256(weights) == hashlib.sha256(b"Weights").hexdigest()


def test_a_combined_checksum_depends_on_names_contents_and_borders(tmp_path, empty_cache):
    def written(*files):
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        for name, content in files:
            (folder / name).write_text(content)
        return combined_sha256(folder / name for name, _ in files)

    base = written(("a", "12"), ("b", "3"))
    assert written(("a", "12"), ("b", "3")) == base
    assert len({base, written(("a", "1"), ("b", "23")), written(("a", "12"), ("c", "3"))}) == 3
