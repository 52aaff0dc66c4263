"""Whom each pronoun of a text means, and which case it stands in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from askew.perturb import words
from askew.perturb.mentions import PRONOUNS_OF, Mention, Who, definite
from askew.perturb.reading import clause_subject, clause_verb, main_subject, subject_of
from askew.perturb.words import Gender, listed
from askew.vignettes import Span

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

REPORTS = frozenset(
    listed(
        """
        say state report note notice tell describe bring think believe explain mention
        add worry fear complain find see observe recall remember insist claim confirm
        deny accompany take indicate witness hear call reveal show
        """
    )
)
_OF_OWN_LIFE = frozenset(["life", "sleep", "death", "own"])
_PLURAL_PEOPLE = frozenset(
    listed(
        """
        parents friends relatives siblings brothers sisters children sons daughters
        colleagues coworkers roommates grandparents physicians doctors nurses paramedics
        classmates people patients neighbors cousins
        """
    )
)


_OPPOSITES = {"male", "female"}


class PronounReader:
    """Goes through the pronouns of one text, in order, each settled by those before it."""

    def __init__(
        self, text: str, doc: Doc, nouns: Sequence[Mention], anchors: frozenset[int],
        years: float | None,
    ) -> None:  # fmt: skip
        self.text, self.doc, self.nouns = text, doc, nouns
        self.anchors, self.years = anchors, years
        self.known: dict[int, Mention] = {}

    def resolve(self, gender: str | None) -> tuple[Mention, ...]:
        """The nouns and the pronouns, each with who is meant."""
        self.known = {mention.token: mention for mention in self.nouns}
        own = PRONOUNS_OF.get(gender or "")
        for token in self.doc:
            if token.i in self.known:
                mention = self.known[token.i]
                if mention.row in words.PARTNER_ROWS and mention.who == "unsure":
                    self.known[token.i] = replace(mention, who=self._partner_of(token))
                elif mention.kind in {"title", "name"} and {own, mention.gender} == _OPPOSITES:
                    self.known[token.i] = replace(mention, who="other")
            elif token.lower_ in words.PRONOUN_GENDER and not _letters_case(token):
                self.known[token.i] = self._pronoun(token, own)
        letters = [
            mention for mention in self.nouns if self.known.get(mention.token) is not mention
        ]
        extra = [mention for mention in letters if mention.kind == "letter"]
        every = {mention.span: mention for mention in (*self.known.values(), *extra)}
        return tuple(sorted(every.values(), key=lambda mention: mention.span))

    def _partner_of(self, token: Token) -> Who:
        """Whose husband or wife: the patient's, unless somebody else owns the word."""
        if self.years is not None and self.years < 14:
            return "other"
        for child in token.children:
            if child.dep_ == "poss":
                owner = self.known.get(child.i)
                if owner is not None:
                    return {"patient": "partner", "unsure": "unsure"}.get(owner.who, "other")  # type: ignore[return-value]
                return "partner" if child.lower_ == "patient" else "other"
        return "partner" if definite(token) else "other"

    def _pronoun(self, token: Token, own: Gender | None) -> Mention:
        gender = words.PRONOUN_GENDER[token.lower_]
        used = re.match(
            r"\w+\s?/\s?(?:him|her|them)(?:\s?/\s?\w+)?(?= pronoun)", self.text[token.idx :]
        )
        if used:
            span = Span(token.idx, token.idx + used.end())
            return Mention(span, "pronouns_used", "patient", gender, token.i)
        who: Who = self._whose_pronoun(token, gender, own) if own else "other"
        span = Span(token.idx, token.idx + len(token))
        return Mention(span, "pronoun", who, gender, token.i, case=pronoun_case(token))

    def _whose_pronoun(self, token: Token, gender: Gender, own: Gender) -> Who:
        before = [mention for mention in self.known.values() if mention.token < token.i]
        rivals = [
            mention
            for mention in before
            if mention.who in {"other", "partner", "unsure"}
            and mention.kind != "pronoun"
            and mention.gender == gender
            and not mention.attributive
        ]
        if gender == "neutral":
            return self._they(token) if own == "neutral" else "other"
        if gender != own:
            kinds = {rival.who for rival in rivals}
            if not kinds:
                # A doctor or a room-mate of no stated gender; with nobody else in the text the
                # pronoun contradicts the patient's gender.
                return "other" if self._somebody_else(token) else "unsure"
            return kinds.pop() if len(kinds) == 1 else "unsure"
        if not rivals:
            return "other" if self._owns_patient(token) else "patient"
        return self._against(token, rivals)

    def _somebody_else(self, token: Token) -> bool:
        return any(
            other.i < token.i
            and (other.lower_ in words.OTHER_PEOPLE or other.ent_type_ == "PERSON")
            for other in self.doc
        )

    def _owns_patient(self, token: Token) -> bool:
        """Of "A mother brings her son": "her" is not the son's, who is the patient."""
        owned = token.head
        mention = self.known.get(owned.i)
        return (
            token.dep_ == "poss"
            and mention is not None
            and mention.who == "patient"
            and mention.kind in {"noun", "stage"}
        )

    def _they(self, token: Token) -> Who:
        start = token.sent.start
        previous = self.doc[start - 1].sent.start if start else 0
        plural = any(other.lower_ in _PLURAL_PEOPLE for other in self.doc[previous : token.i])
        return "unsure" if plural else "patient"

    def _against(self, token: Token, rivals: list[Mention]) -> Who:
        """Patient or somebody of the same gender: by syntax, else unsure."""
        if self._owns_patient(token):
            return "other"
        owned = self.known.get(token.head.i)
        if token.dep_ == "poss" and owned is not None and owned.row in words.RELATION_ROWS:
            return "patient"
        tokens = {rival.token: rival for rival in rivals}
        subject = clause_subject(token)
        if subject is not None and subject.i != token.i and subject.i in tokens:
            return self._in_their_clause(token, tokens[subject.i])
        if subject is not None and subject.i != token.i and self._means(subject) == "patient":
            return "patient"
        if token.dep_ in {"nsubj", "nsubjpass"} or subject is None:
            return self._as_subject(token, tokens)
        if subject.i in self.known:
            return self.known[subject.i].who
        here = [rival for rival in rivals if rival.span.start >= token.sent.start_char]
        return "unsure" if here else "patient"

    def _means(self, token: Token) -> Who | None:
        if token.i in self.known:
            return self.known[token.i].who
        return "patient" if token.lower_ == "patient" or token.i in self.anchors else None

    def _in_their_clause(self, token: Token, rival: Mention) -> Who:
        """In a clause about a relative: "his father died in his 50s", "her mother gave her"."""
        if pronoun_case(token) == "object":
            return "patient"  # "her" of one's own would be "herself"
        if pronoun_case(token) == "reflexive":
            return rival.who
        decade = re.match(r"(?:\s+(?:early|mid|late))?[\s-]*(?:\d0s|\w+ies)\b",
                          self.text[token.idx + len(token) :])  # fmt: skip
        if decade or token.head.lower_ in _OF_OWN_LIFE:
            return rival.who
        verb = clause_verb(token)
        return "patient" if verb is not None and verb.lemma_ in REPORTS else "unsure"

    def _as_subject(self, token: Token, tokens: dict[int, Mention]) -> Who:
        verb = clause_verb(token)
        if verb is None:
            return "unsure"
        if re.match(r"\s*(?:herself|himself)\b", self.text[token.idx + len(token) :]):
            return "patient"  # "She herself has none": against the relative just named
        above = subject_of_head(verb)
        if above is not None and above.i in tokens:
            return "patient" if verb.head.lemma_ in REPORTS else "unsure"
        if above is not None:
            return self._means(above) or "unsure"
        return self._new_sentence(token, verb, tokens)

    def _new_sentence(self, token: Token, verb: Token, tokens: dict[int, Mention]) -> Who:
        """A main clause: it goes on with the patient, unless the one before was about another."""
        start = token.sent.start
        last = self.doc[start - 1].sent if start else token.sent
        before = [mention for mention in self.known.values() if mention.token < token.i]
        if not any(rival >= last.start for rival in tokens):
            return "patient"
        subject = main_subject(last.root)
        if subject is None or subject.i not in tokens:
            return "patient"
        # "His mother brought him in. He was pale.": the patient stood in the last sentence.
        object_named = any(
            mention.who == "patient"
            and mention.token >= last.start
            and mention.case != "determiner"
            for mention in before
        )
        if object_named or _tense(verb) == "present" or verb.lemma_ == "bear":
            return "patient"
        return "unsure"


