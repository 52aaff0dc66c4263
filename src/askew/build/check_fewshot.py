"""Rules on the demonstrations that come with a set in FLEX's form."""

from __future__ import annotations

from collections import Counter

from askew.build.check_finding import Finding, Hit, finding, totals
from askew.build.check_set import FlexSet
from askew.datasets.flex_form import CATEGORIES, NO_ATTACK
from askew.prompts.fewshot import text_key


def fewshot_label(one: FlexSet) -> list[Finding]:
    """Demonstrations whose label does not point to the unknown option."""
    hits = [
        Hit(sheet.name, row.number)
        for sheet in one.sheets
        for row in sheet.fewshot
        if (neutral := row.unknown_option) is not None
        and row.text("label").removesuffix(".0") != str(neutral)
    ]
    return finding(
        "fewshot_label",
        "fault",
        "demonstrations have a label that is not the unknown option",
        hits,
        _demonstrations(one),
        consequence="a harness that shows the label as the answer demonstrates biased answers in "
        "one source and neutral ones in another.",
        mend="set the demonstrated answer yourself; askew does, by `shot_kind`.",
    )


def fewshot_refused(one: FlexSet) -> list[Finding]:
    """Demonstrations that askew's reader refuses."""
    hits = [
        Hit(sheet.name, row.number)
        for sheet in one.sheets
        for row in sheet.fewshot
        if row.item is None
    ]
    return finding(
        "fewshot_refused",
        "fault",
        "demonstrations contradict themselves or cannot be read",
        hits,
        _demonstrations(one),
        consequence="they have no answer that could be shown: three different options, exactly one "
        "of them unknown, and sent_more beside it are wanted.",
        mend="mend each row in the file, or leave it out.",
    )


def fewshot_attack(one: FlexSet) -> list[Finding]:
    """Demonstrations whose attack columns hold letters."""
    hits = [
        Hit(sheet.name, row.number, f"attack {row.text('attack')!r}, attack_type {kind!r}")
        for sheet in one.sheets
        for row in sheet.fewshot
        if (kind := row.text("attack_type")).isalpha()
        or row.text("attack") not in ("", *CATEGORIES, *NO_ATTACK)
    ]
    return finding(
        "fewshot_attack",
        "fault",
        "demonstrations have letters for an attack",
        hits,
        _demonstrations(one),
        consequence="no scenario has such a name, and code that reads `attack_type` as a number "
        "stops at a letter.",
        mend="do not read `attack` and `attack_type` of demonstrations: they are not attacked.",
    )


def fewshot_tested(one: FlexSet) -> list[Finding]:
    """Demonstrations that are attacked test items as well."""
    hits, of = [], Counter[str]()
    for sheet in one.sheets:
        tested = {
            text_key(row.item): row.number
            for row in sheet.rows
            if row.item is not None and row.category is not None
        }
        for row in sheet.fewshot:
            of[sheet.name] += 1
            number = None if row.item is None else tested.get(text_key(row.item))
            if number is not None:
                hits.append(Hit(sheet.name, row.number, f"is test row {number}"))
    return finding(
        "fewshot_tested",
        "fault",
        "demonstrations are test items too",
        hits,
        of,
        consequence="where such a test item is asked, its own prompt shows an answer to it: a "
        "neutral one flatters the model, a biased one misleads it.",
        mend="never show an item in its own prompt, compared by text, as askew does.",
    )


def _demonstrations(one: FlexSet) -> Counter[str]:
    return totals(one, lambda sheet: len(sheet.fewshot))
