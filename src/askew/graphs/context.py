"""ConText, our own: what is denied, doubted, over, or only spoken of.

After NegEx and ConText (Chapman et al., 2001; Harkema et al., 2009): a cue opens a scope that runs
to the end of its clause. What differs: clauses end where a new finite verb begins (by its tag), so
that "no fever and has a cough" ends the negation without a conjunction of contrast; cues after a
finding ("chest pain is absent") reach a whole list only where the list is the clause's subject.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from askew.graphs.context_cues import (
    AFTER_VITALS,
    CAUSES,
    EXAMINATION,
    FORWARD,
    GOES_ON,
    HEARD,
    LATER,
    QUESTION,
    VITALS,
)
from askew.graphs.page import Page, Sentence
from askew.graphs.wordlist import word_set
from askew.vignettes import Status

_CONTRAST = word_set(
    """
    but although though however except whereas yet besides which who because otherwise only
    instead then while despite until due owing
    """
)
_KINDS = {"no_longer": "no"}
_STOPS = frozenset({";", "—", "–", "("})
_FINITE = frozenset({"VBZ", "VBD", "VBP", "MD"})
_LINKS = frozenset({",", "and", "or", "nor", "and/or", "&", "/", "-", "‑", "plus"})
_LISTING = word_set(
    """
    , and or nor and/or & / - any the a an his her their my of in on other severe mild new
    recent associated significant acute chronic either both such as
    """
)
_SUBJECTS = word_set("he she they i we there it patient this his her")
# Whatever stands before these, what follows is why the patient is here.
_COMES = re.compile(
    r"(?:[pa]/w|c/o|(?:presents?|presented|presenting|complain(?:s|ed|ing))\b|"
    r"(?:here|in|now|adm(?:itted)?|biba?|seen) (?:w/|with|for|due to|because of)(?!\w))"
)
_AUXILIARY = word_set("has have had is are was were does do did")


@dataclass(frozen=True, slots=True)
class Reading:
    """What the context of one mention says of it."""

    status: Status
    hypothetical: bool = False
    examination: bool = False
    cue: tuple[int, int] | None = None  # the characters of the cue that decided


@dataclass(frozen=True, slots=True)
class _Cue:
    kind: str
    start: int
    end: int
    until: int  # forward cues: the character at which the scope ends


class Context:
    """The cues of one text, found once and asked for every mention.

    Args:
        page: the text.
        mentions: the (start, end) of all findings and drugs in it: their words end no scope.
        hypothetical: whether instructions, warnings and questions are told apart.
        examination: whether findings of an examination are told apart.
    """

    def __init__(
        self,
        page: Page,
        mentions: Sequence[tuple[int, int]],
        *,
        hypothetical: bool = True,
        examination: bool = True,
    ) -> None:
        self.page = page
        self.mentions = sorted(mentions)
        self._hypothetical = hypothetical
        self._examination = examination
        self._inside = {
            index
            for start, end in self.mentions
            for index in range(page.word_at(start), page.word_at(end))
        }
        self._cues: dict[int, tuple[list[_Cue], list[_Cue]]] = {}

    def read(self, start: int, end: int) -> Reading:
        """The status of the mention at characters `start` to `end`."""
        sentence = self.page.sentence_at(start)
        forward, later = self._of(sentence)
        reaching = [cue for cue in forward if cue.end <= start + 1 and start < cue.until]
        kinds = {cue.kind: cue for cue in reaching}
        if self._hypothetical and CAUSES.match(self.page.lower[end : end + 40]):
            kinds["hypothetical"] = _Cue("hypothetical", end, end, end)
        # A pseudo-cue stands for what it says only where the finding comes after all of it:
        # "no change in vision" denies the finding "change in vision".
        overlapped = [
            cue for cue in forward if cue.kind == "pseudo" and cue.start < start < cue.end < end
        ]
        after = self._after(sentence, start, end, later)
        exam = self._examined(sentence, start)
        asked = self._hypothetical and QUESTION.match(self.page.lower, sentence.start, sentence.end)
        hypothetical = "hypothetical" in kinds or bool(asked)
        status, cue = self._status(kinds, overlapped, after)
        return Reading(status, hypothetical, exam, cue)

    def negated(self, start: int) -> bool:
        """Whether a negation reaches the word that begins at a character."""
        return self.read(start, start + 1).status == Status.ABSENT

    def _status(
        self, kinds: dict[str, _Cue], overlapped: list[_Cue], after: _Cue | None
    ) -> tuple[Status, tuple[int, int] | None]:
        def said(status: Status, cue: _Cue) -> tuple[Status, tuple[int, int]]:
            return status, (cue.start, cue.end)

        if after and after.kind == "doubt":
            return said(Status.POSSIBLE, after)
        if after and after.kind == "no":
            return said(Status.ABSENT, after)
        if "doubt" in kinds:
            return said(Status.POSSIBLE, kinds["doubt"])
        no = kinds.get("no") or (overlapped[0] if overlapped else None)
        pseudo = kinds.get("pseudo")
        if no and not (pseudo and pseudo.start > no.start and pseudo.kind == "pseudo"):
            if "no longer" in self.page.lower[no.start : no.end + 8]:
                return said(Status.PAST, no)
            return said(Status.ABSENT, no)
        if after and after.kind == "over":
            return said(Status.PAST, after)
        if "uncertain" in kinds:
            return said(Status.POSSIBLE, kinds["uncertain"])
        if "history" in kinds:
            return said(Status.PAST, kinds["history"])
        return Status.PRESENT, None

    def _of(self, sentence: Sentence) -> tuple[list[_Cue], list[_Cue]]:
        if sentence.first not in self._cues:
            self._cues[sentence.first] = self._forward(sentence), self._later(sentence)
        return self._cues[sentence.first]

    def _forward(self, sentence: Sentence) -> list[_Cue]:
        cues = []
        for found in FORWARD.finditer(self.page.lower, sentence.start, sentence.end):
            kind = str(found.lastgroup)
            if kind == "hypothetical" and not self._hypothetical:
                continue
            if kind == "no" and self._is_name(found):
                continue
            until = self._scope(kind, sentence, found.start(), found.end())
            cues.append(_Cue(kind, found.start(), found.end(), until))
        return cues

    def _is_name(self, found: re.Match[str]) -> bool:
        """Whether it is "No." before a number, and "not" inside "cannot" that another cue has."""
        return bool(re.match(r"no\.?\s*\d", self.page.lower[found.start() : found.end() + 4]))

    def _scope(self, kind: str, sentence: Sentence, start: int, end: int) -> int:
        """The character at which what a cue says ends."""
        words = self.page.words
        cue = self.page.lower[start:end]
        first = self.page.word_at(end)
        for index in range(first, sentence.last):
            word = words[index]
            if index in self._inside:
                continue
            if kind == "hypothetical":
                if word.text == ";" or (
                    cue in ("if", "unless", "in case of") and self._main_clause(index, sentence)
                ):
                    return word.start
                continue
            if kind != "hypothetical" and self._ends_noun_phrase(kind, cue, index, first):
                return word.start
            if _COMES.match(self.page.lower, word.start):
                return word.start
            if cue in ("s/p", "status post") and word.text == ",":
                return word.start
            if cue.startswith(("declin", "refus")) and word.tag == "IN":
                return word.start  # "declined screening earlier in the pregnancy"
            if word.lower in _CONTRAST or word.text in _STOPS:
                if index == first and word.lower in ("which", "who", "only"):
                    continue
                return word.start
            resumed = word.lower in ("presents", "now") or (
                word.lower == "with" and words[index - 1].text == ","
            )
            if kind == "history" and index > first and resumed:
                return word.start
            if word.lower in _LINKS and self._new_clause(index, sentence, cue):
                return word.start
            if kind == "uncertain" and word.text == "," and not self._listed(index, sentence):
                return word.start
        return sentence.end

    def _ends_noun_phrase(self, kind: str, cue: str, index: int, first: int) -> bool:
        """Whether a cue in a noun phrase meets the verb: "with no fever has a cough"."""
        if index == first or (kind == "no" and cue not in ("no", "without", "w/o")):
            return False
        word = self.page.words[index]
        return word.tag in ("VBZ", "VBP", "MD") or word.lower in (
            "had",
            "was",
            "were",
            "presented",
            "developed",
            "reported",
            "came",
        )

    def _listed(self, index: int, sentence: Sentence) -> bool:
        """Whether a comma goes on with a list of findings: another one follows within 3 words."""
        return any(
            place in self._inside for place in range(index + 1, min(index + 4, sentence.last))
        )

    def _main_clause(self, index: int, sentence: Sentence) -> bool:
        """Whether the word is the comma that ends an if-clause at the head of a sentence."""
        word = self.page.words[index]
        if word.text != ",":
            return False
        rest = self.page.words[index + 1 : index + 3]
        return (
            any(one.lower in _SUBJECTS for one in rest)
            and self.page.lower[sentence.start : sentence.start + 2] != "if"
        )

    def _new_clause(self, index: int, sentence: Sentence, cue: str) -> bool:
        """Whether a clause with its own verb begins after a comma or conjunction."""
        words = self.page.words
        link = words[index].lower
        place = index + 1
        while place < sentence.last and (
            words[place].lower
            in (
                "and",
                "also",
                "now",
                "still",
                "then",
                "currently",
                "instead",
                "since",
                "today",
                "but",
            )
            or (words[place].tag == "RB" and words[place].lower not in ("not", "never", "n't"))
        ):
            place += 1
        if place >= sentence.last:
            return False
        after = words[place]
        if after.tag in _FINITE and after.lower in _AUXILIARY and link != "or":
            return True  # "cannot bear light and has been sick"
        if place in self._inside:
            return False
        if after.lower in ("with", "w/") and link in (",", "and"):
            return "problem" not in cue
        if after.lower in ("a", "an", "some") and link == "and" and cue in ("no", "without", "w/o"):
            return True
        if after.lower in _SUBJECTS or after.tag == "PRP":
            return self._verb_near(place + 1, sentence)
        if after.tag in _FINITE and link != "or":
            # "does not have fever and is not coughing" begins anew and has its own cue.
            return True
        if after.tag == "VBG" and after.lower in (
            "complaining",
            "reporting",
            "having",
            "taking",
            "holding",
        ):
            return True
        if link == "and" and after.lower in (
            "takes",
            "reports",
            "complains",
            "presents",
            "admits",
            "endorses",
        ):
            return True
        if after.tag in ("DT", "PRP$") and link != "or":
            return self._verb_near(place + 1, sentence)
        if (
            link == ","
            and place in range(sentence.first, sentence.last)
            and after.tag.startswith("NN")
        ):
            return False
        return False

    def _verb_near(self, index: int, sentence: Sentence) -> bool:
        for place in range(index, min(index + 5, sentence.last)):
            word = self.page.words[place]
            if word.text in (",", ";") or word.lower in ("and", "or"):
                return False
            if word.tag in _FINITE and place not in self._inside:
                return True
            if word.lower in _AUXILIARY:
                return True
        return False

    def _later(self, sentence: Sentence) -> list[_Cue]:
        return [
            _Cue(_KINDS.get(str(found.lastgroup), str(found.lastgroup)), *found.span(), found.end())
            for found in LATER.finditer(self.page.lower, sentence.start, sentence.end)
        ]

    def _after(self, sentence: Sentence, start: int, end: int, later: list[_Cue]) -> _Cue | None:
        """The cue after a finding that speaks of it, alone or as part of the list before it."""
        for cue in later:
            if cue.start < end - 1:
                continue
            between = self.page.between(end, cue.start)
            if not between:
                return cue
            if self._only_place(between):
                return cue
            if self._list_of_subject(sentence, start, end, cue):
                return cue
            return None
        return None

    def _only_place(self, between: Sequence[object]) -> bool:
        """A few words about where, as in "pain in the left leg is absent"; no list, no verb."""
        words = [word for word in between if hasattr(word, "lower")]
        if len(words) > 5:
            return False
        stop = {",", "and", "or", "nor", "but", "with", "for"}
        if any(getattr(word, "lower", "") in stop for word in words):
            return False
        return not any(getattr(word, "tag", "") in _FINITE for word in words)

    def _list_of_subject(self, sentence: Sentence, start: int, end: int, cue: _Cue) -> bool:
        """Whether only a list of findings stands from the clause's begin to the cue."""
        words = self.page.words
        for index in range(self.page.word_at(end), self.page.word_at(cue.start)):
            if index not in self._inside and words[index].lower not in _LISTING:
                return False
        for index in range(self.page.word_at(start) - 1, sentence.first - 1, -1):
            word = words[index]
            if index in self._inside or word.lower in _LISTING:
                continue
            return (
                word.lower in _CONTRAST
                or word.text in (";", ":")
                or word.lower in ("while", "when")
            )
        return True

    def _examined(self, sentence: Sentence, start: int) -> bool:
        """Whether a finding is reported by who examines, here or in a sentence before."""
        if not self._examination:
            return False
        found = EXAMINATION.search(self.page.lower, sentence.start, sentence.end)
        if found:
            return found.start() < start
        if HEARD.match(self.page.lower, start, sentence.end):
            return True
        place = self.page.sentences.index(sentence)
        while place > 0 and GOES_ON.match(
            self.page.lower, self.page.sentences[place].start, self.page.sentences[place].end
        ):
            place -= 1
            one = self.page.sentences[place]
            found = EXAMINATION.search(self.page.lower, one.start, one.end)
            if found:
                return "exam" in found.group() or "auscult" in found.group()
        return self._after_vitals(sentence)

    def _after_vitals(self, sentence: Sentence) -> bool:
        """Whether "she is pale" follows the vital signs: seen by who examines, not told."""
        if not AFTER_VITALS.match(self.page.lower, sentence.start, sentence.end):
            return False
        place = self.page.sentences.index(sentence)
        before = self.page.sentences[max(place - 3, 0) : place]
        return any(VITALS.search(self.page.lower, one.start, one.end) for one in before)