def subject_of_head(verb: Token) -> Token | None:
    """The subject of the clause that a verb's clause depends on or is joined to.

    None for the main clause that opens a sentence.
    """
    if verb.dep_ == "ROOT" or verb.head is verb:
        return None
    if verb.dep_ == "conj":
        return subject_of(verb.head)
    return clause_subject(verb.head)


def _tense(verb: Token) -> str:
    forms = [verb, *(child for child in verb.children if child.dep_ in {"aux", "auxpass"})]
    return "present" if any(form.tag_ in {"VBZ", "VBP", "MD"} for form in forms) else "past"


def _letters_case(token: Token) -> bool:
    """Of "HER2" is cut by no tokeniser; "HIS bundle" and the like are written in capitals."""
    return token.text.isupper() and len(token) > 2 and token.doc.text != token.doc.text.upper()


def pronoun_case(token: Token) -> str:
    """Which of he, him, his (before a noun), his (alone), himself a pronoun is."""
    low = token.lower_
    if low in {"he", "she", "they"}:
        return "subject"
    if low in {"him", "them"}:
        return "object"
    if low in {"hers", "theirs"}:
        return "possessive"
    if low in {"himself", "herself", "themself", "themselves"}:
        return "reflexive"
    if low == "their":
        return "determiner"
    before_noun = _before_noun(token)
    if low == "his":
        return "determiner" if before_noun else "possessive"
    return "determiner" if before_noun else "object"


