"""Whether all facts but the changed ones are still told after an edit."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from askew.perturb.attributes import NEUTRAL, Attribute, band
from askew.perturb.mentions import PRONOUNS_OF
from askew.perturb.words import PRONOUN_GENDER
from askew.vignettes import Facts, Relation, Triplet

_CHANGED_BY = {
    "age": {Relation.HAS_AGE},
    "gender": {Relation.HAS_GENDER, Relation.HAS_BIRTH_SEX},
    "place": {Relation.LIVES_IN, Relation.BORN_IN, Relation.TRAVELED_TO},
    "race": {Relation.BORN_IN},
    "declared": set[Relation](),
}
_OWN_WORDS = re.compile(r"\b(?:" + "|".join(PRONOUN_GENDER) + r")\b\s*")

Told = tuple[str, str, str, str]  # relation, value, status, relative


def told(facts: Facts, without: Collection[Relation]) -> frozenset[Told]:
    """What a text tells, comparable over twins: pronouns inside a value do not count."""
    return frozenset(
        _told(fact) for fact in facts.triplets if fact.relation not in without
    )  # fmt: skip


def _told(fact: Triplet) -> Told:
    value = _OWN_WORDS.sub("", str(fact.value).lower()).strip()
    return str(fact.relation), value, str(fact.status), fact.relative or ""


def difference(
    before: Facts, after: Facts, levels: Mapping[str, str], attributes: Mapping[str, Attribute]
) -> str:
    """What an edit has changed beside its attributes; "" where nothing.

    Args:
        before: the facts of the original.
        after: the facts of the twin.
        levels: attribute -> level that was asked for.
        attributes: the attributes by name.
    """
    without = set[Relation]()
    for name in levels:
        without |= _CHANGED_BY[attributes[name].kind]
    old, new = told(before, without), told(after, without)
    parts = [
        *(f"lost: {_worded(one)}" for one in sorted(old - new)),
        *(
            f"new: {_worded(one)}"
            for one in sorted(new - old)
            if not _stands_in(one[1], before.text)
        ),
        *(
            wrong
            for name, level in levels.items()
            if (wrong := wrong_level(after, attributes[name], level))
        ),
    ]
    return "; ".join(parts)


def _stands_in(value: str, text: str) -> bool:
    """Whether the words of a value stand in the original.

    What is found in the twin alone though its words were there before was missed in the original:
    a slip of the reading, not a change. A fact that turns round is lost in its old form as well.
    """
    known = set(re.findall(r"\w+", text.lower()))
    return set(re.findall(r"\w+", value)) <= known


def _worded(one: Told) -> str:
    relation, value, status, relative = one
    return f"{relation} {value!r} ({', '.join(part for part in (status, relative) if part)})"


def wrong_level(facts: Facts, attribute: Attribute, level: str) -> str:
    """What a twin tells of age or gender in place of the level; "" where it fits or is mute."""
    if attribute.kind == "gender":
        found = facts.of(Relation.HAS_GENDER)
        if found and not _fits(str(found[0].value), level, facts.text):
            return f"has_gender is {found[0].value!r}, asked for {level!r}"
    if attribute.kind == "age":
        found = facts.of(Relation.HAS_AGE)
        if found and not _in_band(found[0], level):
            return f"has_age is {found[0].value} {found[0].unit}s, asked for {level!r}"
    return ""


def _fits(found: str, level: str, text: str) -> bool:
    """Whether the gender read in a twin is the level asked for.

    "My transgender brother" may be read as male; the word that states the level stands there.
    """
    if found == level:
        return True
    alike = level in PRONOUNS_OF and PRONOUNS_OF.get(found) == PRONOUNS_OF[level]
    return alike and level.partition(" ")[0] == "transgender" and "transgender" in text.lower()


def _in_band(fact: Triplet, level: str) -> bool:
    if level == NEUTRAL:
        return False
    youngest, oldest = band(level)
    return fact.unit in {None, "year"} and youngest <= int(fact.value) <= oldest
