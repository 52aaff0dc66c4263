"""Messages to text: nothing lost, nothing doubled."""

from __future__ import annotations

import pytest

from askew.errors import ConfigError
from askew.models.base import Fatal
from askew.models.chat_templates import SYSTEM_MOVED, ChatTemplate, TemplateError
from askew.models.local_prompts import PromptReader
from askew.records import Message, Prompt

SAILOR = Message("system", "Speak like an old sailor.")
QUESTION = Message("user", "Who was late? A, B or C")
TURNS = "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}\n{% endfor %}"
END = "{% if add_generation_prompt %}[assistant]{% endif %}"
RAISES = (
    "{% if messages[0]['role'] == 'system' %}{{ raise_exception('System role not supported') }}"
    "{% endif %}" + TURNS + END
)
DROPS = (
    "{% for m in messages if m['role'] != 'system' %}[{{ m['role'] }}]{{ m['content'] }}\n"
    "{% endfor %}" + END
)
TWICE = "{{ messages[0]['content'] }}\n" + TURNS + END
TRIMS = "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] | trim }}\n{% endfor %}" + END


def render(make_tokenizer, template, *messages, **settings):
    return ChatTemplate("local/toy", make_tokenizer(chat_template=template), settings).render(
        messages
    )


@pytest.mark.parametrize("template", [RAISES, DROPS, TWICE])
def test_a_system_text_that_would_be_lost_is_put_before_the_first_user_text(
    make_tokenizer, template
):
    rendered = render(make_tokenizer, template, SAILOR, QUESTION)
    assert rendered.text.count("old sailor") == (2 if template is TWICE else 1)
    assert "old sailor.\n\nWho was late?" in rendered.text
    assert rendered.adapted == (SYSTEM_MOVED,)


@pytest.mark.parametrize("template", [TURNS + END, TRIMS])
def test_a_system_role_that_is_shown_is_used_as_it_is(make_tokenizer, template):
    rendered = render(make_tokenizer, template, SAILOR, QUESTION)
    assert rendered.text.startswith("[system]Speak like an old sailor.\n[user]Who was late?")
    assert rendered.text.endswith("[assistant]")
    assert rendered.adapted == ()


def test_the_system_text_moves_only_to_the_first_of_several_user_texts(make_tokenizer):
    later = Message("user", "And who was early?")
    said = Message("assistant", "B")
    rendered = render(make_tokenizer, RAISES, SAILOR, QUESTION, said, later)
    assert rendered.text.count("old sailor") == 1
    assert "[user]And who was early?" in rendered.text


def test_a_system_text_that_the_user_repeats_is_still_shown(make_tokenizer):
    same = Message("user", SAILOR.content)
    assert render(make_tokenizer, DROPS, SAILOR, same).text.count("old sailor") == 2


def test_a_last_word_of_the_assistant_is_left_open(make_tokenizer):
    rendered = render(make_tokenizer, TURNS + END, QUESTION, Message("assistant", "The answer is"))
    assert rendered.text.endswith("[assistant]The answer is")


def test_settings_reach_the_template(make_tokenizer):
    template = TURNS + "{% if thinking %}<think>{% endif %}"
    assert render(make_tokenizer, template, QUESTION, thinking=True).text.endswith("<think>")


def test_a_model_without_a_template_is_named_with_the_way_out(make_tokenizer):
    with pytest.raises(TemplateError, match=r"local/toy has no chat template.*--prompt flex"):
        render(make_tokenizer, None, QUESTION)
    # The one stops a run, the other is what a caller of the library looks for.
    assert issubclass(TemplateError, Fatal)
    assert issubclass(TemplateError, ConfigError)


def test_a_refusal_of_other_roles_is_told_in_the_templates_words(make_tokenizer):
    template = "{{ raise_exception('roles must alternate') }}"
    with pytest.raises(TemplateError, match="user, user: roles must alternate"):
        render(make_tokenizer, template, QUESTION, QUESTION)


@pytest.mark.parametrize("adds_bos", [True, False])
@pytest.mark.parametrize("template", ["{{ bos_token }}" + TURNS, "{{ '<bos>' }}" + TURNS])
def test_there_is_never_a_second_bos(make_tokenizer, adds_bos, template):
    tokenizer = make_tokenizer(adds_bos=adds_bos, chat_template=template)
    reader = PromptReader("local/toy", tokenizer, {})
    for prompt in (Prompt(messages=(QUESTION,), choices=("A", "B")), Prompt(messages=(QUESTION,))):
        assert reader.prepare(prompt).tokens.prompt.count(0) == 1


def test_plain_text_gets_the_tokenizers_bos_once(make_tokenizer):
    reader = PromptReader("local/toy", make_tokenizer(adds_bos=True), {})
    for text in ("Answer:", "<bos>Answer:"):
        assert reader.prepare(Prompt(text=text)).tokens.prompt.count(0) == 1


def test_the_packaged_models_own_system_line_is_kept_unless_one_is_given(builtin_model):
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(builtin_model)
    template = ChatTemplate("builtin/smollm2", tokenizer)
    alone = template.render((QUESTION,)).text
    assert alone.count("<|im_start|>system") == 1
    assert "named SmolLM" in alone
    given = template.render((SAILOR, QUESTION))
    assert given.text.count("<|im_start|>system") == 1
    assert given.text.count("old sailor") == 1
    assert "named SmolLM" not in given.text
    assert given.adapted == ()
