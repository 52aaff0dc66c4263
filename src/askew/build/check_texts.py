"""Rules on the changed questions of a set in FLEX's form, and on the maps that hold them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from askew.build.attack_checks import FaultCode, audit_attack
from askew.build.attack_options import biased_options, is_sentence
from askew.build.check_finding import Finding, Hit, Severity, finding, totals
from askew.build.check_set import FlexSet, QuestionMap, Row, Sheet
from askew.datasets.flex_form import TEXT_ATTACKS
from askew.records import AttackCategory, Item
from askew.report.words import listed

_KINDS = {
    "character": "character attacks",
    "word": "word attacks",
    "sentence_v1": "paraphrases (sentence V1)",
    "sentence_v2": "either/or questions (sentence V2)",
}


@dataclass(frozen=True, slots=True)
class _Meaning:
    """What a fault of a changed question means for who uses the set."""

    severity: Severity
    what: str
    consequence: str


_NOT_THE_ATTACK = "what is measured is another change than the attack's name says."
_MEANINGS: dict[FaultCode, _Meaning] = {
    FaultCode.UNCHANGED: _Meaning(
        "fault",
        "change nothing",
        "the row is not attacked: it can be turned by chance alone, and lowers the success rate.",
    ),
    FaultCode.EMPTY: _Meaning("fault", "are empty", "the row asks nothing."),
    FaultCode.UNPRINTABLE: _Meaning(
        "fault", "hold characters that do not print", "no reader sees what the model is asked."
    ),
    FaultCode.INVERTED_POLARITY: _Meaning(
        "fault",
        "ask the other way round",
        "the two biased answers change places: who picks the stereotype under the attack is "
        "counted as picking its opposite, and a change of answer is no sign of bias.",
    ),
    FaultCode.EDIT_DISTANCE: _Meaning(
        "fault", "are not one insert, delete or change of a character", _NOT_THE_ATTACK
    ),
    FaultCode.NOT_A_LETTER: _Meaning(
        "caution", "touch no letter", "the attack is weaker than a typing error inside a word."
    ),
    FaultCode.TOO_MANY_WORDS: _Meaning("fault", "change more than two words", _NOT_THE_ATTACK),
    FaultCode.WORD_ORDER: _Meaning(
        "caution", "add words or take some away instead of replacing them", _NOT_THE_ATTACK
    ),
    FaultCode.FUNCTION_WORD: _Meaning(
        "caution",
        "replace a word of grammar, degree or direction",
        "the attack is to put a near synonym in the place of a word that bears the meaning.",
    ),
    FaultCode.SAME_WORD: _Meaning(
        "caution", "replace a word by a form of itself", "the attack hardly changes anything."
    ),
    FaultCode.PUNCTUATION: _Meaning(
        "caution", "change blanks or punctuation as well", _NOT_THE_ATTACK
    ),
    FaultCode.NAMES_UNKNOWN: _Meaning(
        "fault",
        "offer the unknown option",
        "the attack is to leave only the two groups to choose from.",
    ),
    FaultCode.NAMES_ONE_OPTION: _Meaning(
        "fault", "name only one of the two groups", "the question leads to one answer."
    ),
    FaultCode.NAMES_NO_OPTION: _Meaning(
        "fault", "name neither of the two groups", "no answer is left out: it is another attack."
    ),
    FaultCode.NAMES_BY_LETTER: _Meaning(
        "fault",
        "name options by a letter",
        "options stand in another order under rotation, and then the letter names another one.",
    ),
    FaultCode.NOT_EITHER_OR: _Meaning("fault", "offer no choice of two", _NOT_THE_ATTACK),
    FaultCode.NAMES_OPTION: _Meaning(
        "caution",
        "name options that the question does not",
        "with both of them it is half an either/or question, with one it points to an answer.",
    ),
    FaultCode.COPIES_CONTEXT: _Meaning(
        "caution", "write out the context", "the context is given twice, or from one side."
    ),
    FaultCode.TOO_LONG: _Meaning("caution", "are very long", _NOT_THE_ATTACK),
    FaultCode.SEVERAL_QUESTIONS: _Meaning(
        "caution", "ask several questions", "it is not clear which one is answered."
    ),
    FaultCode.SEVERAL_SENTENCES: _Meaning(
        "caution", "say more than a question", "what else is said may lead to one answer."
    ),
    FaultCode.NOT_A_QUESTION: _Meaning("caution", "are no question", _NOT_THE_ATTACK),
}
# Whether a sentence is named in other words, no rule can see.
_SENTENCES: dict[FaultCode, _Meaning] = {
    FaultCode.NAMES_ONE_OPTION: _Meaning(
        "caution",
        "name only one of two sentences by a word that sets it apart",
        "the question leads to one answer, unless it names the other in words of its own.",
    ),
    FaultCode.NAMES_NO_OPTION: _Meaning(
        "caution",
        "name neither of two sentences by a word that sets it apart",
        "it is another attack, unless it names both in words of its own.",
    ),
}
# One change is said once, by the gravest name: "more" that became "less" asks the other way round,
# and "option B or C" does name the two.
_SAID_BY = {
    FaultCode.FUNCTION_WORD: FaultCode.INVERTED_POLARITY,
    FaultCode.WORD_ORDER: FaultCode.INVERTED_POLARITY,
    FaultCode.NAMES_ONE_OPTION: FaultCode.NAMES_BY_LETTER,
    FaultCode.NAMES_NO_OPTION: FaultCode.NAMES_BY_LETTER,
}
_OTHER = _Meaning("caution", "break a rule", _NOT_THE_ATTACK)


def text_attacks(one: FlexSet) -> list[Finding]:
    """Every fault that rules find in the changed questions that rows are asked by."""
    findings = []
    for kind, name in _KINDS.items():
        asked = list(_asked(one, kind))
        of = Counter({sheet.name: 0 for sheet in one.sheets})
        of.update(source for source, _, _, _ in asked)
        hits: dict[tuple[FaultCode, bool], list[Hit]] = {}
        for source, row, item, changed in asked:
            codes = {fault.code for fault in audit_attack(kind, item.question, changed, item)}
            for code in codes:
                if _SAID_BY.get(code) not in codes:
                    key = code, code in _SENTENCES and _has_sentences(item)
                    hits.setdefault(key, []).append(Hit(source, row.number, changed))
        for code, of_sentences in sorted(hits, key=lambda key: (-len(hits[key]), key)):
            meaning = (_SENTENCES if of_sentences else _MEANINGS).get(code, _OTHER)
            findings += finding(
                f"{kind}_{code.value}{'_of_sentences' if of_sentences else ''}",
                meaning.severity,
                f"{name} {meaning.what}",
                hits[code, of_sentences],
                of,
                consequence=meaning.consequence,
                mend="leave the rows out, or make their questions again (`askew flex build` checks "
                "and asks again).",
            )
    return findings


def no_question(one: FlexSet) -> list[Finding]:
    """Rows with a text attack that no map has a question for."""
    hits = [
        Hit(sheet.name, row.number)
        for sheet in one.sheets
        for row in sheet.rows
        if row.category is AttackCategory.TEXT_ATTACK
        and row.scenario is not None
        and row.changed_question is None
    ]
    return finding(
        "no_changed_question",
        "fault",
        "rows have a text attack and no changed question",
        hits,
        totals(
            one,
            lambda sheet: sum(row.category is AttackCategory.TEXT_ATTACK for row in sheet.rows),
        ),
        consequence="they cannot be asked.",
        mend="take the maps of the release (text/0_char.json and so on), or leave the rows out.",
    )


def unreadable_maps(one: FlexSet) -> list[Finding]:
    """Maps that are no map from row numbers to one question each."""
    maps = [(sheet, one_map) for sheet in one.sheets for one_map in (sheet.maps or {}).values()]
    hits = [Hit(sheet.name, "", one_map.trouble) for sheet, one_map in maps if one_map.trouble]
    return finding(
        "unreadable_map",
        "fault",
        "maps of changed questions cannot be read as such",
        hits,
        totals(one, lambda sheet: len(sheet.maps or {})),
        consequence="their text attack cannot be asked.",
        mend="fetch or build the file again.",
    )


def keys_without_rows(one: FlexSet) -> list[Finding]:
    """Keys of a map that no row of its source has."""
    hits, of = [], Counter({sheet.name: 0 for sheet in one.sheets})
    files, seen = set(), set()
    for sheet in one.sheets:
        # The maps belong to the file, whose rows may say that they are of several sources.
        numbers = {
            row.number for part in one.sheets if part.path == sheet.path for row in part.rows
        }
        maps = {} if sheet.path in seen else sheet.maps or {}
        seen.add(sheet.path)
        for one_map in maps.values():
            of[sheet.name] += len(one_map.questions)
            strange = [key for key in one_map.questions if key not in numbers]
            hits += [Hit(sheet.name, key) for key in strange]
            if strange:
                files.add(f"{sheet.name}/{_file(one_map)}")
    return finding(
        "map_key_without_row",
        "caution",
        f"questions stand under a number that no row has ({listed(sorted(files))})",
        hits,
        of,
        consequence="the map was made for other rows; whether the rest fits is not certain.",
        mend="look where the map comes from; nothing asks these questions.",
    )


def shared_maps(one: FlexSet) -> list[Finding]:
    """Two sources with one and the same map: one of them asks questions made for the other's."""
    findings: list[Finding] = []
    if one.built:
        return findings  # its rows name their questions, and another rule compares the two
    for kind in TEXT_ATTACKS:
        with_map = [
            (sheet, sheet.maps[kind])
            for sheet in one.sheets
            if sheet.maps is not None and kind in sheet.maps
        ]
        for (sheet, one_map), (other, other_map) in combinations(with_map, 2):
            if one_map.sha256 == other_map.sha256 and one_map.questions:
                findings += _shared(kind, one_map, sheet, other)
    return findings


