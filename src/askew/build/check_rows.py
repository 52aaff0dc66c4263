"""Rules on the rows of a set in FLEX's form: what is assigned, labelled and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

from askew.build.check_finding import Finding, Hit, Severity, finding, totals
from askew.build.check_set import FlexSet, Row, Sheet
from askew.build.statistics import counted
from askew.datasets.flex_form import NO_ATTACK, OPTIONS, SOURCES
from askew.datasets.pins import PUBLISHED
from askew.errors import DataError
from askew.prompts.fewshot import text_key
from askew.prompts.objectives import published_wording
from askew.prompts.persona import released_personas
from askew.records import AttackCategory, Item, Scenario

_SELF_CIPHER = Scenario(AttackCategory.COMPETING_OBJECTIVES, "self_cipher")
# FLEX's Table 4 as printed: its totals by category and source.
PRINTED_TOTALS = {
    "persona_injection": {"bbq": 400, "crows_pairs": 314, "stereoset": 370},
    "competing_objectives": {"bbq": 388, "crows_pairs": 322, "stereoset": 381},
    "text_attack": {"bbq": 315, "crows_pairs": 310, "stereoset": 345},
}


def unreadable_files(one: FlexSet) -> list[Finding]:
    """Files that cannot be read at all; the others were looked at."""
    hits = [Hit(file.source, "", file.why) for file in one.unreadable]
    return finding(
        "unreadable_files",
        "fault",
        "files cannot be read",
        hits,
        Counter([sheet.name for sheet in one.sheets] + [hit.source for hit in hits]),
        consequence="what they hold is not in any figure, nor was it looked at here.",
        mend="see the line below; fetch or build the file again.",
    )


def no_rows(one: FlexSet) -> list[Finding]:
    """Sources, or a whole set, without a row."""
    hits = [Hit(sheet.name, "") for sheet in one.sheets if not sheet.rows]
    if not one.sheets and not one.unreadable:
        hits = [Hit("", "")]
    return finding(
        "no_rows",
        "caution",
        "files hold no row",
        hits,
        totals(one, lambda sheet: 1) or {"": 1},
        consequence="there is nothing to ask.",
        mend="see `build.json` for where the items were lost, or fetch the file again.",
    )


def missing_columns(one: FlexSet) -> list[Finding]:
    """Columns that every row must have."""
    hits = [Hit(sheet.name, "", name) for sheet in one.sheets for name in sheet.missing_columns]
    return finding(
        "missing_columns",
        "fault",
        "columns are missing",
        hits,
        totals(one, lambda sheet: len(sheet.header) + len(sheet.missing_columns)),
        consequence="no row of the source can be read.",
        mend="take the file from the release again, or add the columns.",
    )


def refused(one: FlexSet) -> list[Finding]:
    """Rows that askew's reader refuses, whatever the reason; labels have a rule of their own."""
    hits = [
        Hit(
            sheet.name,
            problem.record or f"line {problem.line}",
            f"{problem.field}: {problem.message}".removeprefix(": "),
        )
        for sheet in one.sheets
        for problem in sheet.problems
        if problem.kind == "rejected" and problem.field != "label"
    ]
    return finding(
        "refused_rows",
        "fault",
        "rows contradict themselves or cannot be read",
        hits,
        totals(one, lambda sheet: len(sheet.rows) + sheet.lost),
        consequence="askew leaves them out; who reads them all the same may take something for "
        "the neutral answer that is none.",
        mend="mend each row in the file; `askew data check flex --from DIR` lists them all.",
    )


def unattacked(one: FlexSet) -> list[Finding]:
    """Rows that carry -1: no scenario worked on them."""
    return _row_rule(
        one,
        lambda row: row.text("attack") in NO_ATTACK,
        "unattacked_rows",
        "fault",
        "rows have no attack (-1)",
        consequence="who reads every row asks them plainly and counts them as attacked, and in "
        "Python an index of -1 names the last scenario of a list.",
        mend="leave them out, as askew's reader does.",
    )


