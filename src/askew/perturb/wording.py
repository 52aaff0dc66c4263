"""What a noun, letter, title, name or pronoun becomes at another gender or age."""

from __future__ import annotations

from dataclasses import dataclass

from askew.perturb import words
from askew.perturb.attributes import NEUTRAL, NON_BINARY, TRANS_MAN, TRANS_WOMAN
from askew.perturb.edits import NotExpressible
from askew.perturb.mentions import PRONOUNS_OF, Mention
from askew.perturb.words import COLUMN, Gender, Stage

_LIFE_ROWS = frozenset({"adult", "child", "polite", "familiar", "school", "sex"})
_STAGE_YEARS = {
    "newborn": (0, 0),
    "neonate": (0, 0),
    "infant": (0, 1),
    "baby": (0, 2),
    "toddler": (1, 3),
    "preschooler": (3, 5),
    "pre-schooler": (3, 5),
    "child": (0, 12),
    "kid": (0, 12),
    "youngster": (4, 15),
    "schoolchild": (5, 12),
    "teenager": (13, 19),
    "adolescent": (11, 19),
    "teen": (13, 19),
    "youth": (13, 24),
    "adult": (18, 120),
    "senior": (65, 120),
    "pensioner": (65, 120),
    "septuagenarian": (70, 79),
    "octogenarian": (80, 89),
}


@dataclass(frozen=True, slots=True)
class Target:
    """What is to be told of the patient: a gender, an age, both, or neither any more.

    `gender` is None where it is not changed, `neutral` where it is taken out; `years` likewise,
    with `ageless` where the age is taken out.
    """

    gender: str | None = None
    years: int | None = None
    ageless: bool = False
    now: float | None = None  # the age that the text tells, in years

    @property
    def pronouns(self) -> Gender | None:
        """The pronouns' gender; None where it is not changed."""
        if self.gender is None:
            return None
        return "neutral" if self.gender == NEUTRAL else PRONOUNS_OF[self.gender]

    @property
    def statement(self) -> str:
        """What stands before the first noun: "transgender", "non-binary" or nothing."""
        if self.gender in {TRANS_WOMAN, TRANS_MAN}:
            return "transgender "
        return "non-binary " if self.gender == NON_BINARY else ""


def stage_of(years: float) -> Stage:
    """The stage of life that an age in years belongs to."""
    if years < 13:
        return "child"
    return "teen" if years < 18 else "adult"


def cased(old: str, new: str) -> str:
    """`new` with the capitals of `old`."""
    if old.isupper() and len(old) > 1:
        return new.upper()
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def noun(mention: Mention, old: str, target: Target, first: bool) -> str:
    """The noun for the patient at the target.

    Args:
        mention: the noun, with "transgender" before it where it stands there.
        old: its text.
        target: what is to be told.
        first: whether it is the first word that tells the patient's gender; the statement
            "transgender" or "non-binary" is made there alone.
    """
    gender = target.pronouns or mention.gender
    row = _row(mention, target)
    if mention.attributive:
        return cased(old, _adjective(gender, target, mention, first)) if old else old
    if target.ageless and row in _LIFE_ROWS and not mention.past:
        return cased(old, _patient(gender, target, mention, first))
    word = words.ROWS[row][COLUMN[gender]]
    if row == "sex" and target.statement and first:
        # "a transgender female" is how nobody writes; "a transgender woman" is.
        child = target.years is not None and stage_of(target.years) != "adult"
        word = words.ROWS["child" if child else "adult"][COLUMN[gender]]
    return cased(old, _before(target, mention, first) + word)


def _before(target: Target, mention: Mention, first: bool) -> str:
    """Of "transgender" and the like; kept as it stands where the gender is not changed."""
    if target.gender is None:
        return f"{mention.statement} " if mention.statement else ""
    return target.statement if first else ""


def _row(mention: Mention, target: Target) -> str:
    """The row of the noun at the target's age: a boy grows into a man."""
    row = mention.row
    if target.years is None or mention.past:
        # "girl" may be said of fifteen years, "child" may not.
        grown = row == "child" and target.now is not None and target.now >= 13
        return "adult" if grown and target.pronouns == "neutral" and not mention.past else row
    if stage_of(target.years) == "adult":
        return "adult" if row in {"child", "school"} else row
    return "child" if row in {"adult", "polite", "familiar"} else row


def _adjective(gender: Gender, target: Target, mention: Mention, first: bool) -> str:
    if gender == "neutral":
        return "non-binary" if target.gender == NON_BINARY and first else ""
    return _before(target, mention, first) + words.ROWS["sex"][COLUMN[gender]]


