"""A model's folder is a stranger's: nothing in it runs unasked, and what is refused says why."""

from __future__ import annotations

import json
import shutil
import struct
from pathlib import Path

import pytest

from askew.errors import ConfigError
from askew.models.base import Fatal, ModelSpec
from askew.models.gguf_header import check_gguf
from askew.models.local import LocalModel
from askew.models.model_folder import check_adapter, check_model_folder
from askew.records import Call, Prompt, Sampling

SCORED = Call(Prompt(text="Who?", choices=(" a", " b")), Sampling(), "target", 0)


def local(folder, **options) -> LocalModel:
    return LocalModel(ModelSpec(name=f"local/{folder}", options=options))


@pytest.fixture
def copy(tiny_folder, tmp_path) -> Path:
    """A tiny Llama's folder, to be spoilt."""
    return Path(shutil.copytree(tiny_folder, tmp_path / "copy"))


def changed(path: Path, **fields) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **fields}))


class Written:
    """Writes a file when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def pickled(torch, path: Path, marker: Path) -> None:
    torch.save({"weight": torch.zeros(2), "x": Written(marker)}, path)


def test_pickled_weights_alone_are_refused_with_the_way_out(copy, torch, tmp_path):
    (copy / "model.safetensors").unlink()
    pickled(torch, copy / "pytorch_model.bin", tmp_path / "ran")
    with pytest.raises(ConfigError, match=r"only pytorch_model\.bin.*save_pretrained"):
        local(copy)
    assert not (tmp_path / "ran").exists()


async def test_pickled_weights_beside_safetensors_are_not_opened(
    copy, torch, tmp_path, empty_cache
):
    pickled(torch, copy / "pytorch_model.bin", tmp_path / "ran")
    await local(copy).ask([SCORED])
    # Nor where the safetensors are there by name alone.
    (copy / "model.safetensors").rename(copy / "other.safetensors")
    with pytest.raises(Fatal, match="cannot be loaded"):
        await local(copy).ask([SCORED])
    assert not (tmp_path / "ran").exists()


async def test_weights_that_are_cut_off_or_lack_a_layer_stop_the_run(copy, torch, empty_cache):
    from safetensors.torch import load_file, save_file

    weights = copy / "model.safetensors"
    whole = load_file(weights)
    lost = next(name for name in whole if "layers.1" in name)
    save_file({k: v for k, v in whole.items() if k != lost}, weights, metadata={"format": "pt"})
    with pytest.raises(Fatal, match=f"lack 1 of .*{lost}.*at random"):
        await local(copy).ask([SCORED])
    weights.write_bytes(weights.read_bytes()[:-1000])
    with pytest.raises(Fatal, match="cannot be loaded"):
        await local(copy).ask([SCORED])
    weights.write_bytes(struct.pack("<Q", 2**60) + b"{}")
    with pytest.raises(Fatal, match="cannot be loaded"):
        await local(copy).ask([SCORED])


CODE = """
import pathlib
from transformers import LlamaConfig, LlamaForCausalLM
pathlib.Path({marker!r}).touch()
class OwnConfig(LlamaConfig):
    model_type = "own_llama"
class OwnModel(LlamaForCausalLM):
    config_class = OwnConfig
