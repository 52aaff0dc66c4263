"""A key is known in whatever writing and wherever a text is cut; a word as key moves no figure."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.models.content_coding import Body, BodyTrouble
from askew.models.masking import NOTE, without_known_secrets
from askew.models.server_errors import READ_CHARACTERS, Endpoint, excerpt, read_error
from askew.privacy import known_secrets
from askew.privacy.known_secrets import mask_beginning, mask_these, remember
from askew.privacy.scan import find_secrets
from askew.privacy.spellings import Spellings, forms
from askew.records import Reply


def json_units(text: str) -> str:
    """Every sign as JSON may write it, those beyond the first plane as two."""
    units = text.encode("utf-16-be").hex().upper()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))


KEY = 'Zq/7+tEst&key=0f3a<99>Aa"b'
WRITINGS: dict[str, Callable[[str], str]] = {
    "every sign in percent": lambda key: "".join(f"%{byte:02x}" for byte in key.encode()),
    "quoted twice": lambda key: quote(quote(key, safe=""), safe=""),
    "JSON units": json_units,
    "JSON in JSON": lambda key: json.dumps(json.dumps(key)),
    "slashes escaped": lambda key: json.dumps(key).replace("/", "\\/"),
    "numbers in HTML": lambda key: "".join(f"&#{ord(sign)};" for sign in key),
    "hex in HTML": lambda key: "".join(f"&#x{ord(sign):X};" for sign in key),
    "HTML twice": lambda key: html.escape(html.escape(key)),
    "some signs alone": lambda key: key.replace("t", "%74"),
}


@pytest.fixture
def known(monkeypatch):
    """Nothing remembered before, and nothing left afterwards."""
    monkeypatch.setattr(known_secrets, "_remembered", {})
    monkeypatch.setattr(known_secrets, "_known", None)
    monkeypatch.setattr("os.environ", {})


@pytest.mark.parametrize("writing", WRITINGS)
@pytest.mark.parametrize("key", [KEY, "a.*+?[(b]{2}|^$\\d9", "schlüssel-9-größe/😀 日本", "k" * 90])
def test_a_key_is_known_in_every_writing_and_the_scan_sees_it(tmp_path, writing, key):
    written = WRITINGS[writing](key)
    assert mask_these(f"so {written}, it says", [key]).replace('"', "") in (
        "so ***, it says",
        "so \\***\\, it says",
    )
    (tmp_path / "a.bin").write_bytes(b"\xff" * 50 + written.encode() + b"\x00")
    assert [one.file for one in find_secrets(tmp_path, {"K": key}, by_form=False)] == ["a.bin"]


@settings(max_examples=60)
@given(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=8, max_size=30),
    st.integers(0, 60),
    st.data(),
)
def test_no_cut_goes_through_a_key(key, place, data):
    form = data.draw(st.sampled_from(forms(key)))
    cut = place + data.draw(st.integers(1, len(form)))
    shown = Spellings([key]).beginning("\t" * place + form + "\t" * 9, cut, "*")
    assert shown.strip("\t") in ("", "*") or set(form) <= {"\t", "*"} or "\t" in form


@pytest.mark.parametrize(
    "write", [str, lambda key: quote(key, safe=""), lambda k: k.encode().hex()]
)
@pytest.mark.parametrize("before", [180, 195, READ_CHARACTERS - 9])
def test_what_a_server_says_is_cut_after_its_keys_are_gone(known, write, before):
    server = Endpoint(secrets=(KEY,))
    body = f"<p>{'x' * before} {write(KEY)}</p>".encode()
    said = server.mask(excerpt(body))
    told = server.mask(read_error(500, json.dumps({"error": body.decode()}).encode()).message)
    parts = {write(KEY)[at : at + 6] for at in range(len(write(KEY)) - 6)}
    assert not [part for part in parts if part in said or part in told]


def test_a_coding_that_says_the_key_is_not_put_into_small_letters_first(known):
    remember(KEY, "K")
    with pytest.raises(BodyTrouble) as caught:
        Body(quote(KEY, safe=""), most=99).add(b"ab")
    assert "***" in str(caught.value)


@pytest.mark.parametrize(
    "word", ["anything", "not-needed", "lm-studio", "no-key-required", "password", "2024-01-01"]
)
def test_a_key_that_is_a_word_changes_no_reply_and_is_kept_out_of_errors(known, word):
    remember(word, "OPENAI_API_KEY")
    said = Reply(text=f"(A) {word}", reasoning=f"as {word} says", error=f"wrong key {word}")
    kept = without_known_secrets(said)
    assert (kept.text, kept.reasoning) == (said.text, said.reasoning)
    assert kept.error == "wrong key ***"


@pytest.mark.parametrize(
    "value", ["Cannot be determined.", "covid-19", "data/patients.csv", "none"]
)
def test_a_variable_that_holds_no_key_changes_no_reply(known, monkeypatch, value):
    monkeypatch.setattr("os.environ", {"ANSWER_KEY": value})
    said = Reply(text=f"The answer: {value}")
    assert without_known_secrets(said) is said


@pytest.mark.parametrize("key", ["hunter2hunter2", "q8Kd72mZ", "k" * 24, "xKjTqWpLmN", "a*b$c#d!"])
def test_what_no_text_holds_by_chance_is_starred_out_of_replies(known, key):
    remember(key, "OPENAI_API_KEY")
    kept = without_known_secrets(Reply(text=f"(A) {key}"))
    assert (kept.text, kept.adapted) == ("(A) ***", (NOTE,))


def test_a_long_row_of_signs_that_could_begin_a_writing_takes_no_time(known):
    remember("\\&%" * 4 + "9x", "K")
    assert len(mask_beginning("\\" * 200_000 + "\\u0041" + "&amp;" * 9_000, 300_000)) > 200_000
