"""Models whose weights lie on this machine: `local/…` and `builtin/…`, through transformers.

`local/` takes a folder, a GGUF file or a hub id, with a LoRA adapter if wanted. Choices are scored
as lm-evaluation-harness does it (`tokens`, `local_likelihood`); replies are generated in batches
(`local_generation`). The work is done in one thread of its own, so that progress and Ctrl-C live.

Options (`ModelSpec.options`):
    device: "auto" (default), "cpu", "cuda", "mps".
    download: whether the hub may be asked for a model that is not here; false by default.
    template: settings for the chat template, e.g. {enable_thinking = false}, or
        {date_string = "1 Jan 2026"} for a template that otherwise writes today's date.
    token_budget: tokens computed at once; 768 on a CPU, where more gains nothing, else 4,096.
    generation_batch: prompts that are generated from at once; 32.
    trust_remote_code: true runs the Python code of the model's folder, false passes over it; not
        given, a folder with code is refused (`model_folder`).
    The two numbers are less where the memory that is free is small (`local_memory`).
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askew.errors import ConfigError, missing_extra, unknown_name
from askew.models import builtin, options
from askew.models.base import Ability, Fatal, ModelSpec
from askew.models.local_cache import tree_for_prompts
from askew.models.local_generation import (
    Drawing,
    Generated,
    Request,
    generate,
    keep_only_end_tokens,
)
from askew.models.local_likelihood import Scorer, attention_window, scorer_for, tree_for
from askew.models.local_memory import Budgets, budgets
from askew.models.local_prompts import Prepared, PromptReader
from askew.models.local_tree import Tree
from askew.models.model_folder import check_adapter, code_files
from askew.models.pretrained import opened, opened_network, with_adapter
from askew.models.weights import ModelFiles, combined_sha256, files_with, locate
from askew.records import Call, Finish, Reply
from askew.seeds import generator

if TYPE_CHECKING:
    from transformers import PreTrainedModel

DTYPES = ("float32", "bfloat16", "float16")
DEVICES = ("auto", "cpu", "cuda", "mps")
OPTIONS = (
    "device",
    "download",
    "template",
    "token_budget",
    "generation_batch",
    "trust_remote_code",
)


class LoadError(Fatal, ConfigError):
    """The files are there, but they do not make a model that can be asked."""


class Stopped(Exception):
    """The work was cancelled between two steps."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model in memory."""

    network: PreTrainedModel
    scorer: Scorer
    tree: Tree | None  # what replies are generated with; None where the model takes no such cache
    window: int | None  # tokens that a layer looks back, None where all see everything
    longest: int | None  # tokens that the model takes, None where it names no limit
    budgets: Budgets


