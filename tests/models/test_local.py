"""`local/…` and `builtin/…` as models: asked, told apart, refused."""

from __future__ import annotations

import asyncio
import json
import shutil
import threading

import pytest

from askew.errors import ConfigError
from askew.models.base import Fatal, Model, ModelSpec
from askew.models.chat_templates import SYSTEM_MOVED
from askew.models.local import BuiltinModel, LocalModel, Stopped
from askew.records import Call, Finish, Message, Prompt, Sampling

CHOICES = (" (A)", " (B)", " (C)")
SCORED = Call(Prompt(text="Who was late?\nAnswer:", choices=CHOICES))
SAID = Call(Prompt(messages=(Message("user", "Who was late?"),)), Sampling(max_tokens=8))


@pytest.fixture
def local(tiny_folder, empty_cache):
    return LocalModel(ModelSpec(name=f"local/{tiny_folder}"))


def changed_copy(folder, target, name, change):
    """A copy of a model's folder with one JSON file changed."""
    shutil.copytree(folder, target)
    settings = json.loads((target / name).read_text())
    change(settings)
    (target / name).write_text(json.dumps(settings))
    return target


def retemplated(folder, target, template):
    """A copy of a model's folder with another chat template, or with none."""
    shutil.copytree(folder, target)
    (target / "chat_template.jinja").unlink()
    if template is not None:
        (target / "chat_template.jinja").write_text(template)
    return target


def spec(folder, **fields):
    return ModelSpec(name=f"local/{folder}", **fields)


async def test_scored_and_spoken_calls_of_one_batch_come_back_in_order(local):
    assert isinstance(local, Model)
    scored, said, again = await local.ask([SCORED, SAID, SCORED])
    assert len(scored.log_probabilities) == 3
    assert all(value < 0 for value in scored.log_probabilities)
    assert scored.text is None
    assert scored == again
    assert said.log_probabilities == ()
    assert isinstance(said.text, str)
    assert said.completion_tokens <= 8
    for call, reply in ((SCORED, scored), (SAID, said)):
        assert reply.prompt_tokens == local.tokens(call)
    await local.close()


async def test_messages_are_scored_after_the_generation_prompt(local, make_network, make_tokenizer):
    from askew.models.local_likelihood import PlainScorer
    from askew.models.trie import TokenQuestion

    encode = make_tokenizer().encode
    prompt = (0, *encode("[user]Who?\n[assistant]"))
    expected = PlainScorer(make_network("llama")).score(
        [TokenQuestion(prompt, (tuple(encode("A")), tuple(encode("B"))))]
    )
    call = Call(Prompt(messages=(Message("user", "Who?"),), choices=("A", "B")))
    (reply,) = await local.ask([call])
    assert reply.log_probabilities == pytest.approx(expected[0], abs=1e-4)
    assert reply.prompt_tokens == len(prompt)


async def test_replicates_differ_and_repeat(local):
    sampling = Sampling(temperature=1.0, max_tokens=8, seed=3)
    calls = [Call(SAID.prompt, sampling, replicate=number) for number in range(4)]
    first = [reply.text for reply in await local.ask(calls)]
    assert len(set(first)) == 4
    assert [(await local.ask([call]))[0].text for call in calls] == first


async def test_a_prompt_too_long_is_an_error_of_its_call_alone(local):
    too_long = Call(Prompt(text="x" * 200, choices=CHOICES))
    long_reply = Call(Prompt(text="x" * 128))
    refused, refused_too, served = await local.ask([too_long, long_reply, SCORED])
    for reply in (refused, refused_too):
        assert reply.finish is Finish.ERROR
        assert "reads at most 128" in reply.error
        assert reply.log_probabilities == ()
    assert served.finish is Finish.STOP


async def test_a_reply_is_bounded_by_the_room_that_the_prompt_leaves(local):
    call = Call(Prompt(text="x" * 120), Sampling(max_tokens=50))
    (reply,) = await local.ask([call])
    assert reply.completion_tokens <= 128 - local.tokens(call)


async def test_reasoning_is_kept_apart_when_the_template_has_opened_it(
    tiny_folder, tmp_path, empty_cache
):
    template = "{{ bos_token }}{{ messages[0]['content'] }}<think>"
    model = LocalModel(spec(retemplated(tiny_folder, tmp_path / "m", template)))
    (reply,) = await model.ask([SAID])
    # The tiny model writes noise and never closes the tag: no answer was given.
    assert reply.text is None
    assert reply.reasoning


async def test_a_moved_system_text_is_on_record(tiny_folder, tmp_path, empty_cache):
    drops = "{% for m in messages if m['role'] != 'system' %}{{ m['content'] }}{% endfor %}"
    model = LocalModel(spec(retemplated(tiny_folder, tmp_path / "m", drops)))
    messages = (Message("system", "Speak like an old sailor."), *SAID.prompt.messages)
    (reply,) = await model.ask([Call(Prompt(messages=messages), Sampling(max_tokens=2))])
    assert reply.adapted == (SYSTEM_MOVED,)


async def test_a_model_without_a_chat_template_stops_the_run(tiny_folder, tmp_path, empty_cache):
    model = LocalModel(spec(retemplated(tiny_folder, tmp_path / "base", None)))
    with pytest.raises(Fatal, match="--prompt flex"):
        await model.ask([SAID])
    assert (await model.ask([SCORED]))[0].finish is Finish.STOP


