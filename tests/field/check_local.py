"""Cases about weights on this machine: tokens at the join, and chat templates."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

from askew.models.base import ModelSpec
from askew.models.local import LocalModel
from askew.models.local_prompts import PromptReader
from askew.records import Call, Message, Prompt, Reply
from tests.field.calls import ask_once, toy
from tests.field.folder import Case, CaseFolder
from tests.field.registry import check
from tests.models.servers import Answer, FaultServer, chat_body

# Shows what it is given, in the manner of Gemma's: no system turn, and it says so.
GEMMA = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}"
    "{% endif %}{% for message in messages %}<start_of_turn>{{ message['role'] }}\n"
    "{{ message['content'] }}<end_of_turn>\n{% endfor %}<start_of_turn>model\n"
)
# Drops a system turn without a word.
SILENT = (
    "{% for message in messages %}{% if message['role'] != 'system' %}[{{ message['role'] }}]"
    "{{ message['content'] }}\n{% endif %}{% endfor %}[model]"
)


def tokenizer(merges: tuple[tuple[str, str], ...] = (), template: str | None = None) -> Any:
    """One token a character, but for the merges."""
    pytest.importorskip("transformers", reason="askew[local] is not installed")
    from tokenizers import Tokenizer
    from tokenizers.decoders import Fuse
    from tokenizers.models import BPE
    from transformers import PreTrainedTokenizerFast

    characters = [*map(chr, range(32, 127)), "\n"]
    tokens = ["<eos>", *characters, *(left + right for left, right in merges)]
    bare = Tokenizer(BPE({token: number for number, token in enumerate(tokens)}, list(merges)))
    bare.decoder = Fuse()
    fast = PreTrainedTokenizerFast(tokenizer_object=bare, eos_token="<eos>", pad_token="<eos>")
    fast.chat_template = template
    return fast


def merges_of(token: str) -> tuple[tuple[str, str], ...]:
    """The merges that make one token of a text, built up from its end."""
    return tuple((token[n], token[n + 1 :]) for n in reversed(range(len(token) - 1)))


@check("case-27")
def options_are_cut_at_the_same_place(case: Case, folder: CaseFolder, work: Path) -> None:
    context, options = case["input"]["context"], case["input"]["options"]
    merges = tuple(pair for token in case["input"]["toy_vocab_merges"] for pair in merges_of(token))
    toy = tokenizer(merges)
    for token in case["input"]["toy_vocab_merges"]:
        assert len(toy.encode(token)) == 1
    for choices in (options, [option.strip() for option in options]):
        prompt = Prompt(text=context, choices=tuple(choices))
        tokens = PromptReader("toy", toy, {}).prepare(prompt).tokens
        wholes = [toy.decode([*tokens.prompt, *scored]) for scored in tokens.continuations]
        assert wholes == [context + choice for choice in choices]
        assert all(tokens.continuations)
        starts = {whole[: len(toy.decode(list(tokens.prompt)))] for whole in wholes}
        assert len(starts) == 1
    _check_scores(toy, Prompt(text=context, choices=tuple(options)), work)


def _check_scores(toy: Any, prompt: Prompt, work: Path) -> None:
    """The local scorer's figures are the sums over those tokens, computed here one by one."""
    torch = pytest.importorskip("torch", reason="askew[local] is not installed")
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=128,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        initializer_range=0.3,
        bos_token_id=None,
        eos_token_id=0,
    )
    network = LlamaForCausalLM(config).eval()
    network.save_pretrained(work / "toy")
    toy.save_pretrained(work / "toy")
    model = LocalModel(ModelSpec(name=f"local/{work / 'toy'}"))
    reply = ask_once(model, Call(prompt))
    assert isinstance(reply, Reply)
    tokens = PromptReader("toy", toy, {}).prepare(prompt).tokens
    for scored, found in zip(tokens.continuations, reply.log_probabilities, strict=True):
        ids = [*tokens.prompt, *scored]
        with torch.inference_mode():
            rows = network(torch.tensor([ids])).logits[0].log_softmax(-1)
        start = len(tokens.prompt)
        expected = math.fsum(float(rows[k - 1, ids[k]]) for k in range(start, len(ids)))
        assert found == pytest.approx(expected, abs=1e-4)
        assert found < 0


@check("case-29")
def a_persona_is_never_lost(case: Case, folder: CaseFolder, work: Path) -> None:
    messages = tuple(Message(it["role"], it["content"]) for it in case["input"]["messages"])
    (persona,) = (message.content for message in messages if message.role == "system")
    (question,) = (message.content for message in messages if message.role == "user")
    for template in (GEMMA, SILENT):
        reader = PromptReader("toy", tokenizer(template=template), {})
        prepared = reader.prepare(Prompt(messages=messages))
        assert prepared.text.count(persona) == 1
        assert prepared.text.index(persona) < prepared.text.index(question)
        assert any("system" in note for note in prepared.adapted)
    # The same template behind an endpoint, which answers with the template's own error.
    with FaultServer(_without_system_role) as server:
        reply = ask_once(toy(server), Call(Prompt(messages=messages)))
        shown = [message["content"] for message in server.seen[-1].body["messages"]]
        assert len(server.seen) == 2
    assert "".join(shown).count(persona) == 1
    assert isinstance(reply, Reply)
    assert any("system" in note for note in reply.adapted)


def _without_system_role(seen: Any) -> Answer:
    if any(message["role"] == "system" for message in seen.body["messages"]):
        return Answer({"error": {"message": "System role not supported"}}, 400)
    return Answer(chat_body("A"))
