"""The user's price list: what a call costs, or that nobody knows."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.errors import ConfigError
from askew.models.prices import TEMPLATE, Price, Prices

ENTRY = """
[[model]]
name = {name}
input_per_million = {input}
output_per_million = {output}
date = {date}
source = "test"
"""


def entry(
    name: str = '"openai/toy"', input: object = 1, output: object = 2, date: str = "2026-01-01"
) -> str:
    return ENTRY.format(name=name, input=input, output=output, date=date)


def load(folder: Path, text: str) -> Prices:
    path = folder / "prices.toml"
    path.write_text(text, encoding="utf-8")
    return Prices.load(path)


def price(prices: Prices, name: str, on: str = "2026-06-01") -> float | None:
    found = prices.price_of(name, date.fromisoformat(on))
    return None if found is None else found.input_per_million


def test_the_template_is_a_price_list(tmp_path):
    prices = load(tmp_path, TEMPLATE)
    assert prices.price_of("openai/gpt-4o-mini-2024-07-18", date(2026, 12, 1)) == Price(
        name="openai/gpt-4o-mini*",
        input_per_million=0.15,
        output_per_million=0.60,
        currency="USD",
        date=date(2026, 11, 1),
        source="the provider's price page",
    )


def test_an_unknown_price_is_none(tmp_path):
    assert Prices.load(None).price_of("openai/toy") is None
    assert price(load(tmp_path, entry()), "openai/toy-2") is None
    assert price(load(tmp_path, ""), "openai/toy") is None


def test_a_price_holds_from_its_day_on_until_the_next(tmp_path):
    prices = load(tmp_path, entry(input=3, date="2026-06-02") + entry(input=1))
    assert price(prices, "openai/toy", "2025-12-31") is None
    assert price(prices, "openai/toy", "2026-01-01") == 1
    assert price(prices, "openai/toy", "2026-06-01") == 1
    assert price(prices, "openai/toy", "2026-06-02") == 3


def test_the_most_exact_name_counts_whatever_its_date(tmp_path):
    prices = load(
        tmp_path,
        entry('"openai/*"', 1, date="2026-05-01")
        + entry('"openai/toy*"', 2, date="2026-04-01")
        + entry('"openai/toy"', 3)
        + entry('"openai/[x]"', 4),
    )
    assert price(prices, "openai/other") == 1
    assert price(prices, "openai/toy-mini") == 2
    assert price(prices, "openai/toy") == 3
    assert price(prices, "openai/[x]") == 4


def test_free_models_cost_nothing_and_that_is_known(tmp_path):
    assert price(load(tmp_path, entry(input=0, output=0.0)), "openai/toy") == 0


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.floats(0, 1e3), st.floats(0, 1e3))
def test_cost_is_linear_in_tokens(prompt, completion, per_input, per_output):
    one = Price("x", per_input, per_output, "USD", date(2026, 1, 1), "test")
    assert one.cost(0, 0) == 0
    whole = one.cost(prompt, completion)
    assert whole == pytest.approx(one.cost(prompt, 0) + one.cost(0, completion))
    assert one.cost(10**6, 0) == pytest.approx(per_input)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (entry(input='"0.15"'), ["entry 1 (openai/toy)", "input_per_million", "without quotes"]),
        (entry(output=-1), ["output_per_million", "from 0 on"]),
        (entry(output="nan"), ["output_per_million", "from 0 on"]),
        (entry(output="inf"), ["output_per_million"]),
        (entry(output="true"), ["output_per_million"]),
        (entry(date='"2026-01-01"'), ["'date'", "without quotes"]),
        (entry(date="2026-01-01T00:00:00"), ["'date'", "without a time"]),
        (entry() + "inputs = 3\n", ["unknown field 'inputs'", "input_per_million"]),
        (entry() + '[[model]]\nname = "x"\n', ["entry 2", "'input_per_million' is missing"]),
        (entry(name="3"), ["'name'", "quotes"]),
        (entry() + entry(), ["'openai/toy' has two prices from 2026-01-01 on", "Keep one"]),
        ("[model]\nname = 'x'\n", ["[[model]]"]),
        ("[[models]]\n", ["unknown table 'models'", "[[model]]"]),
        ("model = [1]\n", ["[[model]]"]),
        ("name =", ["no TOML"]),
    ],
)
def test_a_list_that_cannot_be_used_names_place_field_and_mend(tmp_path, text, words):
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, text)
    for word in ("prices.toml", *words):
        assert word in str(caught.value)


def test_a_list_that_is_not_there_is_an_error_not_an_empty_one(tmp_path):
    with pytest.raises(ConfigError, match=r"none\.toml"):
        Prices.load(tmp_path / "none.toml")