def _patient(gender: Gender, target: Target, mention: Mention, first: bool) -> str:
    """Of "male patient": a noun that tells the gender and no stage of life."""
    adjective = _adjective(gender, target, mention, first)
    return f"{adjective} patient".lstrip()


def stage(mention: Mention, old: str, target: Target) -> str:
    """Of "infant", "teenager", "adult" at the target's age."""
    if mention.past or (target.years is None and not target.ageless):
        return old
    if target.years is None:
        return cased(old, "patient")
    youngest, oldest = _STAGE_YEARS[mention.row]
    if youngest <= target.years <= oldest:
        return old
    now = stage_of(target.years)
    return cased(old, {"child": "child", "teen": "teenager", "adult": "patient"}[now])


def age_adjective(old: str, target: Target) -> str | None:
    """Of "elderly" and the like at the target's age; None where it goes."""
    if target.years is None:
        return None
    youngest, oldest = words.AGE_ADJECTIVES[old.lower().replace(" ", "-")]
    if youngest <= target.years <= oldest:
        return old
    new = "young" if target.years < 40 else "middle-aged" if target.years < 65 else "elderly"
    return cased(old, new)


def letter(old: str, target: Target, after_number: bool) -> str:
    """The letter of "66 y/o M" or "66M"."""
    if target.ageless:
        gender = target.pronouns or ("male" if old in "Mm" else "female")
        adjective = "" if gender == "neutral" else words.ROWS["sex"][COLUMN[gender]]
        return f"{target.statement}{adjective} patient".strip()
    if target.gender is None:
        return old
    if target.pronouns in {"male", "female"} and not target.statement:
        return cased(old, "m" if target.pronouns == "male" else "f")
    child = target.years is not None and stage_of(target.years) == "child"
    row = words.ROWS["child" if child else "adult"]
    new = target.statement + row[COLUMN[target.pronouns or "neutral"]]
    return f" y/o {new}" if after_number else new


def title(old: str, target: Target) -> str:
    """Of "Mr." at the target's gender; "Ms." for every woman, as marriage is not told anew."""
    if target.pronouns is None:
        return old
    low = old.lower().strip(".")
    if words.TITLES[low] == target.pronouns:
        return old
    new = {"male": "Mr", "female": "Ms", "neutral": "Mx"}[target.pronouns]
    full_stop = "." if old.endswith(".") or low == "miss" else ""
    return new + full_stop


def name(old: str, target: Target) -> str:
    """A first name that tells a gender, as the name of its pair."""
    if target.pronouns is None:
        return old
    gender, row = words.NAMES[old]
    if target.pronouns == "neutral":
        return words.NEUTRAL_NAME
    return old if gender == target.pronouns else words.NAME_PAIRS[row][COLUMN[target.pronouns]]


def modifier(mention: Mention, old: str, target: Target, first: bool) -> str:
    """Of "non-binary" before a noun, or "non-binary person", at the target's gender."""
    if target.gender in {None, NON_BINARY}:
        return old
    gender = target.pronouns or "neutral"
    if mention.attributive:
        return cased(old, _adjective(gender, target, mention, first))
    child = target.years is not None and stage_of(target.years) != "adult"
    row = words.ROWS["child" if child else "adult"]
    return cased(old, _before(target, mention, first) + row[COLUMN[gender]])


def pronoun(mention: Mention, old: str, target: Target) -> str:
    """The pronoun in the same case."""
    if target.pronouns is None:
        return old
    return cased_pronoun(old, words.PRONOUNS[mention.case][COLUMN[target.pronouns]])


def cased_pronoun(old: str, new: str) -> str:
    """A pronoun is written in capitals where the old one is."""
    return new[:1].upper() + new[1:] if old[:1].isupper() else new


def pronouns_used(old: str, target: Target) -> str:
    """Of "they/them" as the pronouns that somebody uses."""
    if target.pronouns is None:
        return old
    if "/" not in old:
        raise NotExpressible(f"{old!r} names no pair of pronouns")
    return {"male": "he/him", "female": "she/her", "neutral": "they/them"}[target.pronouns]


def partner(mention: Mention, old: str, target: Target, flips: bool) -> str:
    """The word for the patient's husband, wife or partner, and the pronoun for one."""
    if target.gender == NEUTRAL:
        new = (
            words.PRONOUNS[mention.case][2]
            if mention.kind == "pronoun"
            else words.ROWS[mention.row][2]
        )
        return cased_pronoun(old, new)
    if not flips or mention.gender == "neutral":
        return old
    other: Gender = "male" if mention.gender == "female" else "female"
    row = words.PRONOUNS[mention.case] if mention.kind == "pronoun" else words.ROWS[mention.row]
    return cased_pronoun(old, row[COLUMN[other]])
