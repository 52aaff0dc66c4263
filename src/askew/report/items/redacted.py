"""The items of a run as they may be shown: what its `[redact]` table names is blacked out.

Only what is shown changes. Scores, figures, ids and the filters over the items stay, and a search
on a served page still looks through the texts as they were.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from askew.privacy.redaction import Redaction
from askew.report.items import ReportItem
from askew.report.items.index import Flags, ItemIndex, Stock
from askew.report.which_audit import settings_of
from askew.runfolder import RunFolder

Shown = TypeVar("Shown")
# What records are found and joined by; never a text.
KEPT = frozenset(
    {"id", "item_id", "vignette_id", "variant_id", "call_key", "answer_key", "judge_key", "idents"}
    | {"kind", "order", "outcome", "verdict", "form", "arm", "audit", "facets", "numbers"}
)
# A topic is checked against its graph by its name, and is the finding itself.
_OF_TOPICS = KEPT | {"title", "domain"}


def redaction_of(folder: RunFolder) -> Redaction | None:
    """The rules of a run's `[redact]` table; None where it has none.

    Raises:
        ConfigError: they cannot be used, such as a file of names that is gone: nothing is shown
            without them.
        RunError: the settings cannot be read.
    """
    table = settings_of(folder).get("redact")
    if not isinstance(table, Mapping) or not table:
        return None
    return _made(
        tuple(table.get("kinds", ())),
        tuple(table.get("names", ())),
        table.get("names_file"),
        tuple(table.get("patterns", ())),
    )


@lru_cache(maxsize=8)
def _made(
    kinds: tuple[str, ...], names: tuple[str, ...], file: str | None, patterns: tuple[str, ...]
) -> Redaction:
    return Redaction.of(kinds, names, None if file is None else Path(file), patterns)


def redacted(record: Shown, rules: Redaction | None) -> Shown:
    """A record of dataclasses, mappings and lists with its texts redacted; `KEPT` stays."""
    return record if rules is None else _redacted(record, rules)


def _redacted(value: Any, rules: Redaction) -> Any:
    if type(value) is str:  # an enumeration's member is a str too, and no text
        return rules(value)
    if isinstance(value, Mapping):
        return {key: one if key in KEPT else _redacted(one, rules) for key, one in value.items()}
    if isinstance(value, list | tuple) and not hasattr(value, "_fields"):
        return type(value)(_redacted(one, rules) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        kept = _OF_TOPICS if hasattr(value, "topic_id") else KEPT
        changed = {
            one.name: _redacted(getattr(value, one.name), rules)
            for one in fields(value)
            if one.init and one.name not in kept
        }
        return replace(value, **changed)
    return value


class RedactedStock:
    """A stock whose items are shown by the rules of its run."""

    def __init__(self, stock: Stock, rules: Redaction) -> None:
        self._stock = stock
        self._rules = rules

    @property
    def index(self) -> ItemIndex:
        """See `Stock`."""
        return self._stock.index

    def items(self, rows: Sequence[int]) -> Iterator[ReportItem]:
        """See `Stock`; texts are redacted, marks within them are gone with them."""
        for item in self._stock.items(rows):
            yield self._shown(item)

    def row_of(self, ident: str) -> int | None:
        """See `Stock`."""
        return self._stock.row_of(ident)

    def saying(self, words: Sequence[str]) -> Flags:
        """See `Stock`."""
        return self._stock.saying(words)

    def _shown(self, item: ReportItem) -> ReportItem:
        rules = self._rules
        sides = [
            replace(
                side,
                title=rules(side.title),
                turns=tuple(
                    turn
                    if (text := rules(turn.text)) == turn.text
                    else replace(turn, text=text, marks=())
                    for turn in side.turns
                ),
                choices=tuple((rules(choice), value) for choice, value in side.choices),
                facts=tuple(
                    (name, text if name == "Call" else rules(text)) for name, text in side.facts
                ),
            )
            for side in item.sides
        ]
        return replace(item, title=rules(item.title), sides=tuple(sides), why=rules(item.why))
