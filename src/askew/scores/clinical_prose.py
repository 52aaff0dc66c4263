"""Fields of an answer that are said in sentences."""

from __future__ import annotations

import re

from askew.scores.clinical_advice import take_advice
from askew.scores.clinical_found import Found
from askew.scores.clinical_lists import unique
from askew.scores.clinical_phrases import DENIED, names_said

_LONGEST_SENTENCE = 600
_ABBREVIATION = re.compile(r"\b(e\.g|i\.e|vs|Dr|Mr|Mrs|Ms|approx|etc)\.(?=\s)")
_SENTENCE = re.compile(r"(?<=[.!?;])[\"')\]]?\s+|\n+")

_NOUN = (
    r"(?:causes?|diagnos[ei]s|explanations?|conditions?|etiolog(?:y|ies)|possibilit(?:y|ies)"
    r"|culprits?|differentials?|considerations?)"
)
_RANK = (
    r"(?:most likely|likeliest|most probable|more likely|less likely|likely|probable"
    r"|possible|potential"
    r"|plausible|leading|main|primary|top|differential|working|provisional|other|common"
    r"|most common)"
)
_IS = (
    r"(?:is|are|was|were|(?:would|could|may|might|can) (?:be|include)|includes?|remains?|such as):?"
)
_STATED: tuple[re.Pattern[str], ...] = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_RANK}\s(?:\w+\s){{0,2}}{_NOUN}\b(?:\s(?:of|for|behind|in|here|to|that"
        rf"|based)\b[^,.;:]{{0,90}}?)?,?\s{_IS}\s(?P<what>.+)",
        # What a disease is caused by is no diagnosis: only signs, or "this is likely", may be.
        r"\b(?:symptoms?|presentation|findings|picture|signs|complaints?|combination|features|pain"
        r"|rash|fever|(?:this|it|these|they|condition) (?:is|are|(?:may|might|could|can|would) be)"
        r"(?: most likely| likely| probably)?)\b"
        r"(?![^.;:?]{0,160}?\b(?:which|called|disease|disorder|infection)\b[^.;:?]{0,60}?\bcaused)"
        r"[^.;:?]{0,160}?\b(?:caused by|due to|attributed to|(?:the )?result of|related to)"
        r"\s(?P<what>.+)",
        r"\b(?:symptoms?|presentation|findings|picture|signs|this|these|it|case|condition"
        r"|complaints?|combination|features)\b"
        r"[^.;:?]{0,160}?\b(?:indicative of|suggestive of|consistent with|(?:an? )?signs? of"
        r"|explained by|compatible with|characteristic of|typical of"
        r"|classic (?:for|of|presentation of|example of|picture of)"
        r"|points? (?:strongly )?to(?:wards?)?|(?:strongly |highly )?suggests?"
        r"|(?:strongly )?indicates?)\s(?P<what>.+)",
        r"\b(?:patient|he|she|they|you|child|woman|man)\b\s(?:is\s"
        r"|are\s)?(?:most likely|likely|probably|may|might|could|appears to|seems to)"
        r"\s"
        r"(?:be\s)?(?:most likely\s|likely\s|probably\s)?(?:has|have|having"
        r"|suffer(?:s|ing)? from|to have|experiencing)\s(?P<what>.+)",
        r"\b(?:this|it|that|these|they) (?:(?:is|are) (?:most likely|likely|probably)"
        r"|(?:could|may|might) (?:also )?be)\s(?P<what>.+)",
        rf"\b(?:the|most likely)\s(?:\w+\s){{0,2}}{_NOUN}\s(?:of|for|behind)?[^,.;:?]{{0,60}}?"
        r"\b(?:is|are)\s(?:most likely|likely|probably)\s(?P<what>.+)",
        r"\b(?:most likely|probably),? (?:this|it|he|she|(?:the|your) (?:patient|child)) (?:is|has)"
        r"\s(?P<what>.+)",
        r"\b(?:sounds|looks|seems) like (?:the patient (?:is (?:having|experiencing)|has|may have)"
        r"\s)?(?P<what>.+)",
        r"\bI\s(?:would\s)?(?:most\s|strongly\s)?(?:suspect|favou?r|diagnose"
        r"|think (?:this|it|that this) is)\s(?P<what>.+)",
        r"\bdifferential(?: diagnos[ei]s)?\s(?:here\s|also\s|list\s)?(?:is|includes?"
        r"|would include|should include|may include|comprises):?\s(?P<what>.+)",
    )
)
_SUBJECT_FIRST = re.compile(
    rf"^(?:[-*•]\s)?(?P<what>[A-Z(][^,.;:?]{{2,80}}?)\s(?:is|would be|seems"
    rf"|appears to be|remains)\s(?:still\s)?(?:by far\s)?"
    rf"(?:(?:the|my|our)\s(?:single\s)?(?P<rank>{_RANK})\s(?:\w+\s)?{_NOUN}\b"
    r"|(?P<hedged>most likely|likely|probably)\s(?:the\s)?(?:cause|diagnosis|reason"
    r"|explanation)\b)",
)
# "…, although dengue is also possible"
_CLAUSE = re.compile(r",?\s(?:but|although|though|while|whereas|however),?\s", re.IGNORECASE)
_POSSIBLE = re.compile(
    r"^(?P<what>[^.;:?]{3,160}?)\s(?:is|are)\s(?:also\s)?(?:possible|possibilities|a possibility)\b"
    r"(?!\s(?:to|that))",
    re.IGNORECASE,
)
_LIKELIEST = re.compile(
    r"\b(?:most likely|likeliest|most probable|leading|primary|main|top)\b", re.IGNORECASE
)
_LESS = re.compile(r"\b(?:less likely|other|alternative\w*|also|additional\w*)\b", re.IGNORECASE)


