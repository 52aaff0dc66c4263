"""What is advised in a sentence: how soon, a referral, tests and treatments."""

from __future__ import annotations

import re

from askew.graphs.terms import fold, lookup
from askew.scores.clinical_found import Found
from askew.scores.clinical_lists import unique
from askew.scores.clinical_phrases import DENIED, names_said

_CONDITIONAL = re.compile(
    r"\b(?:if|unless|in case|whenever|should (?:symptoms|the (?:symptoms|pain"
    r"|patient's|condition)|any|there|they|it|your)"
    r"|when (?:symptoms|the)|(?:worsen|persist|develop|not improve)\w*)\b",
    re.IGNORECASE,
)
_OPENS_A_CONDITION = re.compile(r"\W{0,4}(?:if|in case|once|when|should)\b", re.IGNORECASE)
_EMERGENCY = re.compile(
    r"\b(?:(?:go|goes|going|taken|come|sent|transferred|transported|transfer"
    r"|transport|referred|admitted|head|brought|rush(?:ed)?|report|present(?:ed)?)\s"
    r"(?:\w+\s){0,3}?to\s(?:(?:the|an|a|your|their)\s)?(?:(?:nearest|closest|local)"
    r"\s)?"
    r"(?:emergency|ER\b|ED\b|A&E|hospital)"
    r"|(?:seen|evaluated|assessed|treated|managed)\s(?:\w+\s){0,2}?(?:in|at|by)\s(?:the |an )?"
    r"(?:nearest )?(?:emergency|ER\b|ED\b|A&E)"
    r"|call(?:ing)?\s(?:911|999|112|an ambulance|emergency|for an ambulance|the emergency)"
    r"|(?:is|constitutes|represents|as)\s(?:considered\s)?(?:to be\s)?a\s(?:\w+\s){0,2}emergency"
    r"|(?:immediate|emergency|emergent)\s(?:medical\s|clinical\s"
    r"|hospital\s)?(?:attention|evaluation|care|admission|help|hospitali[sz]ation"
    r"|assessment|treatment|intervention|department (?:evaluation|assessment|visit"
    r"|referral)|referral)"
    r"|(?:seen|evaluated|assessed|hospitali[sz]ed|treated)\s(?:immediately|at once"
    r"|right away|emergently)"
    r"|life-threatening emergency)",
    re.IGNORECASE,
)
_NARRATED = re.compile(
    r"\b(?:presents|presented|presenting|was|were|had been|has been|came|arrived"
    r"|arrives)\s(?:\w+\s){0,3}?(?:to|in|at|taken|brought|sent|admitted|seen)\b",
    re.IGNORECASE,
)
_URGENT = re.compile(
    r"\b(?:urgent(?:ly)?\s(?:\w+\s){0,2}?(?:evaluation|assessment|attention|care"
    r"|referral|review|appointment|visit|investigation|treatment|imaging|consultation"
    r"|medical)"
    r"|(?:seen|evaluated|assessed|reviewed|referred|treated)\s"
    r"(?:\w+\s){0,2}?(?:urgently|today|within 24 hours|same day|as soon as possible"
    r"|promptly)"
    r"|within (?:24|48|12) hours|same.day (?:appointment|evaluation|assessment|visit"
    r"|review)|as soon as possible"
    r"|needs? to be seen (?:today|urgently)|prompt (?:medical )?(?:attention"
    r"|evaluation|assessment))",
    re.IGNORECASE,
)
_ROUTINE = re.compile(
    r"\b(?:routine (?:appointment|visit|follow.?up|referral|evaluation|check)"
    r"|schedule an? (?:\w+\s)?appointment|non-?urgent"
    r"|make an appointment|not (?:urgent|an emergency|a medical emergency))",
    re.IGNORECASE,
)
_SELF_CARE = re.compile(
    r"\b(?:(?:managed|treated|cared for|looked after|monitored)\s"
    r"(?:\w+\s){0,2}?at home|self-?care (?:is|measures|should|at home)"
    r"|no need to see a doctor|does not need (?:to see a doctor|medical (?:care|attention)))",
    re.IGNORECASE,
)
_LEVELS = ((3, _EMERGENCY), (2, _URGENT), (1, _ROUTINE), (0, _SELF_CARE))

# ---- referral, tests, treatments

