"""Who is meant by each noun, pronoun, title and letter of a text: the patient, or somebody else.

Three kinds of people matter: the patient, the patient's husband, wife or partner (whose word
follows the patient's gender), and everybody else, whose words stay as they are. A word that could
mean two of them is `unsure`: an edit that needs it is not made.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from askew.perturb import words
from askew.perturb.ages import Age, in_years, overlap, patient_ages
from askew.perturb.attributes import FEMALE, MALE, NON_BINARY, TRANS_MAN, TRANS_WOMAN
from askew.perturb.reading import clause_subject, clause_verb, main_subject, read
from askew.perturb.words import Gender
from askew.vignettes import Facts, Relation, Span

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

Who = Literal["patient", "partner", "other", "unsure"]
Kind = Literal["noun", "stage", "pronoun", "title", "letter", "name", "modifier", "pronouns_used"]

PRONOUNS_OF: dict[str, Gender] = {
    FEMALE: "female",
    TRANS_WOMAN: "female",
    MALE: "male",
    TRANS_MAN: "male",
    NON_BINARY: "neutral",
}
_REPORTS = frozenset(
    [
        "say",
        "state",
        "report",
        "note",
        "notice",
        "tell",
        "describe",
        "bring",
        "think",
        "believe",
        "explain",
        "mention",
        "add",
        "worry",
        "fear",
        "complain",
        "find",
        "see",
        "observe",
        "recall",
        "remember",
        "insist",
        "claim",
        "confirm",
        "deny",
        "accompany",
        "take",
        "indicate",
        "witness",
        "hear",
        "call",
        "reveal",
        "show",
    ]
)
_OF_OWN_LIFE = frozenset(["life", "sleep", "death", "own"])
_TRANS = re.compile(r"(?:transgender|trans|cisgender|cis)[ -]$", re.IGNORECASE)
_LETTER = re.compile(r"\s*(?P<letter>[MFmf])\b(?![a-zA-Z'’/-])")
_PLURAL_PEOPLE = frozenset(
    [
        "parents",
        "friends",
        "relatives",
        "siblings",
        "brothers",
        "sisters",
        "children",
        "sons",
        "daughters",
        "colleagues",
        "coworkers",
        "roommates",
        "grandparents",
        "physicians",
        "doctors",
        "nurses",
        "paramedics",
        "classmates",
        "people",
        "patients",
        "neighbors",
        "cousins",
    ]
)


@dataclass(frozen=True, slots=True)
class Mention:
    """One word that means somebody."""

    span: Span
    kind: Kind
    who: Who
    gender: Gender
    token: int  # index in the parsed text
    case: str = ""  # of a pronoun: a key of `words.PRONOUNS`
    row: str = ""  # of a noun: a key of `words.ROWS`
    statement: str = ""  # "transgender", where the noun has it before it
    attributive: bool = False  # "male" before a noun
    past: bool = False  # "as a boy": the noun's stage of life is not the present one


@dataclass(frozen=True, slots=True)
class People:
    """A text with everybody in it."""

    text: str
    doc: Doc
    gender: str | None  # the patient's level of `gender`; None where the text does not tell
    mentions: tuple[Mention, ...]
    ages: tuple[Age, ...]  # the patient's
    anchors: frozenset[int] = frozenset()  # the tokens that the patient's age and gender speak of

    def of(self, who: Who) -> tuple[Mention, ...]:
        """The words that mean one person."""
        return tuple(mention for mention in self.mentions if mention.who == who)

    @property
    def states_gender(self) -> bool:
        """Whether a noun, letter, title or adjective tells the patient's gender."""
        return any(
            mention.kind in {"noun", "letter", "title", "modifier"}
            and (mention.gender != "neutral" or mention.kind == "modifier")
            for mention in self.of("patient")
        )

    @property
    def years(self) -> float | None:
        """The patient's age in years."""
        return in_years(self.ages[0]) if self.ages else None


def find_people(text: str, facts: Facts) -> People:
    """Everybody in a text.

    Args:
        text: the vignette.
        facts: what was found in it; its age and gender say which words mean the patient.
    """
    doc = read(text)
    ages = _own_ages(text, doc, facts)
    gender = _stated(facts)
    reader = _Reader(text, doc, facts, ages, gender)
    nouns = reader.nouns()
    if gender is None:
        gender = reader.guess(nouns)
    return People(text, doc, gender, reader.resolve(nouns, gender), ages, frozenset(reader.anchors))


def _stated(facts: Facts) -> str | None:
    found = facts.of(Relation.HAS_GENDER)
    return str(found[0].value) if found else None


def _own_ages(text: str, doc: Doc, facts: Facts) -> tuple[Age, ...]:
    if facts.of(Relation.HAS_AGE):
        return tuple(
            age
            for age in patient_ages(text, facts)
            if _owned(doc, age, facts)
        )  # fmt: skip
    return ()