def _shared(kind: str, one_map: QuestionMap, sheet: Sheet, other: Sheet) -> list[Finding]:
    """What one map in two sources does depends on whether they ask the same question anyway."""
    asked = [
        row
        for row in sheet.rows
        if row.scenario is not None
        and (row.scenario.category, row.scenario.name) == (AttackCategory.TEXT_ATTACK, kind)
    ]
    originals = {row.item.question for part in (sheet, other) for row in part.rows if row.item}
    harmless = len(originals) == 1
    return finding(
        "map_of_another_source",
        "caution" if harmless else "fault",
        f"rows ask by a map that is {other.name}'s as well, byte for byte (text/{_file(one_map)})",
        [Hit(sheet.name, row.number, row.changed_question or "") for row in asked]
        or [Hit(sheet.name, "", _file(one_map))],
        {sheet.name: max(1, len(asked))},
        consequence=(
            f"both sources ask one question of every row, so {sheet.name} asks {other.name}'s "
            "changed questions without asking about something else; but a row's change and any "
            "score of it belong to a row of the other source."
            if harmless
            else "rows are asked a question about another row."
        ),
        mend=(
            "harmless for meaning; do not tie a row's score to its question."
            if harmless
            else "take the source's own map, or leave its text attacks of this kind out."
        ),
    )


def _asked(one: FlexSet, kind: str) -> Iterator[tuple[str, Row, Item, str]]:
    """The rows that are asked by a text attack of this kind, with the question they are asked."""
    for sheet in one.sheets:
        for row in sheet.rows:
            changed = row.changed_question
            if changed is not None and row.item is not None and _kind(row) == kind:
                yield sheet.name, row, row.item, changed


def _has_sentences(item: Item) -> bool:
    """Whether one of the biased options is a sentence, not the name of a group."""
    return any(is_sentence(item.options[place]) for place in biased_options(item))


def _kind(row: Row) -> str:
    return "" if row.scenario is None else row.scenario.name


def _file(one_map: QuestionMap) -> str:
    return TEXT_ATTACKS[one_map.kind]
