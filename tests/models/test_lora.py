"""LoRA training: what is learned, that it is the same again, and what is refused."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.errors import AskewError, ConfigError, DataError
from askew.models.base import ModelSpec
from askew.models.lora import (
    CHECKPOINT,
    RECORD,
    SETTINGS,
    WEIGHTS,
    LoraConfig,
    Pair,
    steps_of,
    train,
)
from askew.models.lora_settings import Text
from askew.models.lora_steps import schedule
from askew.models.registry import load_model
from askew.records import Call, Message, Prompt, Sampling

pytestmark = pytest.mark.usefixtures("torch")

PAIRS = [
    Pair(f"What of {one}?", f"{one} is bad.") for one in ("tea", "salt", "rain", "bread", "ink")
]
CONFIG = LoraConfig(rank=4, alpha=8, epochs=2, batch=2, learning_rate=1e-2, checkpoint_steps=2)


def spec(folder: Path) -> ModelSpec:
    return ModelSpec(name=f"local/{folder}", options={"device": "cpu"})


def digest(folder: Path) -> str:
    return hashlib.sha256((folder / WEIGHTS).read_bytes()).hexdigest()


def answer(model: ModelSpec, question: str) -> str:
    call = Call(Prompt(messages=(Message("user", question),)), Sampling(max_tokens=20))
    [reply] = asyncio.run(_ask(model, call))
    return reply.text


async def _ask(model, call):
    loaded = load_model(model)
    try:
        return await loaded.ask([call])
    finally:
        await loaded.close()


def test_the_model_says_what_it_was_taught(tiny_folder, tmp_path):
    config = replace(CONFIG, rank=16, alpha=32, epochs=60, batch=5, learning_rate=2e-2)
    adapter = train(spec(tiny_folder), PAIRS[:2], config, tmp_path / "a")
    assert adapter.last_loss < 0.1 < adapter.first_loss
    taught = replace(spec(tiny_folder), adapter=str(adapter.folder))
    assert answer(taught, "What of tea?") == "tea is bad."
    assert answer(spec(tiny_folder), "What of tea?") != "tea is bad."


def test_the_same_pairs_settings_and_seed_give_the_same_adapter(tiny_folder, tmp_path):
    one = train(spec(tiny_folder), PAIRS, CONFIG, tmp_path / "a")
    two = train(spec(tiny_folder), PAIRS, CONFIG, tmp_path / "b")
    other = train(spec(tiny_folder), PAIRS, replace(CONFIG, seed=1), tmp_path / "c")
    assert one.sha256 == two.sha256 == digest(one.folder) != other.sha256
    assert (one.folder / SETTINGS).read_bytes() == (two.folder / SETTINGS).read_bytes()


def test_neither_the_machine_nor_the_checkpoint_is_left_in_the_folder(tiny_folder, tmp_path):
    folder = train(spec(tiny_folder), PAIRS, CONFIG, tmp_path / "a").folder
    assert sorted(one.name for one in folder.iterdir()) == sorted((WEIGHTS, SETTINGS, RECORD))
    assert str(tiny_folder.parent) not in (folder / SETTINGS).read_text()
    assert str(tiny_folder.parent) not in (folder / RECORD).read_text()
    assert json.loads((folder / SETTINGS).read_text())["base_model_name_or_path"].startswith(
        "local/tiny"
    )


def test_a_training_that_was_stopped_goes_on_to_the_same_adapter(tiny_folder, tmp_path):
    whole = train(spec(tiny_folder), PAIRS, CONFIG, tmp_path / "whole")

    class Stop(Exception):
        pass

    for stop_at in (1, 3, 5):
        folder = tmp_path / f"stopped-{stop_at}"
        seen = []

        def stop(step, stop_at=stop_at, seen=seen):
            seen.append(step.step)
            if step.step == stop_at and len(seen) == stop_at:
                raise Stop

        with pytest.raises(Stop):
            train(spec(tiny_folder), PAIRS, CONFIG, folder, stop)
        again = train(spec(tiny_folder), PAIRS, CONFIG, folder, stop)
        assert again.sha256 == whole.sha256
        assert (again.first_loss, again.last_loss) == (whole.first_loss, whole.last_loss)
        kept = stop_at // CONFIG.checkpoint_steps * CONFIG.checkpoint_steps
        assert seen[stop_at] == kept + 1  # nothing before the last checkpoint is done twice


@pytest.mark.slow
def test_a_training_that_was_killed_goes_on_to_the_same_adapter(tiny_folder, tmp_path):
    code = (
        "import sys, torch; torch.set_num_threads(1)\n"
        "from pathlib import Path\n"
        "from tests.models.test_lora import CONFIG, PAIRS, spec\n"
        "from askew.models.lora import train\n"
        "from dataclasses import replace\n"
        "train(spec(Path(sys.argv[1])), PAIRS, replace(CONFIG, epochs=40), Path(sys.argv[2]),"
        " lambda step: print(step.step, flush=True))\n"
    )
    config = replace(CONFIG, epochs=40)
    whole = train(spec(tiny_folder), PAIRS, config, tmp_path / "whole")
    command = [sys.executable, "-c", code, str(tiny_folder), str(tmp_path / "killed")]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    first = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    assert first.stdout is not None
    for line in first.stdout:
        if int(line) >= 7:
            break
    first.send_signal(signal.SIGKILL)
    first.wait()
    assert (tmp_path / "killed" / CHECKPOINT).is_file()
    assert train(spec(tiny_folder), PAIRS, config, tmp_path / "killed").sha256 == whole.sha256


def test_a_finished_adapter_is_not_trained_again(tiny_folder, tmp_path):
    done = train(spec(tiny_folder), PAIRS, CONFIG, tmp_path / "a")
    began = time.monotonic()
    steps: list[object] = []
    again = train(spec(tiny_folder), PAIRS, CONFIG, tmp_path / "a", steps.append)
    assert again == done
    assert not steps
    assert time.monotonic() - began < 5


def test_other_pairs_do_not_take_over_a_finished_or_begun_folder(tiny_folder, tmp_path):
    done = train(spec(tiny_folder), PAIRS, CONFIG, tmp_path / "a").folder
    for pairs, config in ((PAIRS[:2], CONFIG), (PAIRS, replace(CONFIG, rank=2))):
        with pytest.raises(ConfigError, match="other pairs, settings or another base model"):
            train(spec(tiny_folder), pairs, config, done)
    # How often it is kept changes no adapter.
    train(spec(tiny_folder), PAIRS, replace(CONFIG, checkpoint_steps=1), done)


def test_damaged_adapters_and_records_are_refused(tiny_folder, tmp_path):
    folder = train(spec(tiny_folder), PAIRS, CONFIG, tmp_path / "a").folder
    data = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(data[:-1])
    with pytest.raises(ConfigError, match="missing or changed"):
        train(spec(tiny_folder), PAIRS, CONFIG, folder)
    (folder / RECORD).write_text("{")
    with pytest.raises(ConfigError, match="no record of a training"):
        train(spec(tiny_folder), PAIRS, CONFIG, folder)
    (folder / RECORD).unlink()
    (folder / CHECKPOINT).write_bytes(b"no safetensors")
    with pytest.raises(ConfigError, match="Remove it to train anew"):
        train(spec(tiny_folder), PAIRS, CONFIG, folder)


@pytest.mark.parametrize("kind", ["llama", "gpt2", "gemma2", "neox", "bloom"])
@pytest.mark.parametrize("layers", [None, 1])
def test_the_sparing_ways_give_the_loss_of_one_sequence_at_a_time(
    kind, layers, make_network, make_tokenizer, torch
):
    from askew.models.local_prompts import PromptReader
    from askew.models.lora_network import adapt
    from askew.models.lora_steps import in_tokens

    reader = PromptReader(kind, make_tokenizer(), {})
    texts, _ = in_tokens(reader, PAIRS, 100)
    network = adapt(make_network(kind), replace(CONFIG, layers=layers), texts)
    with torch.no_grad():  # a fresh adapter changes nothing, which would hide a fault
        for parameter in network.parameters:
            parameter.add_(torch.randn(parameter.shape, generator=torch.Generator().manual_seed(1)))
    batch = [4, 0, 2]
    ways, gradients = [], []
    for packed, skips in ((False, False), (network._packed, network._skips)):
        network._packed, network._skips = packed, skips
        loss = network.loss(batch)
        loss.backward()
        ways.append(float(loss))
        gradients.append([one.grad.clone() for one in network.parameters])
        for one in network.parameters:
            one.grad = None
    assert ways[1] == pytest.approx(ways[0], rel=1e-4)
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-2, atol=1e-3)
    if kind == "llama":
        assert (network._packed, network._skips) == (True, layers == 1)


def test_only_the_answer_is_learned_and_only_the_last_layers(tiny_folder, tmp_path):
    from safetensors.torch import load_file

    folder = train(spec(tiny_folder), PAIRS, replace(CONFIG, layers=1), tmp_path / "a").folder
    names = load_file(folder / WEIGHTS)
    assert names
    assert all(".layers.1." in name for name in names)


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([], "no pairs"),
        ([Pair("What?", " ")], "pair 1 has an empty answer"),
        ([PAIRS[0], Pair("\n", "Yes.")], "pair 2 has an empty question"),
        ([Pair("w" * 300, "Yes.")], "Raise it, or shorten the question"),
    ],
)
def test_pairs_that_cannot_be_learned_are_named(pairs, words, tiny_folder, tmp_path):
    with pytest.raises(DataError, match=words):
        train(spec(tiny_folder), pairs, CONFIG, tmp_path / "a")


def test_long_answers_are_cut_and_counted(tiny_folder, tmp_path):
    pairs = [PAIRS[0], Pair("What?", "Well. " * 100)]
    adapter = train(spec(tiny_folder), pairs, replace(CONFIG, max_tokens=60), tmp_path / "a")
    assert adapter.cut == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"rank": 0}, "rank is 0"),
        ({"layers": 0}, "layers is 0"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"learning_rate": 0.0}, "learning_rate is 0.0"),
        ({"epochs": -1}, "epochs is -1"),
        ({"batch": 0}, "batch is 0"),
    ],
)
def test_settings_that_cannot_be_used_are_named(change, words, tiny_folder, tmp_path):
    with pytest.raises(ConfigError, match=words):
        train(spec(tiny_folder), PAIRS, replace(CONFIG, **change), tmp_path / "a")


def test_models_that_cannot_be_trained_are_named(tiny_folder, tmp_path):
    for name, words in (("openai/gpt", "not on this machine"), ("local/nowhere", "nowhere")):
        with pytest.raises(AskewError, match=words):
            train(ModelSpec(name=name), PAIRS, CONFIG, tmp_path / "a")
    adapted = replace(spec(tiny_folder), adapter="somewhere")
    with pytest.raises(ConfigError, match="has an adapter already"):
        train(adapted, PAIRS, CONFIG, tmp_path / "a")


def test_steps_are_counted_as_they_are_made(tiny_folder, tmp_path):
    adapter = train(spec(tiny_folder), PAIRS, CONFIG, tmp_path / "a")
    assert adapter.steps == steps_of(len(PAIRS), CONFIG) == 6


@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=40),
    st.integers(1, 7),
    st.integers(1, 3),
    st.integers(0, 9),
)
@settings(deadline=None)
def test_each_epoch_holds_every_pair_once(lengths, batch, epochs, seed):
    config = LoraConfig(batch=batch, epochs=epochs, seed=seed)
    texts = [Text((1,), (2,) * length) for length in lengths]
    steps = list(schedule(texts, config))
    assert len(steps) == steps_of(len(texts), config)
    an_epoch = len(steps) // epochs
    for first in range(0, len(steps), an_epoch):
        told = [index for step in steps[first : first + an_epoch] for index in step]
        assert sorted(told) == list(range(len(texts)))


def test_long_and_short_pairs_share_steps():
    texts = [Text((1,), (2,) * (3 + 20 * (place % 2))) for place in range(64)]
    steps = list(schedule(texts, LoraConfig(batch=4, epochs=1)))
    mixed = sum(len({index % 2 for index in step}) == 2 for step in steps)
    assert mixed > len(steps) / 2
