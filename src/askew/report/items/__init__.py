"""What stands behind a figure, in one form for every audit: the items of a report.

A FLEX item is a pair of prompts, a clinical one a pair of twins of a case, a boundary one a topic
that was tested. Whoever fills a shelf decides what its facets are; whoever shows it knows only this
form. All texts are those of data and models: nobody has escaped them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import quote, urlencode

from askew.report.which_audit import Audit
from askew.runfolder import without_surrogates


@dataclass(frozen=True, slots=True)
class Turn:
    """A text of a conversation.

    Attributes:
        who: who speaks: "system", "user", "prompt", "reply", "judge", ...
        text: what is said.
        marks: the stretches (start, end) that are to be marked, in characters (code points), in
            order and apart.
    """

    who: str
    text: str
    marks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Side:
    """One half of an item, or one question of it.

    Attributes:
        title: "asked plainly", "female", "Should rents be capped?".
        outcome: what it came to, in a word or two; "" where it came to nothing of its own.
        shade: the CSS class of the outcome, one of `SHADES`.
        turns: what was sent and what came back, in order.
        choices: (choice, log-probability) in the order shown; () where a reply was read.
        facts: (name, text): how it was read, by which rule, the judge's reason.
    """

    title: str
    outcome: str
    shade: str
    turns: tuple[Turn, ...]
    choices: tuple[tuple[str, float], ...] = ()
    facts: tuple[tuple[str, str], ...] = ()


# The fact that says which call it was. No search looks through it: "bad" stands in many a key.
CALL = "Call"
SHADES = ("neutral", "stereotyped", "antistereotyped", "undirected", "no-answer", "plain")


@dataclass(frozen=True, slots=True)
class ReportItem:
    """One item.

    Attributes:
        id: tells it from the others of its shelf; the same in every report of the run.
        title: one line for lists.
        flagged: whether it is a finding: turned by the attack, moved with the patient, leaning.
        facets: value by the name of a facet; a facet that does not apply is left out.
        numbers: value by the name of a number; undefined is NaN or left out.
        sides: what was asked and answered.
        why: why it counts as it does, in a sentence.
    """

    id: str
    title: str
    flagged: bool
    facets: Mapping[str, str]
    numbers: Mapping[str, float]
    sides: tuple[Side, ...]
    why: str = ""


@dataclass(frozen=True, slots=True)
class Facet:
    """Something to filter by.

    Attributes:
        name: as it stands in links: lower case, underscores.
        title: for people.
        labels: for people, by value; a value without one is shown as it is.
        values: all that occur in the run, in the order in which they are offered; () where only
            the items tell.
    """

    name: str
    title: str
    labels: Mapping[str, str]
    values: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Number:
    """Something to sort by, with the digits that are shown."""

    name: str
    title: str
    digits: int = 2


@dataclass(frozen=True, slots=True)
class Shelf:
    """The items of one audit, findings first and the worst of them at the top.

    Attributes:
        audit: which.
        title: what one of them is, in the plural: "pairs", "cases", "topics".
        flag: what a finding is called: "turned by the attack".
        total: how many there are in the run; `items` may hold fewer.
        flagged: how many of the total are findings.
        note: what `items` holds where that is not all; "" where it is.
    """

    audit: Audit
    title: str
    flag: str
    facets: tuple[Facet, ...]
    numbers: tuple[Number, ...]
    items: tuple[ReportItem, ...]
    total: int
    flagged: int
    note: str = ""


def items_link(audit: Audit, **facets: str) -> str:
    """The place in a report where the items behind a figure are shown.

    Args:
        audit: whose items.
        facets: values that they must have; `flagged="yes"` for findings alone.

    >>> items_link("flex", category="persona_injection", flagged="yes")
    '#items/flex?category=persona_injection&flagged=yes'
    """
    # A browser cannot read a lone surrogate out of a link; facets and ids have it written out too.
    values = {name: without_surrogates(value) for name, value in facets.items()}
    return f"#items/{audit}" + (f"?{urlencode(values, quote_via=quote)}" if values else "")


def item_link(audit: Audit, ident: str) -> str:
    """The place in a report where one item is shown.

    >>> item_link("boundary", "Rent control")
    '#item/boundary/Rent%20control'
    """
    return f"#item/{audit}/{quote(without_surrogates(ident), safe='')}"
