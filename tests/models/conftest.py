"""Small real models: the packaged one, and tiny ones made here with random weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

CHARACTERS = [chr(code) for code in range(32, 127)] + ["\n"]
VOCABULARY = len(CHARACTERS) + 2  # and a BOS and an EOS
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}[{{ message['role'] }}]{{ message['content'] }}\n"
    "{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}"
)


@pytest.fixture(scope="session")
def torch() -> Any:
    """Torch on one thread: two test processes with two threads each are slower than with one."""
    torch = pytest.importorskip("torch", reason="askew[local] is not installed")
    torch.set_num_threads(1)
    return torch


@pytest.fixture(scope="session")
def builtin_model(torch: Any) -> Path:
    """The folder of builtin/smollm2 in the user's cache, installed and converted at first need."""
    from askew.errors import MissingDependency
    from askew.models import builtin

    try:
        return builtin.install("builtin/smollm2")
    except (builtin.InstallError, MissingDependency) as error:
        pytest.skip(f"builtin/smollm2 cannot be installed here: {error}")


@pytest.fixture(scope="session")
def make_tokenizer(torch: Any) -> Callable[..., Any]:
    """Builds tokenizers of single characters, with merges, a BOS and a chat template on demand."""
    from tokenizers import Tokenizer
    from tokenizers.decoders import Fuse
    from tokenizers.models import BPE
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    def make(
        merges: tuple[tuple[str, str], ...] = (),
        *,
        adds_bos: bool = False,
        chat_template: str | None = CHAT_TEMPLATE,
    ) -> Any:
        tokens = ["<bos>", "<eos>", *CHARACTERS, *(left + right for left, right in merges)]
        vocabulary = {token: number for number, token in enumerate(tokens)}
        tokenizer = Tokenizer(BPE(vocabulary, list(merges)))
        tokenizer.decoder = Fuse()
        if adds_bos:
            tokenizer.post_processor = TemplateProcessing(
                single="<bos> $A", special_tokens=[("<bos>", 0)]
            )
        fast = PreTrainedTokenizerFast(
            tokenizer_object=tokenizer, bos_token="<bos>", eos_token="<eos>", pad_token="<eos>"
        )
        fast.chat_template = chat_template
        return fast

    return make


@pytest.fixture(scope="session")
def make_network(torch: Any) -> Callable[..., Any]:
    """Builds tiny random language models: "llama", "gpt2", "mistral", "bloom" and more."""
    import transformers

    # Large weights, so that a wrong mask or position shows in the first digits.
    sizes = {"vocab_size": VOCABULARY, "hidden_size": 32, "initializer_range": 0.3}
    heads = {"num_attention_heads": 4, "num_hidden_layers": 2}
    llama = {**sizes, **heads, "intermediate_size": 64, "num_key_value_heads": 2}
    gpt2 = {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 128}
    kinds: dict[str, tuple[str, dict[str, Any]]] = {
        "llama": ("Llama", {**llama, "max_position_embeddings": 128}),
        "gpt2": ("GPT2", {**gpt2, "initializer_range": 0.3}),
        "mistral": ("Mistral", {**llama, "sliding_window": 16}),
        "bloom": ("Bloom", {**sizes, "n_layer": 2, "n_head": 4}),
        "qwen2": ("Qwen2", llama),
        "gemma": ("Gemma", {**llama, "head_dim": 8}),
        "gemma2": ("Gemma2", {**llama, "head_dim": 8, "attn_logit_softcapping": 2.0}),
        "neox": ("GPTNeoX", {**sizes, **heads, "intermediate_size": 64}),
        "falcon": ("Falcon", {**sizes, **heads, "multi_query": True}),
    }

    def make(kind: str, **changed: Any) -> Any:
        torch.manual_seed(0)
        name, settings = kinds[kind]
        config = getattr(transformers, f"{name}Config")(
            **{**settings, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 1, **changed}
        )
        model_class = {"GPT2": "GPT2LMHeadModel"}.get(name, f"{name}ForCausalLM")
        return getattr(transformers, model_class)(config).eval()

    return make


@pytest.fixture(scope="session")
def tiny_folder(
    make_network: Callable[..., Any],
    make_tokenizer: Callable[..., Any],
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    """A folder with a tiny Llama and a character tokenizer that has a chat template."""
    folder = tmp_path_factory.mktemp("tiny")
    make_network("llama").save_pretrained(folder)
    make_tokenizer(adds_bos=True).save_pretrained(folder)
    return folder


@pytest.fixture
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty cache folder."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("ASKEW_CACHE", str(folder))
    return folder