def _owned(doc: Doc, age: Age, facts: Facts) -> bool:
    """Whether a repeat of the patient's age stands at a noun that may be the patient."""
    if any(fact.span and overlap(age.span, fact.span) for fact in facts.of(Relation.HAS_AGE)):
        return True
    noun = noun_after(doc, age.span.end)
    return noun is None or words.NOUNS.get(noun.lower_, words.Noun("", "neutral")).row not in (
        words.RELATION_ROWS
    )


def noun_after(doc: Doc, end: int) -> Token | None:
    """The noun that an age before it speaks of ("47-year-old obese Black woman"), if any."""
    for token in doc:
        if token.idx < end or token.is_space:
            continue
        if token.is_punct and token.text != "-":
            return None
        if token.lower_ in words.NOUNS and _modifies(token):
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


def _modifies(token: Token) -> bool:
    """Whether "male" or "female" stands before the noun it speaks of."""
    if token.lower_ not in {"male", "female"} or token.i + 1 >= len(token.doc):
        return False
    following = token.doc[token.i + 1]
    return (
        following.pos_ in {"NOUN", "PROPN"}
        and following.whitespace_ + token.whitespace_ != ""
        and token.whitespace_ == " "
        and (token.dep_ in {"amod", "compound", "nmod"} or following.lower_ in _NOUNS_AFTER)
        and following.tag_ not in {"VBG", "VBZ"}
    )


_NOUNS_AFTER = frozenset(
    [
        "patient",
        "patients",
        "infant",
        "child",
        "adult",
        "adolescent",
        "teenager",
        "newborn",
        "neonate",
        "toddler",
        "baby",
        "student",
        "veteran",
        "partner",
        "partners",
        "twin",
        "individual",
        "smoker",
        "athlete",
        "nurse",
        "teacher",
        "worker",
    ]
)