_SPECIALIST = (
    r"(?:\w{3,25}olog(?:ist|y)|specialists?|\w{0,12}surge(?:on|ry)|psychiatr(?:ist|y)"
    r"|p(?:a)?ediatri(?:cian|cs)|orthop(?:a)?edi(?:c|st)\w*|ENT\b|obstetric\w*"
    r"|physiotherap(?:ist|y)|physical therap(?:ist|y)|specialist)"
)
_REFERS = re.compile(
    rf"\b(?:(?:refer(?:red|ral|ring)?|consult(?:ation|ing)?|see|seen by)"
    rf"\b[^.;]{{0,40}}?\b{_SPECIALIST}|{_SPECIALIST}\s(?:consult(?:ation)?|referral"
    rf"|input|review)\b"
    r"|(?:should|must|needs? to) be referred|referral (?:is|would be) (?:recommended"
    r"|indicated|needed|warranted|advised|required|necessary))",
    re.IGNORECASE,
)
_REFERS_NOT = re.compile(
    r"\b(?:(?:no|without) (?:\w+\s)?referral|referral (?:is|would be) not|not (?:need"
    r"|require)(?: to be|s)? (?:a )?(?:\w+\s)?refer\w*|referral is unnecessary"
    r"|do(?:es)? not (?:need|require) (?:a )?(?:specialist|referral))",
    re.IGNORECASE,
)
_TESTS = re.compile(
    r"\b(?:tests?|investigations?|work.?up|imaging|laboratory (?:tests|studies))"
    r"\b[^.;:]{0,60}?\b(?:should include|would include|may include|could include"
    r"|includes?|such as|(?:is|are) (?:needed|recommended|advised):?)\s(?P<what>.+)"
    r"|\b(?:order|perform|obtain|recommend(?:ed)? tests? (?:are|include)|get)\s"
    r"(?:an?\s|the\s)?(?P<what2>[^.]{2,160})",
    re.IGNORECASE,
)
_TREATMENTS = re.compile(
    r"\b(?:treatments?|management|therapy)\b[^.;:]{0,60}?\b(?:should include"
    r"|would include|may include|could include|includes?|consists? of|involves?"
    r"|is(?! (?:needed|required|important|based|aimed|to|not|typically|usually"
    r"|necessary))|such as)\s(?P<what>.+)"
    # What the patient "was treated with" is past.
    r"|\b(?:(?:be|is|are|being)\s(?:treated|managed)|treat(?: (?:this|it|the patient|him|her"
    r"|them))?|treating)\s(?:\w+\s){0,2}?with\s(?P<what2>.+)"
    r"|\b(?:prescribe|administer)\s(?P<what3>.+)",
    re.IGNORECASE,
)


_RECOMMENDS = re.compile(
    r"\b(?:recommend|suggest|advise)s?\s(?:an?\s|the\s)?(?P<what>[^.;:]{2,160})", re.IGNORECASE
)


def take_advice(sentence: str, found: Found) -> None:
    """Add what a sentence advises to what was found before it."""
    found.urgency = _higher(found.urgency, urgency_said(sentence))
    found.referral = _referral(sentence, found.referral)
    found.tests = _added(found.tests, _TESTS, sentence)
    if found.tests is None:
        found.tests = _recommended_tests(sentence)
    found.treatments = _added(found.treatments, _TREATMENTS, sentence)


def urgency_said(sentence: str) -> int | None:
    """The level that a sentence recommends without a condition.

    >>> urgency_said("He should go to the ER at once."), urgency_said("Go there if it gets worse.")
    (3, None)
    """
    if _CONDITIONAL.search(sentence) or (
        _NARRATED.search(sentence) and not re.search(r"\b(?:should|must|needs?)\b", sentence)
    ):
        return None
    for level, pattern in _LEVELS:
        said = pattern.search(sentence)
        if said and not DENIED.search(sentence[max(0, said.start() - 40) : said.start()]):
            return level
    return None


def _higher(known: int | None, said: int | None) -> int | None:
    """The more urgent of two: who is sent to hospital may also be given an appointment."""
    return said if known is None else known if said is None else max(known, said)


def _referral(sentence: str, known: bool | None) -> bool | None:
    if _REFERS_NOT.search(sentence):
        return False if known is None else known
    if (
        _REFERS.search(sentence)
        and not _CONDITIONAL.search(sentence)
        and not DENIED.search(sentence)
    ):
        return True
    return known


def _recommended_tests(sentence: str) -> list[str] | None:
    """The tests of "I recommend an ultrasound and an ECG"; None where not all of it are tests.

    >>> _recommended_tests("I recommend an abdominal ultrasound and an ECG.")
    ['abdominal ultrasound', 'ECG']
    >>> _recommended_tests("I recommend an ECG and rest.") is None
    True
    """
    said = _RECOMMENDS.search(sentence)
    if said is None or _CONDITIONAL.search(sentence) or DENIED.search(sentence):
        return None
    names = names_said(said["what"])
    known = lookup("tests")
    return names if names and all(fold(name) in known for name in names) else None


def _added(known: list[str] | None, pattern: re.Pattern[str], sentence: str) -> list[str] | None:
    said = pattern.search(sentence)
    # "If malaria is confirmed, treatment includes …" advises nothing yet.
    if (
        said is None
        or _OPENS_A_CONDITION.match(sentence)
        or DENIED.search(sentence[: said.start() + 20])
    ):
        return known
    what = next(value for value in said.groups() if value is not None)
    names = [name for name in names_said(what) if len(name.split()) <= 6]
    return unique([*(known or []), *names]) if names else known
