"""Complaints that no list has: objects of complaint verbs, and neighbours in a list of findings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Literal

from askew.graphs.forms import PART
from askew.graphs.page import Page, Sentence
from askew.graphs.wordlist import word_set

Taken = Sequence[tuple[int, int, str]]  # start, end and kind of what is known already
Found = tuple[int, int, Literal["symptom", "medication"], str]

_COMPLAINS = re.compile(
    r"\b(?:complain(?:s|ed|ing)? (?:of|about)|complaints? of|c/o|p/w|chief "
    r"complaints?(?: is| was|:| of)|presenting complaints?(?: is| was|:| of)"
    r"|present(?:s|ed|ing)?(?: to [\w\s,']{2,45}?)? with|(?:brought|comes|came|come|"
    r"coming)(?: in)?(?: to [\w\s']{2,40}?| by [\w\s']{2,25}?)? (?:with|for|because of|"
    r"due to)"
    r"|seen for|seen because of|referred (?:for|with|because of)|admitted (?:with|for|"
    r"because of)|suffer(?:s|ed|ing) from|suffers|experienc(?:es|ed|ing)|bothered by|"
    r"troubled by|troubled with|endorses|plagued by"
    r"|admits to|distressed by|seeks (?:help|care|advice) (?:for|because of)|consults "
    r"(?:you |\w+ )?(?:about|for|because of)|attends (?:with|because of)|evaluated for|"
    r"struggles with)\s"
)
_TAKES = re.compile(
    r"\b(?:takes?|taking|takes only|prescribed|started on|maintained on|uses|using|"
    r"doses? of|tablets? of|treated with|on)\s+(?P<what>[a-z][a-z-]{4,}(?: [a-z-]{5,})?)"
    r"(?=\s+(?:\d+(?:\.\d+)?\s?(?:mg|mcg|µg|g|units?|ml|iu)\b|(?:once|twice|three times|"
    r"daily|nightly|weekly|bid|tid|qid|prn|as needed|every (?:day|night|morning|week|"
    r"other day)|at (?:night|bedtime))\b|for (?:his|her|their|my|the|an? )?\s?\w))"
)
_STOP_WORDS = word_set(
    """
    for since over during after before that which who when while because where until in at
    from on by as following associated accompanied lasting x beginning starting started began
    worse worsening radiating ago and or nor , ; : . ( ) and/or & plus but however although
    with without despite has have had is are was were he she they i who's which's to if
    whenever along unlike than about every of
    """
)
_OPENERS = word_set(
    """
    a an the his her their my some several many few multiple any other new recent mild
    moderate severe intense sudden gradual acute intermittent constant persistent ongoing
    frequent occasional daily worsening increasing progressive bad terrible slight marked
    significant more also both what one two three four five six seven eight nine ten eleven
    twelve history
    onset episode episodes day days week weeks month months year years hour hours of - long
    short no 's ’s increasingly very nearly about almost fairly past last another further
    feeling having periods bouts bout attack attacks spell spells longstanding night nights
    weekend lot bit complaint complaints symptom symptoms recurrent unexplained painless
    """
)
_NO_COMPLAINT = word_set(
    """
    visit checkup check-up evaluation assessment follow-up followup follow review clinic
    hospital office department emergency mother father parents wife husband son daughter
    person age history question questions refill vaccination physical exam examination
    management consultation screening concern concerns complaint complaints symptom symptoms
    problem problems doctor physician appointment care advice treatment surgery results
    routine test tests smoking alcohol cigarettes drinking drugs drug use medication
    medications medicine travel contact contacts intercourse sex trauma allergies allergy
    family friend friends life work school home job stress marriage relationship condition
    illness disease diagnosis complications complication patient man woman boy girl child
    infant baby time something anything nothing everything findings finding group dog cat pet
    insurance money help today yesterday morning weekend prenatal antenatal immunization shots
    papers letter well-child wellness counseling therapy biopsy scan ultrasound imaging
    tobacco marijuana cannabis cocaine heroin caffeine pack packs glass glasses beer wine
    exposure exposures bites bite injury ingestion activity activities antibiotics water food
    meal meals diet pregnancy children kids siblings event events
    """
)
_BARE_KINDS = frozenset({"symptom", "condition"})


def complained(page: Page, taken: Taken) -> Iterator[Found]:
    """Objects of complaint verbs that are not known yet, and of "takes" with a dose or purpose."""
    for found in _COMPLAINS.finditer(page.lower):
        sentence = page.sentence_at(found.start())
        yield from _items(page, sentence, found.end(), taken, "complaint")
    for found in _TAKES.finditer(page.lower):
        start, end = found.span("what")
        words = page.between(start, end)
        fits = words and words[-1].tag.startswith(("NN", "JJ", "VB")) and _free(start, end, taken)
        if fits and not {word.lower for word in words} & (_NO_COMPLAINT | _STOP_WORDS | _OPENERS):
            yield start, end, "medication", "dose"


def siblings(page: Page, taken: Taken) -> Iterator[Found]:
    """Noun phrases in one list with two known findings, "fever, the runs and a cough"."""
    known = sorted(entry for entry in taken if entry[2] in _BARE_KINDS)
    for (_, end, _), (start, _, _) in pairwise(known):
        gap = page.lower[end:start]
        if len(gap) > 60 or gap.count(",") + gap.count(" and ") + gap.count(" or ") < 2:
            continue
        if not re.match(r"\s*(?:,|and\b|or\b)", gap) or re.search(r"[.;:()]", gap):
            continue
        sentence = page.sentence_at(end)
        for item in _items(page, sentence, end + 1, taken, "sibling"):
            if item[1] <= start:
                yield item


def _free(start: int, end: int, taken: Taken) -> bool:
    return not any(start < stop and begin < end for begin, stop, _ in taken)


def _items(page: Page, sentence: Sentence, start: int, taken: Taken, rule: str) -> Iterator[Found]:
    """The noun phrases of the list that begins at a character."""
    index = page.word_at(start)
    while index < sentence.last:
        begin, index = _phrase(page, index, sentence.last)
        words = page.words[begin:index]
        if words:
            span = words[0].start, words[-1].end
            if _free(*span, taken) and _is_complaint(page, begin, index):
                yield *span, "symptom", rule
        index = _past_link(page, index, sentence.last)
        if index < 0:
            return


def _phrase(page: Page, index: int, last: int) -> tuple[int, int]:
    """The words of one noun phrase: after its openers, before what says when and how."""
    words = page.words
    while index < last and (words[index].lower in _OPENERS or words[index].lower[:1].isdigit()):
        index += 1
    begin = index
    while (
        index < last
        and words[index].lower not in _STOP_WORDS
        and words[index].tag
        not in (
            "VBZ",
            "VBD",
            "VBP",
            "MD",
            "PRP",
        )
    ):
        index += 1
    return begin, index


def _past_link(page: Page, index: int, last: int) -> int:
    """The word after the comma or conjunction at `index`; -1 where the list ends."""
    words = page.words
    if index >= last or words[index].lower not in (",", "and", "or", "&", "and/or"):
        return -1
    index += 1
    while index < last and words[index].lower in ("and", "or", "also"):
        index += 1
    if index < last and (words[index].tag in ("VBZ", "VBD", "VBP", "MD", "PRP", "IN")):
        return -1
    return index if index < last else -1


def _is_complaint(page: Page, begin: int, end: int) -> bool:
    words = page.words[begin:end]
    head = words[-1]
    if not head.tag.startswith("NN") and head.tag not in ("VBG",):
        return False
    if len(words) > 5 or any(
        not word.lower.replace("-", "").isalpha() and word.text != "-" for word in words
    ):
        return False
    if any(word.lower in _NO_COMPLAINT for word in words):
        return False
    if all(PART.fullmatch(word.lower) or word.text == "-" for word in words):
        return False  # "irritation of eyes and eyelids": a part alone is no complaint
    return not any(word.tag in ("NNP", "NNPS") and word.start != 0 for word in words)