class LocalModel:
    """A model on this machine (see the module's text and `models.base.Model`).

    The default dtype is float32. In bfloat16 log-probabilities move by up to 0.14 with what else is
    in the batch, and the likelier option with them: use it for generating, not for comparing.

    Raises:
        ConfigError: there is no such model or adapter, or an option is unknown.
        MissingDependency: the packages of askew[local] are not there.
    """

    abilities = Ability.REPLY | Ability.CHOICE_LOG_PROBABILITIES
    batch = 256
    parallel = 1
    remote = False
    paid = False

    def __init__(self, spec: ModelSpec) -> None:
        self.name = spec.name
        self._spec = spec
        options.check_known(spec.options, OPTIONS, spec.provider)
        self._dtype = spec.dtype or "float32"
        if self._dtype not in DTYPES:
            raise unknown_name("dtype", self._dtype, list(DTYPES))
        self._device = options.text(spec.options, "device", "auto")
        if self._device not in DEVICES:
            raise unknown_name("device", str(self._device), list(DEVICES))
        self._template = options.table(spec.options, "template")
        self._token_budget = _number_if_given(spec, "token_budget")
        self._generation_batch = _number_if_given(spec, "generation_batch")
        self._adapter = Path(spec.adapter).expanduser() if spec.adapter else None
        if self._adapter:
            check_adapter(self._adapter)
        self._remote_code = remote_code_of(spec)
        self._files = self._locate(spec)
        # One thread, so that two batches can never share the model.
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="askew-local")

    def _locate(self, spec: ModelSpec) -> ModelFiles:
        download = options.flag(spec.options, "download", False)
        return locate(
            spec.model,
            revision=spec.revision,
            download=download,
            remote_code=self._remote_code,
        )

    def identity(self) -> Mapping[str, object]:
        """See `models.base.Model`. A folder counts by what it holds, not by where it lies."""
        torch, transformers = _packages()
        # Named only where it runs, so that every other model keeps the keys of its calls.
        code = code_files(self._files.folder) if self._remote_code else []
        return {
            **({"remote_code_sha256": combined_sha256(code)} if code else {}),
            "provider": self._spec.provider,
            "model": self._files.label,
            "revision": self._spec.revision,
            "weights_sha256": self._files.weights_sha256(),
            "settings_sha256": self._files.settings_sha256(),
            "adapter_sha256": self._adapter_sha256(),
            "chat_template_sha256": sha256_text(self._reader.template.source),
            "template_settings": self._template,
            "dtype": self._dtype,
            "device": self._resolved_device,
            # Within a major version results agree to rounding, and a mended run should go on.
            "torch": torch.__version__.partition(".")[0],
            "transformers": transformers.__version__.partition(".")[0],
        }

    def tokens(self, call: Call) -> int:
        """The prompt's tokens, exactly."""
        return len(self._reader.prepare(call.prompt).tokens.prompt)

    async def ask(self, calls: Sequence[Call]) -> Sequence[Reply]:
        """See `models.base.Model`. Loads the model at the first call.

        A prompt too long for the model comes back as an error of that call alone.

        Raises:
            Fatal: the model cannot be loaded, its chat template refuses the messages, or the
                memory is too small.
        """
        gone = threading.Event()
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(self._worker, self._answer, list(calls), gone)
        finally:
            gone.set()  # after a cancellation the thread stops at its next step

    async def close(self) -> None:
        """Let the thread end and give the memory back."""
        self._worker.shutdown(wait=False, cancel_futures=True)
        self.__dict__.pop("_loaded", None)

    def _answer(self, calls: Sequence[Call], gone: threading.Event) -> list[Reply]:
        torch, _ = _packages()

        def checkpoint() -> None:
            if gone.is_set():
                raise Stopped

        loaded = self._loaded
        prepared = [self._reader.prepare(call.prompt) for call in calls]
        replies = [self._refusal(each, loaded.longest) for each in prepared]
        open_places = [place for place, reply in enumerate(replies) if reply is None]
        scored = [place for place in open_places if calls[place].prompt.choices]
        spoken = [place for place in open_places if not calls[place].prompt.choices]
        try:
            figures = loaded.scorer.score([prepared[place].tokens for place in scored], checkpoint)
            texts = generate(
                loaded.network,
                self._reader.tokenizer,
                [_request(calls[place], prepared[place], loaded.longest) for place in spoken],
                batch_size=loaded.budgets.prompts,
                room=loaded.budgets.room,
                tree=loaded.tree,
                window=loaded.window,
                checkpoint=checkpoint,
            )
        except torch.OutOfMemoryError as error:
            raise Fatal(
                f"{self.name}: out of memory on {self._resolved_device}. "
                "Lower the options token_budget and generation_batch."
            ) from error
        for place, row in zip(scored, figures, strict=True):
            replies[place] = self._scored(prepared[place], row)
        for place, generated in zip(spoken, texts, strict=True):
            replies[place] = self._spoken(prepared[place], generated)
        return [reply for reply in replies if reply is not None]

    def _refusal(self, prepared: Prepared, longest: int | None) -> Reply | None:
        """The error for a prompt that leaves no room for an answer, None for the others."""
        wanted = prepared.tokens.longest + (not prepared.tokens.continuations)
        if longest is None or wanted <= longest:
            return None
        return Reply(
            finish=Finish.ERROR,
            error=f"the prompt takes {wanted} tokens, {self.name} reads at most {longest}",
            prompt_tokens=len(prepared.tokens.prompt),
            adapted=prepared.adapted,
        )

    def _scored(self, prepared: Prepared, figures: tuple[float, ...]) -> Reply:
        return Reply(
            log_probabilities=figures,
            prompt_tokens=len(prepared.tokens.prompt),
            completion_tokens=0,
            served_model=self.name,
            adapted=prepared.adapted,
        )

    def _spoken(self, prepared: Prepared, generated: Generated) -> Reply:
        answer, reasoning = self._reader.answer(prepared.text, generated.text)
        return Reply(
            text=answer,
            reasoning=reasoning,
            finish=generated.finish,
            prompt_tokens=len(prepared.tokens.prompt),
            completion_tokens=generated.tokens,
            served_model=self.name,
            adapted=prepared.adapted,
        )

    @cached_property
    def _resolved_device(self) -> str:
        torch, _ = _packages()
        if self._device != "auto":
            return str(self._device)
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"

    @cached_property
    def _reader(self) -> PromptReader:
        _, transformers = _packages()
        tokenizer = opened(
            self.name,
            transformers.AutoTokenizer.from_pretrained,
            self._files,
            remote_code=self._remote_code,
            error=LoadError,
        )
        return PromptReader(self.name, tokenizer, self._template)

    @cached_property
    def _loaded(self) -> Loaded:
        torch, transformers = _packages()
        # Its bars would break into the caller's own progress.
        transformers.utils.logging.disable_progress_bar()
        network = opened_network(
            self.name,
            transformers.AutoModelForCausalLM.from_pretrained,
            self._files,
            remote_code=self._remote_code,
            dtype=getattr(torch, self._dtype),
            error=LoadError,
        )
        if self._adapter is not None:
            network = with_adapter(self.name, network, self._adapter, error=LoadError)
        network = network.to(self._resolved_device).eval()
        keep_only_end_tokens(network, self._reader.tokenizer)
        bounds = budgets(network, tokens=self._token_budget, prompts=self._generation_batch)
        tree = tree_for(network, bounds)
        return Loaded(
            network,
            scorer_for(network, tree),
            tree_for_prompts(tree),
            attention_window(network.config),
            getattr(network.config.get_text_config(), "max_position_embeddings", None),
            bounds,
        )

    def _adapter_sha256(self) -> str | None:
        if self._adapter is None:
            return None
        return combined_sha256(files_with(self._adapter, (".safetensors", ".bin", ".json")))


