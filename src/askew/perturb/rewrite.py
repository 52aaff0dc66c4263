"""The edits that tell another age and gender of the patient, at the words that tell them now."""

from __future__ import annotations

import re
from collections.abc import Iterator

from askew.perturb import ages, wording, words
from askew.perturb.agreement import verb_edits
from askew.perturb.attributes import NEUTRAL, NON_BINARY, TRANS_MAN, TRANS_WOMAN
from askew.perturb.edits import NotExpressible
from askew.perturb.mentions import PRONOUNS_OF, Mention, People
from askew.perturb.wording import Target
from askew.vignettes import Edit, Span

_BIRTH_SEX = re.compile(
    r"\b(?:(?:assigned|designated|born)\s+(?:as\s+)?(?:an?\s+)?(?P<sex>female|male)\b"
    r"|(?P<letters>AFAB|AMAB|FTM|MTF)\b|(?:female|male)-to-(?:female|male)"
    r"|natal (?:fe)?male|biological(?:ly)? (?:fe)?male"
    r"|gender[- ]affirming|gender[- ]dysphori\w+|gender transition|transitioned)",
    re.IGNORECASE,
)
_AGE_ADJECTIVE = re.compile(
    r"\b(?:" + "|".join(sorted(words.AGE_ADJECTIVES, key=len, reverse=True)) + r"|middle aged)\b",
    re.IGNORECASE,
)
_GAP = re.compile(r"[ ]+(?:[\w'-]+[ ]+){0,3}")


def rewrite(people: People, target: Target) -> list[Edit]:
    """Every edit that the target needs; they may still overlap and lack articles.

    Raises:
        NotExpressible: a word cannot be changed without a guess; the text says which.
    """
    edits: list[Edit] = []
    if target.gender is not None:
        _refuse(people, target)
    statements = [mention for mention in people.of("patient") if _states(mention)]
    for mention in people.of("patient"):
        edits += _own(people, mention, target, first=mention in statements[:1])
    if target.gender is not None:
        edits += _partner(people, target)
    if target.years is not None or target.ageless:
        edits += [*_ages(people, target), *_adjectives(people, target)]
    return edits


def _states(mention: Mention) -> bool:
    kind = mention.kind in {"noun", "letter", "modifier"}
    return kind and not mention.past


def _refuse(people: People, target: Target) -> None:
    """Stop where a guess would be needed."""
    before = _BIRTH_SEX.search(people.text)
    if before and not _same_birth_sex(before, people.gender, target.gender):
        raise NotExpressible(
            f"{before[0]!r} tells the patient's birth sex or transition, which no word swap undoes"
        )
    was = PRONOUNS_OF.get(people.gender or "")
    if target.pronouns == was:
        return
    for mention in people.of("unsure"):
        start, end = mention.span
        around = people.text[max(0, start - 25) : end + 25]
        raise NotExpressible(
            f"{people.text[start:end]!r} may mean the patient or somebody else: …{around}…"
        )


def _same_birth_sex(found: re.Match[str], old: str | None, new: str | None) -> bool:
    """Whether a stated birth sex or transition stays true at the new gender."""
    trans = {TRANS_MAN, NON_BINARY} if old == TRANS_MAN else {TRANS_WOMAN, NON_BINARY}
    stated = found["sex"] is not None
    return new == old or (stated and old in {TRANS_MAN, TRANS_WOMAN} and new in trans)


def _own(people: People, mention: Mention, target: Target, *, first: bool) -> Iterator[Edit]:
    """The edits of one word that means the patient."""
    start, end = mention.span
    old = people.text[start:end]
    if mention.kind == "noun":
        new = wording.noun(mention, old[len(old) - _word_length(mention, old) :], target, first)
        yield _deleting(people.text, Edit(mention.span, new))
    elif mention.kind == "stage":
        yield Edit(mention.span, wording.stage(mention, old, target))
    elif mention.kind == "letter":
        glued = start > 0 and people.text[start - 1].isdigit()
        yield Edit(mention.span, wording.letter(old, target, glued))
    elif mention.kind == "title":
        yield Edit(mention.span, wording.title(old, target))
    elif mention.kind == "name":
        yield Edit(mention.span, wording.name(old, target))
    elif mention.kind == "modifier":
        new = wording.modifier(mention, old, target, first)
        yield _deleting(people.text, Edit(mention.span, new))
    elif mention.kind == "pronouns_used":
        yield Edit(mention.span, wording.pronouns_used(old, target))
    else:
        yield Edit(mention.span, wording.pronoun(mention, old, target))
        yield from _verbs(people, mention, target)


