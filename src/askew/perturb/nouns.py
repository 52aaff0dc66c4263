"""The nouns, letters, titles and names of a text that mean a person."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from askew.perturb import words
from askew.perturb.ages import Age, in_years, overlap
from askew.perturb.mentions import PRONOUNS_OF, Kind, Mention, Who, as_a, definite
from askew.perturb.reading import clause_subject
from askew.perturb.words import Gender, listed
from askew.vignettes import Facts, Relation, Span

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

_EXAMINED = re.compile(
    r"\b(?:exam\w*|you (?:note|see|find|observe)|reveals?|notable for|shows?|appears to be|general "
    r"appearance|inspection|evaluation)\b[^.]*$",
    re.IGNORECASE,
)
_TRANS = re.compile(r"(?:transgender|trans|cisgender|cis)[ -]$", re.IGNORECASE)
_LETTER = re.compile(r"\s*(?P<letter>[MFmf])\b(?![a-zA-Z'’/-])")


def noun_after(doc: Doc, end: int) -> Token | None:
    """The noun that an age before it speaks of ("47-year-old obese Black woman"), if any."""
    for token in doc:
        if token.idx < end or token.is_space:
            continue
        if token.is_punct and token.text != "-":
            return None
        if token.lower_ in words.NOUNS and modifies(token):
            continue
        if token.lower_ in words.NOUNS or token.lower_ in words.AGED or token.lower_ == "patient":
            return token
        if token.pos_ in {"NOUN", "PROPN"} and not (
            token.i + 1 < len(doc) and doc[token.i + 1].pos_ in {"NOUN", "PROPN", "ADJ", "PUNCT"}
        ):
            return token
        if token.pos_ not in {"ADJ", "NOUN", "PROPN", "ADV", "PUNCT", "VERB", "NUM"}:
            return None
    return None


def modifies(token: Token) -> bool:
    """Whether "male" or "female" stands before the noun it speaks of."""
    if token.lower_ not in {"male", "female"} or token.i + 1 >= len(token.doc):
        return False
    following = token.doc[token.i + 1]
    return bool(
        following.pos_ in {"NOUN", "PROPN"}
        and token.whitespace_ == " "
        and (token.dep_ in {"amod", "compound", "nmod"} or following.lower_ in _NOUNS_AFTER)
        and following.tag_ not in {"VBG", "VBZ"}
        and not following.lower_.endswith("ing")  # "female reporting fever" is tagged as nouns
    )


_NOUNS_AFTER = frozenset(
    listed(
        """
        patient patients infant child adult adolescent teenager newborn neonate toddler
        baby student veteran partner partners twin individual smoker athlete nurse
        teacher worker
        """
    )
)


class NounReader:
    """Finds the words of one text that mean a person, pronouns aside."""

    def __init__(
        self, text: str, doc: Doc, facts: Facts, ages: tuple[Age, ...], gender: str | None
    ) -> None:
        self.text, self.doc, self.facts, self.ages = text, doc, facts, ages
        self.gender = gender
        self.anchors = self._anchors()
        self.known_names: set[str] = set()

    def _anchors(self) -> set[int]:
        """The tokens that the patient's age or gender was read from or speaks of."""
        spans = [fact.span for fact in self.facts.of(Relation.HAS_GENDER) if fact.span]
        anchors = {
            token.i
            for token in self.doc
            if any(overlap(Span(token.idx, token.idx + len(token)), span) for span in spans)
        }
        for age in self.ages:
            noun = noun_after(self.doc, age.span.end)
            if noun is not None:
                anchors.add(noun.i)
        return anchors

    def guess(self, nouns: list[Mention]) -> str | None:
        """The patient's gender where the facts are mute: from the noun, else from the pronouns."""
        for mention in nouns:
            if mention.who == "patient" and mention.gender != "neutral":
                return mention.gender
        found = {
            words.PRONOUN_GENDER[token.lower_]
            for token in self.doc
            if token.lower_ in words.PRONOUN_GENDER
        } - {"neutral"}
        return found.pop() if len(found) == 1 else None

    def nouns(self) -> list[Mention]:
        """The nouns, letters, titles and names; who is meant is settled by `resolve`."""
        found = [mention for token in self.doc if (mention := self._noun(token)) is not None]
        taken = [mention.span for mention in found]
        found += [
            mention
            for mention in self._letters()
            if not any(overlap(mention.span, span) for span in taken)
        ]
        found.sort(key=lambda mention: mention.span)
        if not any(mention.who == "patient" for mention in found):
            return self._first_is_patient(found)
        return found

    def _first_is_patient(self, found: list[Mention]) -> list[Mention]:
        """Without an age or gender to hold on to, the first "a man" or "the boy" is the patient."""
        for place, mention in enumerate(found):
            plain = mention.kind == "noun" and mention.row not in words.RELATION_ROWS
            if plain and not mention.attributive:
                return [*found[:place], replace(mention, who="patient"), *found[place + 1 :]]
        return found

    def _noun(self, token: Token) -> Mention | None:
        low = token.lower_.strip(".")
        if low in words.TITLES and token.i + 1 < len(self.doc) and self._titled(token):
            return self._mention(token, "title", words.TITLES[low])
        if self._is_modifier(low, token):
            return self._modifier(token)
        if low in words.NOUNS and token.tag_ not in {"VB", "VBD", "VBP", "VBZ", "NNS"}:
            return self._plain_noun(token, low)
        if low in words.AGED and token.tag_ != "NNS" and self._is_patient_stage(token):
            return self._mention(token, "stage", "neutral", row=low, past=as_a(token))
        if token.text in words.NAMES and self._is_patient_name(token):
            return self._mention(token, "name", words.NAMES[token.text][0])
        return None

    def _titled(self, token: Token) -> bool:
        following = self.doc[token.i + 1]
        if following.text == "." and token.i + 2 < len(self.doc):
            following = self.doc[token.i + 2]
        capitals = following.text[:1].isupper() and token.text[:1].isupper()
        return bool(capitals and following.is_alpha)

    def _is_modifier(self, low: str, token: Token) -> bool:
        return low in {"nonbinary", "genderqueer", "agender"} or (
            low == "non"
            and self.text[token.idx : token.idx + 10].lower() in {"non-binary", "non binary"}
        )

    def _modifier(self, token: Token) -> Mention:
        length = 10 if token.lower_ == "non" else len(token)
        span = Span(token.idx, token.idx + length)
        noun = re.match(r" (?:person|individual)\b", self.text[span.end :])
        end = span.end + (noun.end() if noun else 0)
        return Mention(Span(token.idx, end), "modifier", "patient", "neutral", token.i,
                       attributive=not noun)  # fmt: skip

    def _plain_noun(self, token: Token, low: str) -> Mention | None:
        row, gender = words.NOUNS[low]
        rest = self.text[token.idx + len(token) :]
        if rest.startswith("-in-law"):
            return self._mention(token, "noun", gender, row="parent", who="other")
        if rest.startswith(("-to-", " pattern", "-pattern")):
            return None
        before = _TRANS.search(self.text, max(0, token.idx - 12), token.idx)
        start = before.start() if before else token.idx
        attributive = modifies(token)
        who = self._whose_noun(token, row, gender, attributive)
        return Mention(
            Span(start, token.idx + len(token)), "noun", who, gender, token.i, row=row,
            statement=before[0].strip(" -") if before else "",
            attributive=attributive, past=as_a(token),
        )  # fmt: skip

    def _whose_noun(self, token: Token, row: str, gender: Gender, attributive: bool) -> Who:
        if token.i in self.anchors or (attributive and self._anchored_head(token)):
            return "patient"
        if row in words.PARTNER_ROWS:
            return "unsure"  # settled by `resolve`, which knows whose it is
        if row in words.RELATION_ROWS or attributive:
            return "other"
        if self.gender is not None and PRONOUNS_OF.get(self.gender) != gender:
            return "other"
        if definite(token) or self._predicate(token) or self._examined(token):
            return "patient"
        # "bitten by a man", "sex with a man" are of somebody else; any other "a man" is not sure.
        return (
            "other" if token.dep_ == "pobj" and token.i > 1 and not self._first(token) else "unsure"
        )

    def _examined(self, token: Token) -> bool:
        """Of "Examination reveals a pale woman": the patient, as somebody new to the eye."""
        before = self.text[token.sent.start_char : token.idx]
        return bool(_EXAMINED.search(before))

    def _first(self, token: Token) -> bool:
        return not any(other.lower_ in words.NOUNS and other.i < token.i for other in self.doc)

    def _anchored_head(self, token: Token) -> bool:
        head = self.doc[token.i + 1]
        return head.i in self.anchors or (head.lower_ == "patient" and not self._owned_by(head))

    def _owned_by(self, token: Token) -> bool:
        return any(child.dep_ == "poss" for child in token.children)

    def _predicate(self, token: Token) -> bool:
        """Of "The patient is a man", "as a boy", "Mr. Lee, a man of 60": said of the patient."""
        if as_a(token):
            return True
        subject = clause_subject(token)
        said = token.dep_ in {"attr", "appos"} and subject is not None
        return said and subject is not None and self._may_be_patient(subject)

    def _may_be_patient(self, token: Token) -> bool:
        return bool(
            token.i in self.anchors
            or token.lower_ in {"patient", "he", "she", "they"}
            or token.ent_type_ == "PERSON"
        )

    def _is_patient_stage(self, token: Token) -> bool:
        if token.i in self.anchors:
            return True
        if self._owned_by(token) or (as_a(token) and token.i > 0):
            return as_a(token)
        years = in_years(self.ages[0]) if self.ages else None
        stage = words.AGED[token.lower_]
        fits = years is None or (years < 18 if stage != "adult" else years >= 18)
        return fits and definite(token)

    def _is_patient_name(self, token: Token) -> bool:
        rest = self.text[token.idx + len(token) :]
        if self.text[max(0, token.idx - 4) : token.idx].strip().lower() in {"st.", "st", "dr."}:
            return False
        named = re.match(r"(?: [A-Z][\w'’-]+)?(?:,? (?:is )?an? |,? \(?\d|,? aged )", rest)
        if named or token.text in self.known_names or token.i in self.anchors:
            self.known_names.add(token.text)
            return True
        return False

    def _mention(
        self, token: Token, kind: Kind, gender: Gender, *, row: str = "", who: Who = "patient",
        past: bool = False,
    ) -> Mention:  # fmt: skip
        span = Span(token.idx, token.idx + len(token))
        return Mention(span, kind, who, gender, token.i, row=row, past=past)

    def _letters(self) -> list[Mention]:
        found = []
        for age in self.ages:
            match = _LETTER.match(self.text, age.span.end)
            if match and age.style != "decade":
                gender: Gender = "male" if match["letter"] in "Mm" else "female"
                span = Span(*match.span("letter"))
                token = next(t.i for t in self.doc if t.idx + len(t) > span.start)
                found.append(Mention(span, "letter", "patient", gender, token))
        return found
