"""What a call costs, by the user's own dated price list. An unknown price is None, never a guess.

The file, with every field that it may hold::

    [[model]]
    name = "openai/gpt-4o-mini*"      # as in --model; * and ? stand for anything
    input_per_million = 0.15
    output_per_million = 0.60
    currency = "USD"                  # USD where it is left out
    date = 2026-11-01                 # from this day on
    source = "the provider's price page"
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from fnmatch import fnmatchcase
from pathlib import Path

from askew.errors import ConfigError

TEMPLATE = """\
# What your models cost. askew knows no prices of its own: without an entry there is no money
# figure and no money budget. Of several entries that fit a model the most exact name counts
# (no wildcard before wildcard, then the longest), and of its dates the last that is not ahead.

[[model]]
name = "openai/gpt-4o-mini*"      # as in --model; * and ? stand for anything
input_per_million = 0.15          # per million tokens of the prompt
output_per_million = 0.60         # per million tokens of the reply, reasoning included
currency = "USD"
date = 2026-11-01                 # the price holds from this day on
source = "the provider's price page"
"""

_NUMBERS = ("input_per_million", "output_per_million")
_REQUIRED = ("name", *_NUMBERS, "date", "source")
_KNOWN = (*_REQUIRED, "currency")


@dataclass(frozen=True, slots=True)
class Price:
    """What a million tokens cost from a day on."""

    name: str  # of the model, or a pattern
    input_per_million: float
    output_per_million: float
    currency: str
    date: date
    source: str

    def cost(self, prompt_tokens: int, completion_tokens: int) -> float:
        """The price of a call, in `currency`.

        >>> from datetime import date
        >>> Price("toy/*", 1.0, 2.0, "USD", date(2026, 1, 1), "made up").cost(500_000, 250_000)
        1.0
        """
        return (
            prompt_tokens * self.input_per_million + completion_tokens * self.output_per_million
        ) / 1e6


@dataclass(frozen=True, slots=True)
class Prices:
    """A price list, read once."""

    entries: tuple[Price, ...] = ()

    @classmethod
    def load(cls, path: Path | None) -> Prices:
        """Read a price list; None is the empty one.

        Raises:
            ConfigError: the file is not there, is no TOML, or an entry is not as above.
        """
        if path is None:
            return cls()
        try:
            content = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except OSError as error:
            raise ConfigError(
                f"{path}: {error.strerror}. Write a price list as docs/models.md shows, or leave "
                "--prices out."
            ) from error
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise ConfigError(f"{path}: no TOML file in UTF-8: {error}.") from error
        for name in content:
            if name != "model":
                raise ConfigError(f"{path}: unknown table {name!r}. Entries are headed [[model]].")
        listed = content.get("model", [])
        if not isinstance(listed, list) or not all(isinstance(entry, dict) for entry in listed):
            raise ConfigError(f"{path}: 'model' is no list of tables. Head each with [[model]].")
        entries = tuple(_price(entry, f"{path}: entry {k}") for k, entry in enumerate(listed, 1))
        _refuse_doubles(entries, path)
        return cls(entries)

    def price_of(self, model_name: str, on: date | None = None) -> Price | None:
        """The price of `model_name` ("provider/model") on a day, today by default; None: unknown.

        The entry with the most exact name counts, and of its dates the last that is not ahead.
        """
        day = on or date.today()
        fitting = [
            entry
            for entry in self.entries
            if entry.date <= day
            and (entry.name == model_name or fnmatchcase(model_name, entry.name))
        ]
        return max(
            fitting,
            key=lambda entry: (entry.name == model_name, len(entry.name), entry.date),
            default=None,
        )


def _price(entry: Mapping[str, object], place: str) -> Price:
    """One entry, checked; `place` is for messages."""
    for name in entry:
        if name not in _KNOWN:
            raise ConfigError(f"{place}: unknown field {name!r}. Known: {', '.join(_KNOWN)}.")
    for name in _REQUIRED:
        if name not in entry:
            raise ConfigError(f"{place}: field {name!r} is missing. Add it.")
    place = f"{place} ({entry['name']})"
    day = entry["date"]
    if not isinstance(day, date) or isinstance(day, datetime):
        raise ConfigError(
            f"{place}: field 'date' is {day!r}, expected a day. Write it without quotes and "
            "without a time: 2026-11-01."
        )
    numbers = {name: _number(entry[name], f"{place}: field {name!r}") for name in _NUMBERS}
    return Price(
        name=_text(entry["name"], f"{place}: field 'name'"),
        currency=_text(entry.get("currency", "USD"), f"{place}: field 'currency'"),
        date=day,
        source=_text(entry["source"], f"{place}: field 'source'"),
        **numbers,
    )


def _text(value: object, field: str) -> str:
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise ConfigError(f"{field} is {value!r}, expected a text. Write it in quotes.")


def _number(value: object, field: str) -> float:
    fits = isinstance(value, int | float) and not isinstance(value, bool)
    if fits and math.isfinite(number := float(str(value))) and number >= 0:
        return number
    raise ConfigError(
        f"{field} is {value!r}, expected a number from 0 on. Write it without quotes."
    )


def _refuse_doubles(entries: tuple[Price, ...], path: Path) -> None:
    seen: set[tuple[str, date]] = set()
    for entry in entries:
        if (entry.name, entry.date) in seen:
            raise ConfigError(
                f"{path}: {entry.name!r} has two prices from {entry.date} on. Keep one of them."
            )
        seen.add((entry.name, entry.date))