def _word_length(mention: Mention, old: str) -> int:
    """The letters of the noun itself, without "transgender" before it."""
    if not mention.statement:
        return len(old)
    return len(old) - len(mention.statement) - 1


def _verbs(people: People, mention: Mention, target: Target) -> Iterator[Edit]:
    if mention.case != "subject" or target.pronouns is None:
        return
    if (mention.gender == "neutral") != (target.pronouns == "neutral"):
        yield from verb_edits(people.doc[mention.token], to_they=target.pronouns == "neutral")


def _deleting(text: str, edit: Edit) -> Edit:
    """A word that goes takes the blank after it along."""
    end = edit.span.end
    if edit.text or not text[end : end + 1].isspace():
        return edit
    return Edit(Span(edit.span.start, end + 1), "")


def _partner(people: People, target: Target) -> Iterator[Edit]:
    """Husband and wife follow the patient's gender where it turns round."""
    was = PRONOUNS_OF.get(people.gender or "")
    flips = {was, target.pronouns} == {"male", "female"}
    for mention in people.of("partner"):
        old = people.text[slice(*mention.span)]
        yield Edit(mention.span, wording.partner(mention, old, target, flips))
        if target.gender == NEUTRAL and mention.case == "subject" and mention.gender != "neutral":
            yield from verb_edits(people.doc[mention.token], to_they=True)


def _ages(people: People, target: Target) -> Iterator[Edit]:
    for age in people.ages:
        if target.years is not None:
            yield Edit(*ages.written(people.text, age, target.years))
        else:
            yield _without(people, age)


_SAID = re.compile(r"(?:\b(?:is|was|am|now|turned|[’']s|[’']m)|[,(:])\s*$", re.IGNORECASE)


def _without(people: People, age: ages.Age) -> Edit:
    """The text without an age: before a noun it goes, elsewhere it is of no stated age."""
    text, (start, end) = people.text, age.span
    said = _SAID.search(text, 0, start)
    if age.style in {"aged", "decade", "bare", "of_age"} or (
        said and not _noun_follows(people, end)
    ):
        return Edit(age.span, "of unstated age")
    if not _noun_follows(people, end):
        return Edit(age.span, wording.cased(text[start:end], "patient"))
    blank = re.match(r"[\s-]+", text[end:])
    return Edit(Span(start, end + (blank.end() if blank else 0)), "")


def _noun_follows(people: People, end: int) -> bool:
    """Whether a word that the age speaks of stands right after it."""
    following = next(
        (token for token in people.doc if token.idx >= end and not token.is_space), None
    )
    if following is None or following.is_punct:
        return False
    return following.pos_ in {"NOUN", "PROPN", "ADJ", "NUM"} or any(
        mention.token == following.i and mention.kind != "pronoun" for mention in people.mentions
    )


def _adjectives(people: People, target: Target) -> Iterator[Edit]:
    """Of "elderly", "young" and the like before a word that means the patient."""
    nouns = [mention.span.start for mention in people.of("patient") if mention.kind != "pronoun"]
    nouns += [token.idx for token in people.doc if token.lower_ == "patient"]
    for found in _AGE_ADJECTIVE.finditer(people.text):
        if not any(_GAP.fullmatch(people.text, found.end(), noun) for noun in nouns):
            continue
        new = wording.age_adjective(found[0], target)
        if new is None:
            yield _deleting(people.text, Edit(Span(*found.span()), ""))
        else:
            yield Edit(Span(*found.span()), new)