class BuiltinModel(LocalModel):
    """A packaged model, once `askew models install` has converted it."""

    def _locate(self, spec: ModelSpec) -> ModelFiles:
        return ModelFiles(builtin.require(spec.name))


def remote_code_of(spec: ModelSpec) -> bool | None:
    """The option `trust_remote_code`; None where it is not given (`model_folder`)."""
    if "trust_remote_code" not in spec.options:
        return None
    return options.flag(spec.options, "trust_remote_code", False)


def _number_if_given(spec: ModelSpec, name: str) -> int | None:
    return options.whole_number(spec.options, name, 1) if name in spec.options else None


def _request(call: Call, prepared: Prepared, longest: int | None) -> Request:
    """The call as `local_generation` takes it.

    Nothing set means the likeliest token, and a draw without a seed is a draw with seed 0: a run
    that is made again gives the same replies.
    """
    sampling = call.sampling
    prompt = prepared.tokens.prompt
    room = sampling.max_tokens if longest is None else longest - len(prompt)
    rng = generator(sampling.seed or 0, "reply", str(call.replicate), prepared.text)
    drawing = Drawing(
        temperature=sampling.temperature or 0.0,
        top_p=1.0 if sampling.top_p is None else sampling.top_p,
        max_tokens=min(sampling.max_tokens, room),
        stop=sampling.stop,
    )
    return Request(prompt, drawing, int(rng.integers(2**63)))


def sha256_text(text: str) -> str:
    """The text's sha256, in hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def _packages() -> tuple[Any, Any]:
    """Torch and transformers, imported when they are needed."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise missing_extra(error.name or "torch", "local") from error
    return torch, transformers