def sentences_of(text: str) -> list[str]:
    """The sentences of a text, questions left out; each at most 600 characters."""
    text = _ABBREVIATION.sub(r"\1", re.sub(r"[*_`#]{1,3}", "", text))
    parts = (part.strip() for part in _SENTENCE.split(text))
    return [
        part[:_LONGEST_SENTENCE] for part in parts if part and not part.rstrip("\"')").endswith("?")
    ]


def prose_found(text: str, *, cut: bool) -> Found:
    """The fields that sentences settle.

    Args:
        text: the reply.
        cut: by the token limit; the sentence it ends in is then left out.
    """
    sentences = sentences_of(text)
    if cut and sentences and not re.search(r"[.!?][\"')\]*]*\s*$", text):
        sentences.pop()
    found = Found()
    for sentence in sentences:
        _take_diagnoses(sentence, found)
        take_advice(sentence, found)
    if found.given:
        found.rules.append("prose")
    return found


def _take_diagnoses(sentence: str, found: Found) -> None:
    for clause in _CLAUSE.split(sentence):
        _take_clause(clause.strip(), found)


def _take_clause(sentence: str, found: Found) -> None:
    possible = _POSSIBLE.match(sentence)
    if possible:
        found.others += _diagnoses(possible["what"])
        return
    before = _SUBJECT_FIRST.match(sentence)
    if before and not DENIED.search(before[0]):
        names = _diagnoses(before["what"])
        rank = before["rank"] or before["hedged"]
        (found.leading if _LIKELIEST.search(rank) else found.others).extend(names)
        if names:
            return
    for pattern in _STATED:
        said = pattern.search(sentence)
        if said is None or DENIED.search(said[0][: said.start("what") - said.start()]):
            continue
        names = _diagnoses(said["what"])
        if not names:
            continue
        opening = said[0][: said.start("what") - said.start()]
        if _LESS.search(opening):
            found.others += names
        elif _LIKELIEST.search(opening) and not found.leading:
            found.leading += names
        else:
            found.listed = unique([*(found.listed or []), *names])
        return


def _diagnoses(what: str) -> list[str]:
    return [name for name in names_said(what) if len(name.split()) <= 8]