class _Reader:
    """Finds the nouns, then goes through the pronouns in the order of the text."""

    def __init__(
        self, text: str, doc: Doc, facts: Facts, ages: tuple[Age, ...], gender: str | None
    ) -> None:
        self.text, self.doc, self.facts, self.ages = text, doc, facts, ages
        self.gender = gender
        self.anchors = self._anchors()
        self.known: dict[int, Mention] = {}

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
            return self._mention(token, "stage", "neutral", row=low, past=_as_a(token))
        if token.text in words.NAMES and self._is_patient_name(token):
            return self._mention(token, "name", words.NAMES[token.text][0])
        return None

    def _titled(self, token: Token) -> bool:
        following = self.doc[token.i + 1]
        if following.text == "." and token.i + 2 < len(self.doc):
            following = self.doc[token.i + 2]
        return following.text[:1].isupper() and following.is_alpha and token.text[0].isupper()

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
        attributive = _modifies(token)
        who = self._whose_noun(token, row, gender, attributive)
        return Mention(
            Span(start, token.idx + len(token)), "noun", who, gender, token.i, row=row,
            statement=before[0].strip(" -") if before else "",
            attributive=attributive, past=_as_a(token),
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
        return "patient" if _definite(token) or self._predicate(token) else "other"

    def _anchored_head(self, token: Token) -> bool:
        head = self.doc[token.i + 1]
        return head.i in self.anchors or (head.lower_ == "patient" and not self._owned_by(head))

    def _owned_by(self, token: Token) -> bool:
        return any(child.dep_ == "poss" for child in token.children)

    def _predicate(self, token: Token) -> bool:
        """ "The patient is a man", "as a boy", "Mr. Lee, a man of 60": said of the patient."""
        if _as_a(token):
            return True
        subject = clause_subject(token)
        said = token.dep_ in {"attr", "appos"} and subject is not None
        return said and subject is not None and self._may_be_patient(subject)

    def _may_be_patient(self, token: Token) -> bool:
        return (
            token.i in self.anchors
            or token.lower_ in {"patient", "he", "she", "they"}
            or token.ent_type_ == "PERSON"
        )

    def _is_patient_stage(self, token: Token) -> bool:
        if token.i in self.anchors:
            return True
        if self._owned_by(token) or (_as_a(token) and token.i > 0):
            return _as_a(token)
        years = in_years(self.ages[0]) if self.ages else None
        stage = words.AGED[token.lower_]
        fits = years is None or (years < 18 if stage != "adult" else years >= 18)
        return fits and _definite(token)

    def _is_patient_name(self, token: Token) -> bool:
        rest = self.text[token.idx + len(token) :]
        if self.text[max(0, token.idx - 4) : token.idx].strip().lower() in {"st.", "st", "dr."}:
            return False
        named = re.match(r"(?: [A-Z][\w'’-]+)?(?:,? (?:is )?an? |,? \(?\d|,? aged )", rest)
        earlier = any(self.doc[i].text == token.text for i in self.known_names)
        if named or earlier or token.i in self.anchors:
            self.known_names.add(token.i)
            return True
        return False

    @property
    def known_names(self) -> set[int]:
        if not hasattr(self, "_names"):
            self._names: set[int] = set()
        return self._names

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

    def resolve(self, nouns: list[Mention], gender: str | None) -> tuple[Mention, ...]:
        """The nouns and the pronouns, each with who is meant."""
        self.known = {mention.token: mention for mention in nouns}
        own = PRONOUNS_OF.get(gender or "")
        for token in self.doc:
            if token.i in self.known:
                mention = self.known[token.i]
                if mention.row in words.PARTNER_ROWS and mention.who == "unsure":
                    self.known[token.i] = replace(mention, who=self._partner_of(token))
            elif token.lower_ in words.PRONOUN_GENDER and not _letters_case(token):
                self.known[token.i] = self._pronoun(token, own)
        letters = [mention for mention in nouns if self.known.get(mention.token) is not mention]
        extra = [mention for mention in letters if mention.kind == "letter"]
        every = {mention.span: mention for mention in (*self.known.values(), *extra)}
        return tuple(sorted(every.values(), key=lambda mention: mention.span))

    def _partner_of(self, token: Token) -> Who:
        """Whose husband or wife: the patient's, unless somebody else owns the word."""
        years = in_years(self.ages[0]) if self.ages else None
        if years is not None and years < 14:
            return "other"
        for child in token.children:
            if child.dep_ == "poss":
                owner = self.known.get(child.i)
                if owner is not None:
                    return {"patient": "partner", "unsure": "unsure"}.get(owner.who, "other")  # type: ignore[return-value]
                return "partner" if child.lower_ == "patient" else "other"
        return "partner" if _definite(token) else "other"

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
        """ "A mother brings her son": "her" is not the son's, who is the patient."""
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
        """The clause's subject is a relative: "his father died in his 50s", "her mother gave her"."""
        if pronoun_case(token) == "object":
            return "patient"  # "her" of one's own would be "herself"
        if pronoun_case(token) == "reflexive":
            return rival.who
        decade = re.match(r"(?:\s+(?:early|mid|late))?[\s-]*(?:\d0s|\w+ies)\b",
                          self.text[token.idx + len(token) :])  # fmt: skip
        if decade or token.head.lower_ in _OF_OWN_LIFE:
            return rival.who
        verb = clause_verb(token)
        return "patient" if verb is not None and verb.lemma_ in _REPORTS else "unsure"

    def _as_subject(self, token: Token, tokens: dict[int, Mention]) -> Who:
        verb = clause_verb(token)
        if verb is None:
            return "unsure"
        if re.match(r"\s*(?:herself|himself)\b", self.text[token.idx + len(token) :]):
            return "patient"  # "She herself has none": against the relative just named
        above = subject_of_head(verb)
        if above is not None and above.i in tokens:
            return "patient" if verb.head.lemma_ in _REPORTS else "unsure"
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
        if object_named or _tense(verb) == "present":
            return "patient"
        return "unsure"


def subject_of_head(verb: Token) -> Token | None:
    """The subject of the clause that a verb's clause depends on; None for a main clause."""
    if verb.dep_ in {"ROOT", "conj"} or verb.head is verb:
        return subject_of_head(verb.head) if verb.dep_ == "conj" else None
    return clause_subject(verb.head)


def _tense(verb: Token) -> str:
    forms = [verb, *(child for child in verb.children if child.dep_ in {"aux", "auxpass"})]
    return "present" if any(form.tag_ in {"VBZ", "VBP", "MD"} for form in forms) else "past"


def _definite(token: Token) -> bool:
    return any(
        child.lower_ in {"the", "this", "that"} and child.dep_ == "det" for child in token.children
    )


def _as_a(token: Token) -> bool:
    """ "as a child", "as a boy": the patient, earlier."""
    return bool(re.search(r"\bas an? (?:\w+ )?$", token.doc.text[: token.idx]))


def _letters_case(token: Token) -> bool:
    """ "HER2" is cut by no tokeniser; "HIS bundle" and the like are written in capitals."""
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
    [
        "to",
        "of",
        "in",
        "on",
        "at",
        "for",
        "from",
        "by",
        "with",
        "and",
        "or",
        "but",
        "as",
        "because",
        "that",
        "when",
        "if",
        "while",
    ]
)


def _before_noun(token: Token) -> bool:
    """Whether "her" or "his" owns a noun that follows: by syntax, checked by the next word."""
    if token.i + 1 >= len(token.doc):
        return False
    following = token.doc[token.i + 1]
    if following.is_punct or following.lower_ in _STOPS:
        return False
    if token.dep_ == "poss":
        return token.head.i > token.i
    return token.tag_ == "PRP$" and following.pos_ in {"NOUN", "ADJ", "PROPN", "NUM", "ADV"}