async def test_the_event_loop_lives_while_the_model_works_and_cancelling_stops_it(local):
    await local.ask([SCORED])
    endless = Call(SAID.prompt, Sampling(max_tokens=100))
    task = asyncio.create_task(local.ask([endless] * 200))
    turns = 0
    while turns < 20:
        await asyncio.sleep(0)
        turns += 1
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    # The one worker thread is free again long before 200 replies could have been made.
    assert (await local.ask([SCORED]))[0].finish is Finish.STOP


def test_work_for_someone_who_has_gone_is_dropped(local):
    gone = threading.Event()
    gone.set()
    with pytest.raises(Stopped):
        local._answer([SCORED], gone)


def test_identity_holds_whatever_can_change_an_answer_and_no_path(
    tiny_folder, tmp_path, empty_cache
):
    identity = LocalModel(spec(tiny_folder)).identity()
    moved = tmp_path / "elsewhere" / tiny_folder.name
    shutil.copytree(tiny_folder, moved)
    assert LocalModel(spec(moved)).identity() == identity
    assert str(tiny_folder) not in json.dumps(identity)

    other = [
        LocalModel(spec(tiny_folder, dtype="bfloat16")),
        LocalModel(spec(tiny_folder, revision="v2")),
        LocalModel(spec(tiny_folder, options={"template": {"enable_thinking": False}})),
        LocalModel(
            spec(
                changed_copy(
                    tiny_folder,
                    tmp_path / "config" / tiny_folder.name,
                    "config.json",
                    lambda settings: settings.update(rms_norm_eps=1e-3),
                )
            )
        ),
    ]
    retrained = tmp_path / "weights" / tiny_folder.name
    shutil.copytree(tiny_folder, retrained)
    weights = bytearray((retrained / "model.safetensors").read_bytes())
    weights[-1] ^= 1
    (retrained / "model.safetensors").write_bytes(weights)
    other.append(LocalModel(spec(retrained)))
    bare = tmp_path / "template" / tiny_folder.name
    other.append(LocalModel(spec(retemplated(tiny_folder, bare, "{{ messages[0]['content'] }}"))))
    seen = {json.dumps(model.identity(), sort_keys=True) for model in other}
    assert len(seen) == len(other)
    assert json.dumps(identity, sort_keys=True) not in seen


async def test_an_adapter_changes_answers_and_identity(
    tiny_folder, make_network, tmp_path, empty_cache
):
    peft = pytest.importorskip("peft", reason="askew[local] is not installed")
    import torch

    config = peft.LoraConfig(r=2, target_modules=["q_proj"], task_type="CAUSAL_LM")
    adapted = peft.get_peft_model(make_network("llama"), config)
    with torch.no_grad():
        for name, weight in adapted.named_parameters():
            if "lora_B" in name:
                weight.fill_(0.5)
    adapted.save_pretrained(tmp_path / "adapter")
    plain = LocalModel(spec(tiny_folder))
    tuned = LocalModel(spec(tiny_folder, adapter=str(tmp_path / "adapter")))
    assert tuned.identity()["adapter_sha256"] != plain.identity()["adapter_sha256"]
    (before,) = await plain.ask([SCORED])
    (after,) = await tuned.ask([SCORED])
    assert before.log_probabilities != pytest.approx(after.log_probabilities, abs=1e-3)


async def test_bfloat16_can_be_asked_for(tiny_folder, empty_cache):
    full, half = LocalModel(spec(tiny_folder)), LocalModel(spec(tiny_folder, dtype="bfloat16"))
    (exact,) = await full.ask([SCORED])
    (rough,) = await half.ask([SCORED])
    assert rough.log_probabilities == pytest.approx(exact.log_probabilities, rel=0.1)
    assert rough.log_probabilities != exact.log_probabilities


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"dtype": "int3"}, "unknown dtype 'int3'. Known: bfloat16"),
        ({"options": {"devise": "cpu"}}, "unknown option of local/ 'devise'"),
        ({"options": {"device": "tpu"}}, "unknown device 'tpu'"),
        ({"adapter": "/nowhere"}, "/nowhere holds no adapter_config.json"),
    ],
)
def test_a_setting_that_cannot_be_used_is_named(tiny_folder, fields, message):
    with pytest.raises(ConfigError, match=message):
        LocalModel(spec(tiny_folder, **fields))


async def test_files_that_make_no_model_stop_the_run(tiny_folder, tmp_path, empty_cache):
    folder = changed_copy(
        tiny_folder, tmp_path / "m", "config.json", lambda it: it.update(model_type="nonesuch")
    )
    with pytest.raises(Fatal, match=r"m cannot be loaded:.*nonesuch"):
        await LocalModel(spec(folder)).ask([SCORED])


async def test_the_packaged_model_answers_and_scores(builtin_model):
    model = BuiltinModel(ModelSpec(name="builtin/smollm2"))
    question = (Message("user", "What is the capital of France?"),)
    said, scored = await model.ask(
        [
            Call(Prompt(messages=question), Sampling(max_tokens=16)),
            Call(Prompt(messages=question, choices=("Paris", "Berlin", "Rome"))),
        ]
    )
    assert "Paris" in said.text
    assert said.finish is Finish.STOP
    assert "<|" not in said.text
    assert max(scored.log_probabilities) == scored.log_probabilities[0]
    await model.close()


def test_the_packaged_model_has_to_be_installed_first(empty_cache):
    with pytest.raises(ConfigError, match="askew models install builtin/smollm2"):
        BuiltinModel(ModelSpec(name="builtin/smollm2"))
