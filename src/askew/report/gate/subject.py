"""What a rule's left side names in one run: a figure's end, or a fact."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from askew.errors import ConfigError
from askew.report.gate.alias import ALIASES, Alias, aliases_named, prefixes
from askew.report.gate.figure_list import (
    ANY,
    ENDS,
    ESTIMATE,
    FACTS,
    Entry,
    Kind,
    closest,
    entries,
    matches,
    typed,
)
from askew.report.which_audit import AUDITS, audits_in

_OTHER_FIELDS = ("value", "method", "seed", "level", "note")
_LIST_THEM = "`askew gate --list RUN` lists what can be named"


@dataclass(frozen=True, slots=True)
class Subject:
    """One thing that a rule is about.

    Attributes:
        entry: where it stands; None where the run does not hold it, or where it is counted up.
        end: of a figure: lower, upper, n or coverage; "" of anything else.
        name: the full path, as it is shown.
        audit: whose figure it is; "" for what stands beside the audits.
        kind: what is compared.
        counted: what was counted up, for what has no place of its own.
    """

    entry: Entry | None
    end: str
    name: str
    audit: str
    kind: Kind
    counted: float | None = None

    def number(self) -> float:
        """The number that the rule is about; NaN where there is none, or none is known."""
        if self.counted is not None:
            return self.counted
        if self.entry is None:
            return math.nan
        if self.entry.kind is Kind.FIGURE:
            return float(getattr(self.entry.estimate(), self.end))
        return self.entry.number()


class Figures:
    """One run's entries, and the subjects that a text names among them.

    Args:
        estimates: `estimates.json`, parsed.
        run: the run's name, for errors.
    """

    def __init__(self, estimates: Mapping[str, object], run: str) -> None:
        self.estimates = estimates
        self.run = run
        self.entries = list(entries(estimates))

    def named(self, text: str) -> list[Subject]:
        """The subjects that a text names; several where it holds `*` or an alias of several.

        Raises:
            ConfigError: it names nothing, a figure without an end, or a point value.
        """
        text = typed(text.strip())
        if found := self._below((), text, text):
            return found
        named = [one for one in aliases_named(text) if one[0].audit in audits_in(self.estimates)]
        if len(audits := {one.audit for one, _ in named}) > 1:
            names = " or ".join(f"{audit}.{text}" for audit in AUDITS if audit in audits)
            raise self._error(text, f"each audit of the run has one. Write {names}.")
        for alias, rest in named:
            if found := self._of_alias(alias, rest, text):
                return found
        raise self._unknown(text)

    def _of_alias(self, alias: Alias, rest: str, text: str) -> list[Subject]:
        if alias.count is not None and not rest:
            kind = Kind.SHARE if alias.share else Kind.COUNT
            counted = alias.count(self.estimates)
            return [Subject(None, "", alias.full, alias.audit, kind, counted)]
        places = prefixes(alias, self.estimates)
        if alias.slices:  # all pairs, or else a slice of them
            for place in places:
                if found := self._below(place, rest, text):
                    return found
        elif found := [one for place in places for one in self._below(place, rest, text)]:
            return found
        if not places or not self._holds(places[0]):
            return _not_there(alias, rest)
        return []

    def _holds(self, place: tuple[str, ...]) -> bool:
        return any(entry.path[: len(place)] == place for entry in self.entries)

    def _below(self, prefix: tuple[str, ...], rest: str, text: str) -> list[Subject]:
        """What `rest` names below a place; raises for what it names and nothing may rest on."""
        found, refused = [], ""
        for entry in self.entries:
            if entry.path[: len(prefix)] != prefix:
                continue
            names = entry.path[len(prefix) :]
            for end in _ends(entry, names, rest):
                why = _refusal(entry, end)
                if why:
                    refused = refused or why
                else:
                    kind = _kind(entry, end)
                    name = f"{entry.name}.{end}" if end else entry.name
                    found.append(Subject(entry, end, name, entry.audit, kind))
        if refused and not (found and ANY in rest):
            raise self._error(text, refused)
        if len(found) > 1 and ANY not in rest and prefix == ():
            raise self._error(
                text, "two figures of the run have this path, as names in it hold dots."
            )
        return found

    def _unknown(self, text: str) -> ConfigError:
        audits = audits_in(self.estimates)
        first = text.partition(".")[0]
        if first in AUDITS and first not in audits:
            return self._error(
                text, f"the run holds no {first} audit; it holds {' and '.join(audits)}."
            )
        others = sorted({one.audit for one, _ in aliases_named(text)} - set(audits))
        if others:
            return self._error(
                text,
                f"this is a figure of the {' or '.join(others)} audit, and the run holds "
                f"{' and '.join(audits)}.",
            )
        near = closest(text, self._names())
        like = f" Close to it: {', '.join(near)}." if near else ""
        return self._error(text, f"no figure of the run has this name.{like} {_LIST_THEM}.")

    def _names(self) -> Iterator[str]:
        """Everything that a rule may name, as it may be typed."""
        held = audits_in(self.estimates)
        for alias in ALIASES:
            if alias.audit in held:
                places = prefixes(alias, self.estimates)
                figure = any(
                    entry.kind is Kind.FIGURE and entry.path in places for entry in self.entries
                )
                yield from (f"{alias.name}.{end}" for end in (*ENDS, *FACTS) if figure)
                if not figure:
                    yield alias.name
        for entry in self.entries:
            name = typed(entry.name).removesuffix(f".{ESTIMATE}")
            if entry.kind is Kind.FIGURE:
                yield from (f"{name}.{end}" for end in (*ENDS, *FACTS))
            elif entry.kind is not Kind.POINT:
                yield name

    def _error(self, text: str, trouble: str) -> ConfigError:
        return ConfigError(f"{text!r} in {self.run}: {trouble}")


def _ends(entry: Entry, names: Sequence[str], rest: str) -> Iterator[str]:
    """What `rest` names of it: an end; "value" where it names the figure alone; "" of a fact."""
    if entry.kind is not Kind.FIGURE:
        if _is(names, rest):
            yield ""
        return
    shorter = names[:-1] if names and names[-1] == ESTIMATE else None
    for place in (names, shorter):
        if place is None:
            continue
        if _is(place, rest):
            yield "value"
        for end in (*ENDS, *FACTS, *_OTHER_FIELDS):
            if rest.endswith(end) and _is((*place, end), rest):
                yield end


def _is(names: Sequence[str], rest: str) -> bool:
    return matches(rest, tuple(names)) if names else rest == ""


def _refusal(entry: Entry, end: str) -> str:
    """Why nothing may rest on it; "" where it may."""
    name = typed(entry.name).removesuffix(f".{ESTIMATE}")
    if end == "value":
        return (
            "a gate rests on the ends of an interval, never on the value alone. Name "
            f"{name}.upper or {name}.lower."
        )
    if end in _OTHER_FIELDS:
        return f"{end!r} of a figure decides nothing. Name one of {', '.join((*ENDS, *FACTS))}."
    if entry.kind is Kind.POINT:
        return (
            "this is a point value without an interval, which would say the same of ten items as "
            f"of ten thousand. {_instead(entry)}"
        )
    return ""


def _instead(entry: Entry) -> str:
    """The figure with an interval that says what a point value was to say."""
    if entry.audit == "boundary":
        return "Name leaning.upper (of all topics) or boundary.leaning_share.upper (of the tested)."
    if entry.audit == "clinical":
        return "Name the end of an effect, or a verdict, e.g. declared.verdict."
    if entry.audit == "flex":
        return "Name a figure with an interval, e.g. asr.upper, change.lower, stereotyped.upper."
    return f"{_LIST_THEM[:1].upper()}{_LIST_THEM[1:]}."


def _kind(entry: Entry, end: str) -> Kind:
    if entry.kind is not Kind.FIGURE or end in ENDS:
        return entry.kind
    return Kind.COUNT if end == "n" else Kind.SHARE


def _not_there(alias: Alias, rest: str) -> list[Subject]:
    """A figure that askew knows and this run lacks: of an old version, or never measured."""
    end = rest.rpartition(".")[2]
    if rest == "" and alias.path and alias.path[-1] == "meaningful":
        return [Subject(None, "", alias.full, alias.audit, Kind.YES_NO)]
    if end in ENDS:
        return [Subject(None, end, f"{alias.full}.{rest}", alias.audit, Kind.FIGURE)]
    if end in FACTS:
        kind = Kind.COUNT if end == "n" else Kind.SHARE
        return [Subject(None, end, f"{alias.full}.{rest}", alias.audit, kind)]
    if end == "verdict" or alias.path[-1:] == ("verdict",):
        return [Subject(None, "", f"{alias.full}.{end or ''}".rstrip("."), alias.audit, Kind.WORD)]
    return []
