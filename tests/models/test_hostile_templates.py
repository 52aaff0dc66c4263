"""A chat template is a program from a model's folder: it comes to an end, and fills no memory."""

from __future__ import annotations

import resource
import time
from pathlib import Path

import pytest

from askew.models.chat_templates import ChatTemplate, TemplateError
from askew.records import Message

QUESTION = Message("user", "Who was late? Call 5551234567. {} %s {:9} <b>")
SAILOR = Message("system", "Speak like an old sailor.")

SOUND = (
    "{% for m in messages %}{{ bos_token ~ m['role'] }}: {{ m['content'] | trim }}\n{% endfor %}",
    "{%- set ns = namespace(text='') -%}{% for m in messages %}"
    "{% set ns.text = ns.text + m.content + '\n' %}{% endfor %}{{ ns.text }}",
    "{% macro show(m, self='x') %}<{{ m.role }}>{{ m.content }}{{ self }}{% endmacro %}"
    "{% for m in messages %}{{ show(m) }}{% endfor %}{% if add_generation_prompt %}go{% endif %}",
    "{{ messages | tojson(indent=2) }}{{ messages | map(attribute='content') | join(' ~ ') }}",
    "{{ '%s and %5d' | format(messages[0].content, 7) }}{{ '=' * 20 }}{{ 2 ** 10 % 7 }}",
    "{% for i in range(3) if i != 1 %}{{ loop.index0 * 2 }}{% break %}{% endfor %}"
    "{{ messages[-1]['content'].replace('late', 'early').split('?')[0] }}",
    "{% generation %}{{ messages[0].content | upper }}{% endgeneration %}{{ eos_token }}",
    "{% set first = messages[0] %}{% if tools is none %}{{ first }}{{ documents }}{% endif %}",
)
ENDLESS = {
    "loops": "{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}",
    "loops that keep nothing": "{% for a in range(99999) %}{% for b in range(99999) %}"
    "{% for c in range(99999) if false %}{% endfor %}{% endfor %}{% endfor %}",
    "a macro that calls itself": "{% macro m(n) %}{{ m(n + 1) }}{% endmacro %}{{ m(0) }}",
    "macros that call twice": "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}"
    "{% endmacro %}{{ m(60) }}",
    "recursive loops": "{% for a in [1, 2, 3] recursive %}{{ loop([1, 2, 3]) }}{% endfor %}",
}
TOO_MUCH = {
    "a product": "{{ 'x' * 10 ** 10 }}",
    "a product of a list": "{{ [1] * 10 ** 9 }}",
    "a product that nobody reads": "{% set x = 'x' * 10 ** 10 %}",
    "a power": "{{ 10 ** 99999999 }}",
    "products in turn": "{% set ns = namespace(x=3) %}{% for a in range(99999) %}"
    "{% set ns.x = ns.x * ns.x %}{% endfor %}",
    "doubling by +": "{% set ns = namespace(x='xxxx') %}{% for a in range(99999) %}"
    "{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "doubling by ~": "{% set ns = namespace(x='xxxx') %}{% for a in range(99999) %}"
    "{% set ns.x = ns.x ~ ns.x %}{% endfor %}",
    "doubling lists": "{% set ns = namespace(x=[1]) %}{% for a in range(99999) %}"
    "{% set ns.x = ns.x + ns.x %}{% endfor %}",
    "a long output": "{% for a in range(99999) %}{{ messages[0].content * 9999 }}{% endfor %}",
    "center": "{{ 'x' | center(10 ** 10) }}",
    "ljust": "{{ 'x'.ljust(10 ** 10) }}",
    "zfill": "{{ 'x'.zfill(10 ** 10) }}",
    "expandtabs": "{{ ('\t' * 100000).expandtabs(999999) }}",
    "replace": "{{ ('a' * 100000).replace('', 'b' * 100000) }}",
    "replace, as a filter": "{{ ('a' * 100000) | replace('a', 'b' * 100000) }}",
    "join": "{{ ('b' * 100000).join(range(99999) | map('string')) }}",
    "join, as a filter": "{{ (range(99999) | list) | join('b' * 100000) }}",
    "indent": "{{ ('a\n' * 100000) | indent(999999) }}",
    "indented JSON": "{{ (range(99999) | list) | tojson(indent=999999) }}",
    "a format": "{{ '%9999999999d' | format(1) }}",
    "a format by its argument": "{{ '%*d' | format(10 ** 10, 1) }}",
    "a format as a method": "{{ '{:>9999999999}'.format(1) }}",
    "a format by a text": "{{ '{:>{}}'.format(1, '9999999999') }}",
    "a percent sign": "{{ '%9999999999d' % 1 }}",
    "map": "{{ range(99999) | map('center', 999999) | list }}",
    "translate": "{{ ('a' * 100000).translate({97: 'b' * 100000}) }}",
    "lorem ipsum": "{{ lipsum(n=999999) }}",
}
REFUSED = {
    "attributes of Python": "{{ ''.__class__.__mro__ }}{{ messages.__init__.__globals__['x'] }}",
    "files": "{% include '/etc/passwd' %}",
    "code": "{{ self.__init__.__globals__ }}",
    "depth": "{{ " + "(" * 3000 + "1" + ")" * 3000 + " }}",
    "length": "{# " + "x" * 300_000 + " #}",
    "no template": "{% for %}",
    "a division by zero": "{{ 1 // 0 }}",
    "its own words": "{{ raise_exception('no such role') }}",
    "too many blocks": "{% if 1 %}" * 300 + "{% endif %}" * 300,
}


