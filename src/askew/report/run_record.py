"""What a run folder records of how its figures came about: who answered, when, and what it cost."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, date, datetime

from askew.models.budget import NANOS
from askew.models.ledgerfile import as_run_error, is_ledger, open_to_read
from askew.report.settings import value_text
from askew.report.words import counted, label, listed
from askew.runfolder import RunFolder

SHORT_HASH = 16  # hex digits of a checksum in running text; the configuration has all
NAMED = 4  # names or checksums in a sentence before it says how many more there are
_CALLS = """
SELECT role, COUNT(*) FILTER (WHERE origin IS NULL), COUNT(*) FILTER (WHERE origin IS NOT NULL),
       SUM(settled_tokens), SUM(settled_nanos), SUM(settled_nanos IS NULL),
       MIN(MIN(sent_at, COALESCE(received_at, sent_at))),
       MAX(MAX(sent_at, COALESCE(received_at, sent_at)))
FROM calls WHERE state = 'received' GROUP BY role ORDER BY MIN(id)
"""
# Most replies are from where nothing names itself: they are passed over without being parsed.
_SERVED = """
SELECT DISTINCT role, json_extract(reply, '$.served_model')
FROM calls WHERE instr(reply, '"served_model"')
"""
# Parts of a model's identity that belong into the configuration and not into a sentence.
_LONG = ("torch", "transformers", "settings_sha256", "chat_template_sha256")


@dataclass(frozen=True, slots=True)
class RoleCost:
    """What one role has cost, over all starts of a run."""

    role: str
    calls: int  # answered
    reused: int  # replies taken from earlier runs
    tokens: int
    money: float | None  # None: no price is known

    @property
    def words(self) -> str:
        """The same in words.

        >>> RoleCost("judge", 3, 1, 1200, 0.25).words
        '3 calls; 1 reply from earlier runs; 1,200 tokens; cost 0.2500'
        """
        said = [counted(self.calls, "call")]
        if self.reused:
            said.append(f"{counted(self.reused, 'reply', 'replies')} from earlier runs")
        said.append(f"{self.tokens:,} tokens")
        said.append("no price is known" if self.money is None else f"cost {self.money:,.4f}")
        return "; ".join(said)


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What a run folder records.

    Attributes:
        record: `[record]` of `run.toml`; empty where it has none.
        costs: by role, in the order in which they were first asked; () without a ledger.
        served: (role, how the server names the model), where it says so.
        began: the day of the first call (UTC); None where none was made here.
        ended: the day of the last.
    """

    record: Mapping[str, object]
    costs: tuple[RoleCost, ...] = ()
    served: tuple[tuple[str, str], ...] = ()
    began: date | None = None
    ended: date | None = None

    @property
    def days(self) -> str:
        """When the model was asked; "" where that is not recorded.

        >>> RunRecord({}, began=date(2026, 11, 3), ended=date(2026, 11, 4)).days
        '3 to 4 November 2026'
        """
        if self.began is None or self.ended is None:
            return ""
        last = f"{self.ended.day} {self.ended:%B %Y}"
        if self.began == self.ended:
            return last
        if (self.began.year, self.began.month) == (self.ended.year, self.ended.month):
            return f"{self.began.day} to {last}"
        return f"{self.began.day} {self.began:%B %Y} to {last}"

    def identity(self, role: str = "target") -> str:
        """How the model of a role was served, as far as it is recorded; "" where it is not."""
        models = _mapping(self.record.get("models"))
        found = _mapping(self.record.get("model") if role == "target" else models.get(role))
        names = list(dict.fromkeys(name for one, name in self.served if one == role))
        parts = [f"served as {listed(names[:NAMED])}"] if names else []
        parts += [
            f"{_identity_label(name)} {_short(value)}"
            for name, value in found.items()
            if not isinstance(value, Mapping) and name not in _LONG
        ]
        return ", ".join(parts)

    def cost(self) -> str:
        """What all roles cost together, in words; "" without a ledger."""
        if not self.costs:
            return ""
        calls, reused = sum(one.calls for one in self.costs), sum(one.reused for one in self.costs)
        said = [counted(calls, "call")]
        if tokens := sum(one.tokens for one in self.costs):
            said.append(f"{tokens:,} tokens")
        prices = [one.money for one in self.costs if one.money is not None]
        if not prices:
            said.append("no price is known")
        else:
            whole = f"{sum(prices):,.4f} by the price list"
            lacking = len(self.costs) - len(prices)
            said.append(f"{whole}, without {counted(lacking, 'role')} of no known price"
                        if lacking else whole)  # fmt: skip
        if reused:
            said.append(f"{counted(reused, 'more reply', 'more replies')} from earlier runs")
        return "; ".join(said)


def run_record(folder: RunFolder, settings: Mapping[str, object]) -> RunRecord:
    """What the folder records; what it does not is left out.

    Args:
        folder: of the run.
        settings: `run.toml`, parsed.

    Raises:
        RunError: the ledger is damaged.
    """
    record = _mapping(settings.get("record"))
    if not is_ledger(folder.database):
        return RunRecord(record)
    with closing(open_to_read(folder.database)) as database, as_run_error(folder.database):
        # A server may have named itself in text that is no UTF-8.
        database.text_factory = lambda found: found.decode("utf-8", "replace")
        rows = list(database.execute(_CALLS))
        served = tuple(_served(database))
    costs = tuple(
        RoleCost(role, calls, reused, tokens or 0, None if unpriced else (nanos or 0) / NANOS)
        for role, calls, reused, tokens, nanos, unpriced, *_ in rows
    )
    sent = [(first, last) for *_, first, last in rows if first is not None and last is not None]
    return RunRecord(
        record,
        costs,
        served,
        _day(min(first for first, _ in sent)) if sent else None,
        _day(max(last for _, last in sent)) if sent else None,
    )


def software(record: Mapping[str, object], askew: object) -> str:
    """Askew and what it ran on, with versions, in a sentence."""
    version = record.get("askew") or askew
    made = f"askew {value_text(version)}" if version else "askew"
    found = _mapping(record.get("packages"))
    packages = [f"{name} {value_text(number)}" for name, number in found.items()]
    if python := record.get("python"):
        packages.insert(0, f"Python {value_text(python)}")
    beside = f" ({', '.join(packages)})" if packages else ""
    return f"Made with {made}{beside}."


def _served(database: sqlite3.Connection) -> Iterator[tuple[str, str]]:
    for role, name in database.execute(_SERVED):
        if isinstance(name, str) and name:
            yield role, name


def _day(seconds: float) -> date:
    return datetime.fromtimestamp(seconds, UTC).date()


def _identity_label(name: str) -> str:
    return "weights SHA-256" if name == "weights_sha256" else label(name).lower()


def _short(value: object) -> str:
    text = value_text(value)
    hexadecimal = len(text) > SHORT_HASH and all(sign in "0123456789abcdef" for sign in text)
    return f"{text[:SHORT_HASH]}…" if hexadecimal else text


def _mapping(found: object) -> Mapping[str, object]:
    return found if isinstance(found, Mapping) else {}