"""


@pytest.fixture
def with_code(copy, tmp_path, monkeypatch) -> Path:
    """The folder with code of its own, which writes a file as it is imported."""
    monkeypatch.setenv("HF_MODULES_CACHE", str(tmp_path / "modules"))
    (copy / "own.py").write_text(CODE.format(marker=str(tmp_path / "ran")))
    changed(
        copy / "config.json",
        model_type="own_llama",
        auto_map={"AutoConfig": "own.OwnConfig", "AutoModelForCausalLM": "own.OwnModel"},
    )
    return copy


async def test_code_of_the_folder_runs_only_where_it_is_asked_for(with_code, tmp_path, empty_cache):
    with pytest.raises(ConfigError, match=r"auto_map.*Read the code.*trust_remote_code = true"):
        local(with_code)
    # Said not to be run: there is no class of transformers' own of this type.
    with pytest.raises(Fatal, match="cannot be loaded"):
        await local(with_code, trust_remote_code=False).ask([SCORED])
    assert not (tmp_path / "ran").exists()
    trusted = local(with_code, trust_remote_code=True)
    (reply,) = await trusted.ask([SCORED])
    assert (tmp_path / "ran").exists()
    assert len(reply.log_probabilities) == 2
    # What ran is on record: another code, another key for every call.
    before = trusted.identity()["remote_code_sha256"]
    (with_code / "own.py").write_text((with_code / "own.py").read_text() + "\n")
    assert local(with_code, trust_remote_code=True).identity()["remote_code_sha256"] != before


async def test_transformers_own_class_may_be_asked_for(with_code, tmp_path, empty_cache):
    changed(with_code / "config.json", model_type="llama")
    model = local(with_code, trust_remote_code=False)
    await model.ask([SCORED])
    assert "remote_code_sha256" not in model.identity()
    assert not (tmp_path / "ran").exists()


@pytest.mark.parametrize(
    ("file", "fields", "said"),
    [
        ("tokenizer_config.json", {"auto_map": {"AutoTokenizer": ["own.Own", None]}}, "auto_map"),
        ("config.json", {"text_config": {"auto_map": {"AutoConfig": "own.Own"}}}, "auto_map"),
        ("config.json", {"transformers_weights": "../other.safetensors"}, "transformers_weights"),
        ("config.json", {"transformers_weights": "adapter_model.bin"}, "transformers_weights"),
        ("config.json", {"attn_implementation": "someone/kernel"}, "code of the hub"),
        ("config.json", {"_attn_implementation": {"": "someone/kernel"}}, "code of the hub"),
        ("config.json", {"num_hidden_layers": 10**9}, "1000000000 layers"),
        ("config.json", {"num_hidden_layers": "many"}, "many layers"),
    ],
)
def test_settings_that_lead_elsewhere_are_refused(copy, file, fields, said):
    changed(copy / file, **fields)
    with pytest.raises(ConfigError, match=said):
        local(copy)


def test_code_of_another_repository_is_refused_even_where_code_is_trusted(with_code):
    changed(with_code / "config.json", auto_map={"AutoConfig": "someone/else--own.OwnConfig"})
    with pytest.raises(ConfigError, match="another repository"):
        local(with_code, trust_remote_code=True)


@pytest.mark.parametrize(
    "index", [{"weight_map": {"a": "../x.safetensors"}}, {"weight_map": {"a": "x.bin"}}, {}]
)
def test_an_index_names_safetensors_of_the_folder(copy, index):
    (copy / "model.safetensors.index.json").write_text(json.dumps(index))
    with pytest.raises(ConfigError, match=r"weight_map|lies in"):
        local(copy)


@pytest.mark.parametrize("text", ["[" * 100_000, "{", "[]", '{"a": NaN', "\ufeff{}", '"x"'])
def test_settings_that_are_no_object_are_refused_by_name(copy, text):
    (copy / "config.json").write_text(text)
    with pytest.raises(ConfigError, match=r"config\.json"):
        local(copy)


def test_an_adapter_is_not_taken_for_a_model(copy):
    (copy / "adapter_config.json").write_text('{"base_model_name_or_path": "/elsewhere"}')
    with pytest.raises(ConfigError, match="Name the base model's folder"):
        local(copy)


ADAPTER = {"peft_type": "LORA", "r": 2, "target_modules": ["q_proj"], "task_type": "CAUSAL_LM"}


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, None),
        ({"peft_type": "IA3"}, "expected 'LORA'"),
        ({"megatron_config": {}, "megatron_core": "os"}, "import the module"),
        ({"r": 10**9}, "rank '1000000000'"),
        ({"rank_pattern": {"q_proj": -1}}, "rank '-1'"),
        ({"rank_pattern": [1]}, "rank_pattern"),
    ],
)
def test_an_adapters_settings_are_held_to_what_lora_needs(tmp_path, fields, said):
    (tmp_path / "adapter_model.safetensors").touch()
    (tmp_path / "adapter_config.json").write_text(json.dumps({**ADAPTER, **fields}))
    if said is None:
        check_adapter(tmp_path)
        return
    with pytest.raises(ConfigError, match=said):
        check_adapter(tmp_path)


def test_a_pickled_adapter_is_refused(tmp_path, copy, torch):
    (tmp_path / "adapter_config.json").write_text(json.dumps(ADAPTER))
    pickled(torch, tmp_path / "adapter_model.bin", tmp_path / "ran")
    with pytest.raises(ConfigError, match=r"only adapter_model\.bin"):
        LocalModel(ModelSpec(name=f"local/{copy}", adapter=str(tmp_path)))
    assert not (tmp_path / "ran").exists()


async def test_an_adapter_that_lacks_weights_stops_the_run(
    copy, make_network, tmp_path, empty_cache
):
    peft = pytest.importorskip("peft", reason="askew[local] is not installed")
    from safetensors.torch import load_file, save_file

    adapted = peft.get_peft_model(
        make_network("llama"), peft.LoraConfig(r=2, target_modules=["q_proj"])
    )
    adapted.save_pretrained(tmp_path / "adapter")
    weights = tmp_path / "adapter" / "adapter_model.safetensors"
    whole = load_file(weights)
    whole.pop(next(iter(whole)))
    save_file(whole, weights)
    model = LocalModel(ModelSpec(name=f"local/{copy}", adapter=str(tmp_path / "adapter")))
    with pytest.raises(Fatal, match="lacks 1 tensors"):
        await model.ask([SCORED])


def test_an_encoders_folder_is_held_to_the_same(copy, torch):
    from askew.models.embedder import SentenceEncoder

    changed(copy / "config.json", auto_map={"AutoModel": "own.Own"})
    with pytest.raises(ConfigError, match="auto_map"):
        SentenceEncoder("local/x", copy)


def gguf(*entries: bytes, tensors: bytes = b"", counts: tuple[int, int] | None = None) -> bytes:
    told = counts or (bool(tensors), len(entries))
    return b"GGUF" + struct.pack("<IQQ", 3, *told) + b"".join(entries) + tensors


def entry(kind: int, value: bytes) -> bytes:
    return struct.pack("<Q", 1) + b"k" + struct.pack("<I", kind) + value


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b"GGUX" + b"\0" * 40, "begin with GGUF"),
        (b"GGUF" + struct.pack("<IQQ", 9, 0, 0), "version 9"),
        (gguf(counts=(0, 2**60)), "1,152,921,504,606,846,976 entries"),
        (gguf(counts=(2**60, 0)), "tensors are said"),
        (gguf(entry(9, struct.pack("<IQ", 0, 2**60))), "values are said"),
        (gguf(entry(9, struct.pack("<IQ", 9, 1))), "an array of type 9"),
        (gguf(entry(8, struct.pack("<Q", 2**62))), "bytes are said"),
        (gguf(entry(77, b"")), "a value of type 77"),
        (gguf(tensors=struct.pack("<Q", 1) + b"t" + struct.pack("<I", 99)), "99 dimensions"),
        (
            gguf(tensors=struct.pack("<Q", 1) + b"t" + struct.pack("<IQIQ", 1, 4, 0, 2**60)),
            "bytes on",
        ),
    ],
)
def test_a_gguf_header_is_held_against_the_files_length(tmp_path, data, said):
    path = tmp_path / "m.gguf"
    # Room, so that a count is refused for what it says and not because the file is short.
    path.write_bytes(data + b"\0" * 64 if data else data)
    with pytest.raises(ConfigError, match=said):
        check_gguf(path)
    with pytest.raises(ConfigError, match=said):
        LocalModel(ModelSpec(name=f"local/{path}"))


def test_a_sound_gguf_header_passes(tmp_path):
    path = tmp_path / "m.gguf"
    tensor = struct.pack("<Q", 1) + b"t" + struct.pack("<IQIQ", 1, 4, 0, 0)
    path.write_bytes(gguf(entry(4, struct.pack("<I", 7)), tensors=tensor) + b"\0" * 64)
    check_gguf(path)


def test_a_sound_folder_passes(copy):
    check_model_folder(copy, remote_code=None)