_STOPS = frozenset(
    listed(
        """
    to of in on at for from by with and or but as because that when if while about after
    before since until into than is was has had will would can could should
    """
    )
)
# "her left arm": words that the tagger takes for verbs or adverbs, and that always open a noun.
_OPENERS = frozenset(
    listed(
        """
    left right own upper lower first last entire whole late early
    """
    )
)
_GIVES = frozenset(
    listed(
        """
    give prescribe offer send show teach feed hand cost cause allow bring tell ask make
    """
    )
)
_PERSONAL = frozenset(
    listed(
        """
    consent name age number history opinion permission word weight blood medication
    medications medicine symptoms way mind arm leg hand hands eyes head life story
    """
    )
)


def _before_noun(token: Token) -> bool:
    """Whether "her" or "his" owns a noun that follows: by syntax, checked by the words around."""
    following = next((one for one in token.doc[token.i + 1 :] if one.text not in _QUOTES), None)
    if following is None or following.is_punct or following.lower_ in _STOPS:
        return False
    if following.lower_ in _OPENERS:
        return True
    if token.lower_ == "her" and _given(token):
        return False
    if token.dep_ == "poss":
        return bool(token.head.i > token.i)
    return token.tag_ == "PRP$" and following.pos_ in {"NOUN", "ADJ", "PROPN", "NUM", "ADV"}


_QUOTES = frozenset("\"'“”‘’(")


def _given(token: Token) -> bool:
    """Of "which gave her hives": "her" gets something, and owns no hives."""
    before = token.doc[token.i - 1] if token.i else None
    if before is None or before.lemma_ not in _GIVES:
        return False
    noun = token.head if token.dep_ == "poss" else None
    if noun is None:
        return True
    personal = noun.lower_ in _PERSONAL | words.OTHER_PEOPLE or noun.lower_ in words.NOUNS
    return not personal and not any(child.pos_ in {"DET", "PRON"} and child.i > token.i
                                    for child in noun.children)  # fmt: skip