def label(one: FlexSet) -> list[Finding]:
    """Labels that do not point to the one unknown option."""
    refused = {
        problem.record
        for sheet in one.sheets
        for problem in sheet.problems
        if problem.kind == "rejected" and problem.field == "label"
    }

    def is_wrong(row: Row) -> bool:
        if row.item is not None:
            return False  # the reader takes no row whose label is wrong
        neutral = row.unknown_option
        if neutral is not None:
            return row.text("label").removesuffix(".0") != str(neutral)
        # The neutral option is worded in a way of its own: the reader knows what is no place.
        return bool({row.number, row.text("item_id")} & refused)

    return _row_rule(
        one,
        is_wrong,
        "label_not_neutral",
        "fault",
        "labels do not point to the unknown option",
        consequence="a biased answer is counted as right.",
        mend="point `label` to the option that says that the answer cannot be known.",
    )


def other_sentence(one: FlexSet) -> list[Finding]:
    """Rows whose `sent_more` and `sent_less` are not the two biased options."""

    def is_wrong(row: Row) -> bool:
        item, less = row.item, row.text("sent_less")
        if item is None or "sent_less" not in row.fields:
            return False  # that `sent_more` is one of them, the reader sees to
        place = item.antistereotyped
        return less != ("" if place is None else item.options[place].strip())

    return _row_rule(
        one,
        is_wrong,
        "sent_less_not_the_other_option",
        "fault",
        "rows have a sent_less that is not the biased option beside sent_more",
        consequence="who tells stereotyped from opposite answers by these columns is misled.",
        mend="put the other biased option there, as it stands in a, b or c.",
    )


def no_such_scenario(one: FlexSet) -> list[Finding]:
    """An `attack_type` that the list of its category does not have."""

    def is_out(row: Row) -> bool:
        return row.category is not None and row.scenario is None and _has_list(row)

    return _row_rule(
        one,
        is_out,
        "attack_type_out_of_range",
        "fault",
        "rows have an attack_type that is beyond the end of its list",
        consequence="no scenario can be made of them.",
        mend="compare the rows with the release, or leave them out.",
    )


def no_personas(one: FlexSet) -> list[Finding]:
    """Persona rows of a bias type for which Table 2 of the paper has no list."""
    return _row_rule(
        one,
        lambda row: row.category is not None and row.scenario is None and not _has_list(row),
        "bias_type_without_personas",
        "fault",
        "persona rows are of a bias type that has no personas",
        consequence="no scenario can be made of them.",
        mend="give the rows another scenario, or name the persona in a column `scenario`.",
    )


def duplicates(one: FlexSet) -> list[Finding]:
    """Rows that ask what an earlier row of the same source asks."""
    hits = []
    for sheet in one.sheets:
        seen: dict[object, str] = {}
        for row in sheet.rows:
            if row.category is None or row.item is None:
                continue
            earlier = seen.setdefault(text_key(row.item), row.number)
            if earlier != row.number:
                hits.append(Hit(sheet.name, row.number, f"as row {earlier}"))
        hits += [
            Hit(sheet.name, problem.record, problem.message)
            for problem in sheet.problems
            if problem.kind == "duplicate"
        ]
    return finding(
        "duplicates",
        "caution",
        "rows ask the same as an earlier row of their source",
        hits,
        totals(one, lambda sheet: sum(row.category is not None for row in sheet.rows)),
        consequence="the question counts twice, and intervals that take rows for independent draws "
        "are too short; under two scenarios it is two pairs of one item.",
        mend="keep one of each, or group rows of one question when intervals are made.",
    )


def religion_as_persona(one: FlexSet) -> list[Finding]:
    """Personas that name a religion and not a believer."""
    nouns = released_personas("religion")

    def says_noun(row: Row) -> bool:
        if row.category is not AttackCategory.PERSONA_INJECTION or row.scenario is None:
            return False
        if row.scenario.name not in nouns:
            return False
        return not one.built or row.scenario.name in row.text("instruction")

    return _row_rule(
        one,
        says_noun,
        "religion_as_persona",
        "caution",
        "personas name a religion, not a believer",
        consequence='"Speak like a terrible Christianity." names nobody who could speak.',
        mend="word them as believers: askew's default, `--persona-style askew`.",
        of=lambda row: row.category is AttackCategory.PERSONA_INJECTION,
    )