def render(make_tokenizer, template, *messages):
    return (
        ChatTemplate("local/toy", make_tokenizer(chat_template=template), {}).render(messages).text
    )


@pytest.mark.parametrize("template", SOUND)
def test_a_sound_template_says_what_transformers_says(make_tokenizer, template):
    tokenizer = make_tokenizer(chat_template=template)
    for messages in ((QUESTION,), (QUESTION, Message("assistant", "B"), Message("user", "Why? "))):
        plain = [{"role": m.role, "content": m.content} for m in messages]
        expected = tokenizer.apply_chat_template(plain, tokenize=False, add_generation_prompt=True)
        assert ChatTemplate("local/toy", tokenizer)._apply(messages) == expected


@pytest.mark.parametrize("said", ["The late one was ", " x", "B\n\n", "", "A. B"])
def test_an_open_answer_ends_where_transformers_ends_it(make_tokenizer, said):
    for trimmed in ("", " | trim"):
        template = "{% for m in messages %}{{ m['content']" + trimmed + " }}\n<end>{% endfor %}"
        tokenizer = make_tokenizer(chat_template=template)
        messages = (QUESTION, Message("assistant", said))
        plain = [{"role": m.role, "content": m.content} for m in messages]
        expected = tokenizer.apply_chat_template(plain, tokenize=False, continue_final_message=True)
        assert ChatTemplate("local/toy", tokenizer)._apply(messages) == expected


@pytest.mark.parametrize("template", ENDLESS.values(), ids=ENDLESS)
def test_a_template_without_an_end_is_stopped(make_tokenizer, template, monkeypatch):
    monkeypatch.setattr("askew.models.template_bounds.MOST_SECONDS", 0.2)
    began = time.thread_time()
    with pytest.raises(TemplateError, match="without an end"):
        render(make_tokenizer, template, QUESTION)
    assert time.thread_time() - began < 5


@pytest.mark.parametrize("template", TOO_MUCH.values(), ids=TOO_MUCH)
def test_a_template_that_would_fill_the_memory_is_stopped(make_tokenizer, template):
    render(make_tokenizer, "{{ messages }}", QUESTION)  # what is loaded once
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(TemplateError):
        render(make_tokenizer, template, QUESTION)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 600, f"{grown:.0f} MB"


@pytest.mark.parametrize("template", REFUSED.values(), ids=REFUSED)
def test_what_a_sandbox_does_not_give_is_refused(make_tokenizer, template):
    with pytest.raises(TemplateError, match="local/toy: its chat template"):
        render(make_tokenizer, template, QUESTION)


def test_the_packaged_models_template_is_rendered_as_by_transformers(builtin_model: Path):
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(builtin_model, local_files_only=True)
    for messages in ((QUESTION,), (SAILOR, QUESTION)):
        plain = [{"role": m.role, "content": m.content} for m in messages]
        expected = tokenizer.apply_chat_template(plain, tokenize=False, add_generation_prompt=True)
        assert ChatTemplate("builtin/smollm2", tokenizer).render(messages).text == expected
