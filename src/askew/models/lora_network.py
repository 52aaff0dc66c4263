"""A causal language model with an adapter, and the loss of a batch of pairs, computed sparingly.

A batch is laid out as one sequence: what all prompts begin with stands once, then each pair's own
tokens, and a mask lets each pair see the beginning and itself. So nothing is padded and the
template's system text is computed once a step. Where only the last layers are adapted, what comes
before them never changes, and is computed once for all epochs. Either way is tried on the first
pairs against one sequence at a time, and left where it gives other logits.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from askew.durable import whole_file
from askew.errors import ConfigError
from askew.models.local_likelihood import attention_window
from askew.seeds import generator

if TYPE_CHECKING:
    import torch

    from askew.models.lora_settings import LoraConfig, Text

# Kept outputs of frozen layers, at most; beyond it they are computed anew in each epoch.
_KEPT_BYTES = 2**30
_ALIKE = 1e-4  # of the largest logit
_LAYERS = ("layers", "h")  # what networks call the list of their layers


@dataclass(frozen=True, slots=True)
class _Laid:
    """A batch as one sequence."""

    tokens: list[int]
    positions: list[int]
    owner: list[int]  # -1: the beginning that all share
    predicts: list[int]  # places whose next token is learned
    targets: list[int]


class Network:
    """Adapted layers on frozen ones; see the module's text."""

    def __init__(self, adapted: Any, texts: Sequence[Text], first: int) -> None:
        self._adapted = adapted
        self._plain = adapted.get_base_model()
        self._texts = texts
        self._first = first  # the first adapted layer
        self._packed = False
        self._skips = False
        self._below: dict[int, torch.Tensor] = {}  # by pair: shape (own tokens, width)
        self._kept = 0  # bytes of it
        self._stem = _common([one.prompt for one in texts])
        self._stem_below: torch.Tensor | None = None
        self.parameters = [one for one in adapted.parameters() if one.requires_grad]

    def find_ways(self) -> None:
        """Try the sparing ways on the first pairs."""
        import torch

        # Our mask says who sees whom in every layer, so no text may be longer than one looks back.
        window = attention_window(self._plain.config)
        if window is not None and max(map(len, self._texts)) > window:
            return
        probe = list(range(min(2, len(self._texts))))
        # By logits: a loss of a few tokens may come out nearly alike from positions that are wrong.
        with torch.no_grad():
            plain = torch.cat([self._alone(index)[0] for index in probe])
            for way in ("_packed", "_skips"):
                if way == "_skips" and not (self._packed and self._first > 0):
                    break
                setattr(self, way, True)
                try:
                    apart = (self._packed_logits(probe)[0] - plain).abs().max()
                    alike = bool(apart <= _ALIKE * plain.abs().max())
                except (RuntimeError, ValueError, TypeError, AttributeError, LookupError):
                    alike = False
                setattr(self, way, alike)

    def loss(self, batch: Sequence[int]) -> torch.Tensor:
        """Mean of minus the natural log-probability of the answers' tokens."""
        import torch

        if self._packed:
            return self._of(*self._packed_logits(batch))
        parts = [self._of(*self._alone(index)) for index in batch]
        tokens = [len(self._texts[index].answer) for index in batch]
        weights = torch.tensor(tokens, device=parts[0].device) / sum(tokens)
        return (torch.stack(parts) * weights).sum()

    @staticmethod
    def _of(logits: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
        import torch

        return torch.nn.functional.cross_entropy(logits.float(), targets)

    def _alone(self, index: int) -> tuple[torch.Tensor, torch.Tensor]:
        import torch

        text, device = self._texts[index], self._plain.device
        tokens = torch.tensor([[*text.prompt, *text.answer]], device=device)
        logits = self._adapted(input_ids=tokens, use_cache=False).logits[0]
        places = slice(len(text.prompt) - 1, len(text) - 1)
        return logits[places], torch.tensor(text.answer, device=device)

    def _packed_logits(self, batch: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
        import torch

        laid = self._laid(batch)
        device = self._plain.device
        rows = torch.tensor(laid.predicts, device=device)
        inputs = {
            "position_ids": torch.tensor([laid.positions], device=device),
            "attention_mask": _mask(laid.owner, self._plain.dtype).to(device),
            "use_cache": False,
        }
        if self._skips:
            hidden = self._hidden(batch)[None]  # by all layers, so before the lower ones are gone
            with self._upper_layers():
                logits = self._logits(rows, inputs_embeds=hidden, **inputs)
        else:
            tokens = torch.tensor([laid.tokens], device=device)
            logits = self._logits(rows, input_ids=tokens, **inputs)
        return logits, torch.tensor(laid.targets, device=device)

    def _logits(self, rows: torch.Tensor, **inputs: Any) -> torch.Tensor:
        """At `rows` alone where the model can be told so: its head is wider than all else."""
        logits: torch.Tensor
        if "logits_to_keep" in inspect.signature(self._plain.forward).parameters:
            logits = self._adapted(**inputs, logits_to_keep=rows).logits[0]
        else:
            logits = self._adapted(**inputs).logits[0, rows]
        return logits

    def _laid(self, batch: Sequence[int]) -> _Laid:
        stem = len(self._stem)
        tokens, positions, owner = list(self._stem), list(range(stem)), [-1] * stem
        predicts: list[int] = []
        targets: list[int] = []
        for place, index in enumerate(batch):
            text = self._texts[index]
            own = [*text.prompt[stem:], *text.answer[:-1]]
            first = len(tokens) + len(text.prompt) - stem - 1
            predicts += range(first, first + len(text.answer))
            targets += text.answer
            tokens += own
            positions += range(stem, stem + len(own))
            owner += [place] * len(own)
        return _Laid(tokens, positions, owner, predicts, targets)

    def _hidden(self, batch: Sequence[int]) -> torch.Tensor:
        """What the first adapted layer is given, shape (tokens of the batch laid out, width)."""
        import torch

        for index in batch:
            if index not in self._below:
                self._compute_below(index)
        assert self._stem_below is not None
        laid = torch.cat([self._stem_below, *(self._below[index] for index in batch)])
        if self._kept > _KEPT_BYTES:
            self._below.clear()
            self._kept = 0
        return laid

    def _compute_below(self, index: int) -> None:
        import torch

        text = self._texts[index]
        seen: list[torch.Tensor] = []
        layer = _layers(self._plain)[self._first]

        def catch(module: Any, inputs: Any, named: dict[str, Any]) -> None:
            found = named["hidden_states"] if "hidden_states" in named else inputs[0]
            seen.append(found.detach()[0].clone())
            raise _Caught

        hook = layer.register_forward_pre_hook(catch, with_kwargs=True)
        tokens = torch.tensor([[*text.prompt, *text.answer[:-1]]], device=self._plain.device)
        try:
            with torch.no_grad():
                self._adapted(input_ids=tokens, use_cache=False)
        except _Caught:
            pass
        finally:
            hook.remove()
        stem = len(self._stem)
        if self._stem_below is None:
            self._stem_below = seen[0][:stem]
        self._below[index] = seen[0][stem:]
        self._kept += self._below[index].nbytes

    @contextmanager
    def _upper_layers(self) -> Iterator[None]:
        """Within it, the network has its adapted layers only."""
        import torch

        decoder, layers = self._plain.get_decoder(), _layers(self._plain)
        name = _LAYERS[0] if getattr(decoder, _LAYERS[0], None) is layers else _LAYERS[1]
        setattr(decoder, name, torch.nn.ModuleList(list(layers)[self._first :]))
        try:
            yield
        finally:
            setattr(decoder, name, layers)

    def weights(self) -> dict[str, torch.Tensor]:
        """The adapter's tensors by peft's names."""
        from peft import get_peft_model_state_dict

        found = get_peft_model_state_dict(self._adapted, save_embedding_layers=False)
        return {name: found[name].detach().cpu().contiguous() for name in sorted(found)}

    def restore(self, tensors: dict[str, torch.Tensor]) -> None:
        """Set the adapter's tensors; names that are not its own are passed over."""
        from peft import set_peft_model_state_dict

        own = {name: tensors[name] for name in self.weights()}
        set_peft_model_state_dict(self._adapted, own)

    def save(self, folder: Path, base: str) -> None:
        """Write the adapter in peft's form; equal adapters give equal bytes."""
        from safetensors.torch import save

        from askew.models.lora import SETTINGS, WEIGHTS

        for name, data in (
            (WEIGHTS, save(self.weights(), metadata={"format": "pt"})),
            (SETTINGS, self._settings(base).encode()),
        ):
            with whole_file(folder / name) as part:
                part.write_bytes(data)

    def _settings(self, base: str) -> str:
        """`adapter_config.json`; the base model by its name, not by its place on this machine."""
        settings = self._adapted.peft_config["default"].to_dict()
        settings |= {"base_model_name_or_path": base, "inference_mode": True}
        return json.dumps(settings, indent=2, sort_keys=True, default=_plain_value) + "\n"


class _Caught(Exception):
    """The hidden states are had; the layers above need not be computed."""


def adapt(network: Any, config: LoraConfig, texts: Sequence[Text]) -> Network:
    """The network with a fresh adapter, drawn by the seed.

    Raises:
        ConfigError: the network's layers are not of a kind that can be adapted.
    """
    import peft
    import torch

    layers = _layers(network)
    count = len(layers) if layers is not None else 0
    names = sorted(
        {
            name.rpartition(".")[2]
            for name, module in (layers.named_modules() if layers is not None else ())
            if type(module).__name__ in ("Linear", "Conv1D")
        }
    )
    if not names:
        raise ConfigError(
            f"lora: {type(network).__name__} has no layers that can be adapted here. "
            "Name a causal language model of the usual form."
        )
    first = 0 if config.layers is None else max(0, count - config.layers)
    settings = peft.LoraConfig(
        r=config.rank,
        lora_alpha=config.alpha,
        lora_dropout=0.0,
        target_modules=names,
        layers_to_transform=list(range(first, count)) if first else None,
        task_type="CAUSAL_LM",
    )
    with torch.random.fork_rng():
        torch.manual_seed(int(generator(config.seed, "lora", "weights").integers(2**63)))
        adapted = peft.get_peft_model(network, settings)
    adapted.eval()  # no dropout, of the model's own layers either: the same seed, the same adapter
    found = Network(adapted, texts, first)
    found.find_ways()
    return found


def _layers(network: Any) -> Any:
    decoder = network.get_decoder()
    return next((found for name in _LAYERS if (found := getattr(decoder, name, None))), None)


def _common(prompts: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """What all prompts begin with; never a whole prompt, whose last token predicts the answer.

    >>> _common([(1, 2, 3, 4), (1, 2, 5)])
    (1, 2)
    """
    shortest = min(prompts, key=len)[:-1]
    for place, token in enumerate(shortest):
        if any(prompt[place] != token for prompt in prompts):
            return shortest[:place]
    return shortest


def _mask(owner: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """Additive, shape (1, 1, tokens, tokens): who sees whom."""
    import torch

    own = torch.tensor(owner)
    sees = (own[None, :] == own[:, None]) | (own[None, :] < 0)
    sees &= torch.ones(len(owner), len(owner), dtype=torch.bool).tril()
    return torch.zeros(sees.shape, dtype=dtype).masked_fill(~sees, torch.finfo(dtype).min)[
        None, None
    ]


def _plain_value(value: object) -> object:
    return sorted(value) if isinstance(value, set | frozenset) else str(value)