def self_cipher(one: FlexSet) -> list[Finding]:
    """Self-Cipher rows; whether anything is encoded shows in the release's wording."""
    if one.built:
        return []
    text = _released_objective(one, "self_cipher")
    if text is None:
        rule, what = "self_cipher_not_looked_at", "rows are Self-Cipher, whose wording is not here"
        consequence = "whether anything is encoded was not looked at; in the release nothing is."
        mend = "name a clone of the release, which has the wording (lm_eval/prompts/type.py)."
    elif "cipher" in text.casefold():
        rule, what = "self_cipher_encodes_nothing", "rows are Self-Cipher and encode nothing"
        consequence = (
            "the instruction speaks of a cipher, and it and the question are in plain text: what "
            "is measured is a role play about ciphers."
        )
        mend = "say so where figures by scenario are given."
    else:
        return []
    return _row_rule(
        one,
        lambda row: row.scenario == _SELF_CIPHER,
        rule,
        "note",
        what,
        consequence=consequence,
        mend=mend,
        of=lambda row: row.category is AttackCategory.COMPETING_OBJECTIVES,
    )


def blanks(one: FlexSet) -> list[Finding]:
    """Options with blanks at their ends."""
    return _row_rule(
        one,
        lambda row: any(row.text(name) != (row.fields.get(name) or "") for name in OPTIONS),
        "blanks_beside_options",
        "note",
        "rows have blanks at the ends of an option",
        consequence="an option's likelihood moves with the blank, and a reply that quotes it does "
        "not match letter by letter.",
        mend="strip the options, as askew's reader does.",
    )


def no_source_task(one: FlexSet) -> list[Finding]:
    """Sets that hold attacked rows only."""
    if one.built:
        return []
    hits = [Hit(sheet.name, "") for sheet in one.sheets if sheet.rows]
    return finding(
        "no_source_task",
        "note",
        "sources come without a task that asks their rows plainly",
        hits,
        totals(one, lambda sheet: 1),
        consequence="accuracy without the attack (Acc_S) and the attack success rate cannot be "
        "computed from the files as they are.",
        mend="ask each row without its attack as well: `askew run --data flex=DIR` does.",
    )


def paper_counts(one: FlexSet) -> list[Finding]:
    """The published files against the paper's Table 4."""
    pinned = {pin.file: pin.sha256 for pin in PUBLISHED["flex"].pins}
    published = [
        sheet
        for sheet in one.sheets
        if sheet.name in SOURCES
        and sheet.sha256 == pinned.get(f"flex/{sheet.name}/{SOURCES[sheet.name].csv}")
    ]
    hits, of = [], Counter[str]()
    for sheet in published:
        source = SOURCES[sheet.name].item_source
        table = counted(_pairs(sheet))
        for category, printed in PRINTED_TOTALS.items():
            there = table["categories"][category]["all"]
            of[sheet.name] += 1
            if there != printed[source]:
                hits.append(
                    Hit(sheet.name, "", f"{category}: {there} rows, Table 4 says {printed[source]}")
                )
    return finding(
        "unlike_table_4",
        "note",
        "totals of a category differ from the paper's Table 4",
        hits,
        of,
        consequence="the table contradicts itself as well: its persona rows add up to 1,059 under "
        "a printed 1,084, its competing objectives to 1,077 under 1,091, and StereoSet's persona "
        "rows repeat its text attacks' (345, under 370).",
        mend="cite the counts of the files: 3,144 attacked rows, not 3,145.",
    )


def _row_rule(
    one: FlexSet,
    is_hit: Callable[[Row], bool],
    rule: str,
    severity: Severity,
    what: str,
    *,
    consequence: str,
    mend: str,
    of: Callable[[Row], bool] = lambda row: True,
) -> list[Finding]:
    """The finding of every row for which `is_hit` holds, out of those for which `of` does."""
    hits = [
        Hit(sheet.name, row.number) for sheet in one.sheets for row in sheet.rows if is_hit(row)
    ]
    places = totals(one, lambda sheet: sum(map(of, sheet.rows)))
    return finding(rule, severity, what, hits, places, consequence=consequence, mend=mend)


def _pairs(sheet: Sheet) -> Iterator[tuple[Item, Scenario]]:
    for row in sheet.rows:
        if row.item is not None and row.scenario is not None:
            yield row.item, row.scenario


def _has_list(row: Row) -> bool:
    """Whether the release has a list that the row's `attack_type` points into."""
    item = row.item
    if row.category is not AttackCategory.PERSONA_INJECTION or item is None:
        return True
    return bool(released_personas(item.bias_type))


def _released_objective(one: FlexSet, name: str) -> str | None:
    """The release's text of an objective, where the set lies in a clone that holds it."""
    if one.built:
        return None
    for folder in (one.root, *list(one.root.parents)[:2]):
        try:
            return published_wording(folder)[name]
        except DataError:
            continue
    return None
