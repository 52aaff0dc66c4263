"""The words of clinical answers: which field a label names, and what its value says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from askew.vignettes import URGENCIES

FieldName = Literal[
    "differential", "leading", "others", "urgency", "tests", "treatments", "referral", "rationale",
    "answer",
]  # fmt: skip

_LONGEST_LABEL = 90
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_NUMBERING = re.compile(
    r"^\s*(?:step\s+)?\(?\d{1,2}[.):]?\)?\s+|^\s*(?:[A-Za-z][.)]|[ivx]{1,4}[.)])\s+", re.I
)
# Labels that name one of our fields and mean something else.
_OTHER = re.compile(
    r"must.?not.?miss|can.?t.?(?:be )?miss|not.?to.?(?:be )?miss|red flags?"
    r"|rule[ds]? out|exclu|unlikely"
    r"|against|prognos|prevent|return precaution|follow.?up|risk|history|pre.?existing|chronic"
    r"|past|prior|previous|comorbid|complicat|when to|seek|warning|symptoms? of"
    r"|presenting|diagnosis code"
    r"|definition|what is|patient.s medical|social|key (?:features|findings|points)"
    r"|disclaimer|certainty|confidence|likelihood"
    # What was done, found or taken already, and what is not to be done.
    r"|\b(?:already|pending|completed|performed|results?|findings|response|goals?|onset|course"
    r"|death|icd\W?\d*|codes?|stag(?:e|ing)|avoid\w*|contraindicat\w*|unnecessary|withh[eo]ld"
    r"|stop(?:ped)?|discontinued?|allerg\w*|interactions?|adverse|(?:side|drug) effects?)\b"
    # What is said about a field, and is not its value.
    r"|\S\s(?:notes?|comments?|descriptions?|details?|durations?|tim(?:e|ing)|dos(?:e|age)s?"
    r"|frequenc\w+|remarks?|caveats?|context|scores?|colou?r|dates?|costs?|sources?|references?"
    r"|counts?|numbers?|background|overview)$"
    r"|\bnot (?:needed|required|indicated|recommended|necessary|advised|offered)\b"
    r"|\b(?:current|home|existing|regular|usual) (?:med\w*|drugs?|treatments?|therap\w+)"
    r"|\bphysical exam\w*|\b(?:special|safety|ethical|cultural|patient|age|gender|treatment)"
    r" considerations",
    re.IGNORECASE,
)
# "Urgency rationale" and "reason for referral" hold a reason; "diagnoses and reasoning" does not.
_REASON_OF = re.compile(
    r"^(?:rationales?|reason(?:s|ing)?|justifications?|basis|why|explanation)\s(?:for|of|behind)\b"
    r"|^(?!.*(?:\b(?:and|with)\b|[&/+,]))\S.*\s(?:rationales?|reason(?:s|ing)?|justifications?"
    r"|justified|explained|basis|why)$"
    r"|^(?!.*(?:\b(?:and|with)\b|[&/+,])).*\b(?:differential|diagnos[ei]s|urgency|triage|tests?"
    r"|treatments?|management|referral)\sexplanations?$",
    re.IGNORECASE,
)
_TESTS = (
    r"\b(?:tests?|testing|investigations?|work.?ups?|labs?|laborator\w+|imaging|studies|exams?"
    r"|diagnostics|diagnostic\s(?:steps?|evaluations?|plans?|approach|procedures?|assessments?"
    r"|modalities|measures?|considerations|confirmation))\b"
)
_TREATMENTS = (
    r"\b(?:treatments?|therap(?:y|ies)|management|medications?|drugs?|prescriptions?"
    r"|interventions?|supportive care)\b"
)
_URGENCY = r"\b(?:urgency|triage|acuity|priority|how soon|time.?frame|disposition|level of care)\b"
_REFERRALS = r"\b(?:referrals?|refer|consults?|consultations?|specialists?)\b"
_RATIONALE = (
    r"\b(?:rationale|reasoning|reasons?|explanation|justification|summary|conclusion"
    r"|notes?|discussion)\b"
)
# "Referral urgency" and "urgency of treatment": how soon something, not how soon the patient.
_HOW_SOON_OF_ANOTHER = re.compile(
    r"(?:urgency|priority|time.?frame|how soon)$|^(?:urgency|priority|time.?frame) (?:of|for)\b",
    re.IGNORECASE,
)
_RATIONALE_ONLY = r"^(?:explanations?|reasoning|rationale|justification|reasons?|why)$"
_ANSWER = (
    r"^(?:(?:the|my|final|correct|best|selected|chosen|your)\s)*(?:answer|choice|option|selection"
    r"|decision|rating|response|selected option)$"
)
_NOUN = (
    r"(?:differentials?|ddx|diagnos[ei]s|causes?|a?etiolog(?:y|ies)|conditions?|possibilities"
    r"|explanations?|impression|considerations?|illness(?:es)?|diseases?)"
)
_LEADING = (
    r"\b(?:most likely|most probable|leading|primary|working|top|final|provisional|likeliest"
    r"|presumptive|main|probable|suspected|likely)\s(?:\w+\s){0,2}"
    r"(?:diagnosis|cause|condition|explanation|impression|illness|disease)\b"
)
_MORE = (
    rf"\b(?:other|less likely|least likely|alternatives?|additional|secondary|further)"
    rf"\b.{{0,40}}\b{_NOUN}\b|\balternatives\b"
)
# In the order tried: "other possible causes" are others before they are causes.
_PATTERNS: dict[FieldName, str] = {
    "answer": _ANSWER,
    "others": _MORE,
    "leading": _LEADING,
    "tests": _TESTS,
    "treatments": _TREATMENTS,
    "urgency": _URGENCY,
    "referral": _REFERRALS,
    "differential": rf"\b{_NOUN}\b",
    "rationale": _RATIONALE,
}
_COMPILED = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _PATTERNS.items()}


def field_of(label: str) -> FieldName | None:
    """The field that a JSON key or a heading names; None for any other, and for a mix of two.

    >>> field_of("1. Most likely Differential Diagnosis"), field_of("differentialDiagnosis")
    ('differential', 'differential')
    >>> field_of("Next diagnostic steps"), field_of("Most likely diagnosis"), field_of("Red flags")
    ('tests', 'leading', None)
    """
    words = plain_label(label)
    if not words or len(words) > _LONGEST_LABEL or _OTHER.search(words):
        return None
    if re.fullmatch(_RATIONALE_ONLY, words, re.IGNORECASE) or _REASON_OF.search(words):
        return "rationale"
    found = [name for name, pattern in _COMPILED.items() if pattern.search(words)]
    if "tests" in found and "treatments" in found:
        return None
    if len(found) > 1 and _HOW_SOON_OF_ANOTHER.search(words):
        return None
    if "differential" in found and "leading" in found and "differential" in words.casefold():
        return "differential"
    return found[0] if found else None


_MAY_STAND_IN_A_HEADING = """
differential differentials ddx diagnosis diagnoses diagnostic diagnostics cause causes condition
conditions possible potential likely probable most top leading primary main working final
provisional presumptive likeliest ranked other alternative alternatives additional less further
secondary suspected impression assessment considerations explanations explanation possibilities
etiology aetiology etiologies tests test testing investigations investigation workup work up labs
lab laboratory imaging studies exams recommended suggested proposed advised next initial steps
step plan plans approach evaluation needed required treatment treatments therapy therapies
management medication medications interventions options recommendations urgency triage level
acuity priority disposition timeframe time frame care referral referrals refer specialist
specialists consultation consultations consult rationale reasoning reason summary conclusion
justification note notes discussion answer choice and of for the to a in my list supportive
immediate clinical medical preliminary confirmation confirmatory key common symptoms
"""
_HEADING_WORDS = frozenset(_MAY_STAND_IN_A_HEADING.split())


# Labels that say how likely, and not what: "Most likely: gout".
_RANKS: dict[FieldName, re.Pattern[str]] = {
    "differential": re.compile(r"(?:more|very|quite|highly) (?:likely|probable)|more common"),
    "leading": re.compile(r"most likely|likeliest|most probable"),
    "others": re.compile(
        r"(?:less|least) (?:likely|probable)(?:,? but (?:possible|serious|important|dangerous))?"
        r"|also (?:possible|consider|considered)"
    ),
}


def heading_field(label: str) -> FieldName | None:
    """The field that a heading or label in running text names.

    Stricter than `field_of`, as diagnoses stand there in bold too: every word has to be one that
    headings are made of, or the last one a plural such as "causes".

    >>> heading_field("Recommended tests:"), heading_field("Infectious causes")
    ('tests', 'differential')
    >>> heading_field("Drug reaction") is None
    True
    """
    words = plain_label(re.sub(r"\([^)]*\)", " ", label)).casefold().replace("-", " ").split()
    if not words or len(words) > 8:
        return None
    said = " ".join(words)
    for name, rank in _RANKS.items():
        if rank.fullmatch(said):
            return name
    plural = words[-1] in ("causes", "conditions", "diagnoses", "etiologies", "aetiologies")
    is_heading = plural or all(word.strip("/&,.") in _HEADING_WORDS | {""} for word in words)
    return field_of(" ".join(words)) if is_heading else None


def plain_label(label: str) -> str:
    """A label without numbering, markup and punctuation around it."""
    words = _CAMEL.sub(" ", _NUMBERING.sub("", label.replace("_", " "), count=1))
    return " ".join(re.sub(r"[*#`\"'“”:]", " ", words).split())


# ---- how soon

_LEVELS: tuple[tuple[int, re.Pattern[str]], ...] = (
    (
        3,
        re.compile(
            r"(?<!non-)(?<!non )(?<!not an )(?<!not a medical )(?<!no )\b(?:emergency|emergencies"
            r"|emergent|immediate(?:ly)?|right away|at once|life.threatening|critical|stat"
            r"|call (?:911|999|112)|ambulance|ER|ED|A&E)\b",
            re.IGNORECASE,
        ),
    ),
    (
        2,
        re.compile(
            r"(?<!non-)(?<!non )(?<!not )(?<!less )\b(?:urgent(?:ly)?|semi.urgent|same.day"
            r"|within (?:a day|one day|24 ?(?:h|hrs?|hours)?|the day|\d{1,2} hours?)|today"
            r"|as soon as possible|asap)\b",
            re.IGNORECASE,
        ),
    ),
    (
        1,
        re.compile(
            r"\b(?:routine(?:ly)?|non.?urgent|not urgent|elective|ordinary appointment"
            r"|outpatient|within (?:the next )?(?:a few|a|several|one|two|1|2|1.2|2.4"
            r"|\d)? ?(?:days|weeks?)"
            r"|primary care)\b",
            re.IGNORECASE,
        ),
    ),
    (
        0,
        re.compile(
            r"\b(?:self.?care|home care|at home|home (?:management|treatment|remedies)"
            r"|over.the.counter)\b",
            re.IGNORECASE,
        ),
    ),
)
_LEADING_LEVEL = re.compile(
    r"^\W{0,4}(?:level:?\s|(?:this is\s)?(?:an?|very|highly)"
    r"\s)?(?P<level>self[- ]?care|routine|urgent|emergency|emergent)"
    r"(?![\w-])(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_ALTERNATIVE = re.compile(
    r"(?:\s(?:care|visit|evaluation|attention|appointment))?\s{0,2}"
    r"(?:/|\||and/or\b|or\b|to\b|,|-)\s{0,2}(?:an?\s|the\s)?"
    r"(?:self[- ]?care|routine|urgent|emergen|semi)",
    re.IGNORECASE,
)
# "Urgent if febrile": no level yet. "Emergency, even if it eases" is one.
_LEVEL_UNDER_CONDITION = re.compile(
    r"(?:\s(?:care|visit|evaluation|attention))?\W{1,3}(?:only )?(?:if|unless|in case|when)\b", re.I
)
# "No immediate action", "emergency care is not required": a level that is denied is none, but
# "not urgent" is, as it is the plain word for the routine one.
_DENIED_LEVEL = re.compile(
    r"\b(?:no|without|not (?:need|requir|warrant|in need of)\w*|(?:does|do|is) ?n(?:o|['’])t"
    r" (?:need|require|warrant)\w*)\s(?:\w+\s){0,2}?"
    r"(?:immediate|emergen\w+|urgent|same.day)\b[^.;,]*"
    r"|\b(?:immediate|emergen\w+|urgent|same.day)\b[^.;,]{0,40}?(?:\bnot|n['’]t)"
    r" (?:be )?(?:needed|required|necessary|indicated|warranted|advised)\b",
    re.IGNORECASE,
)
_NOT_URGENT = re.compile(r"\b(?:non.?urgent|not urgent)\b", re.IGNORECASE)
_BY_NAME = {name: level for level, name in enumerate(URGENCIES)} | {
    "emergent": 3,
    "self care": 0,
    "selfcare": 0,
}


def urgency_of(value: str) -> int | None:
    """The level that the value of an urgency field states; None for none, or for two.

    A scale of its own ("high", "3 of 5") is no level: it does not say what it is called here.

    >>> urgency_of("Emergency: call an ambulance, urgent"), urgency_of("same day")
    (3, 2)
    >>> urgency_of("urgent or emergency"), urgency_of("high"), urgency_of("non-urgent")
    (None, None, 1)
    >>> urgency_of("Immediate care is not required"), urgency_of("Not urgent: self-care")
    (None, 0)
    """
    value = _DENIED_LEVEL.sub(" ", value[:400].replace("_", " "))
    named = _LEADING_LEVEL.match(value)
    if named is not None:
        rest = named["rest"]
        if _ALTERNATIVE.match(rest) or _LEVEL_UNDER_CONDITION.match(rest):
            return None
        return _BY_NAME[named["level"].casefold()]
    found = _levels_in(value)
    if found == {0, 1}:
        found = _levels_in(_NOT_URGENT.sub(" ", value))  # "not urgent" beside a level of its own
    return found.pop() if len(found) == 1 else None


def _levels_in(value: str) -> set[int]:
    return {level for level, pattern in _LEVELS if pattern.search(value)}


_NO = re.compile(
    r"^\W{0,3}(?:no|none|not|false|n)\b(?! doubt|/)|\b(?:not (?:needed|necessary"
    r"|required|indicated)|unnecessary)\b(?! (?:urgently|immediately|today|as an emergency))",
    re.IGNORECASE,
)
# The form said over: "yes or no".
_EITHER = re.compile(r"\W*(?:yes|no)\W{0,3}(?:or|/|\|)\W{0,3}(?:yes|no)\b", re.IGNORECASE)
_YES = re.compile(
    r"^\W{0,3}(?:yes|true|y|required|needed|recommended|indicated|urgent|refer(?:red"
    r"|ral)?\b|immediate)\b"
    r"|\b\w{2,20}(?:olog(?:y|ist)|surgeon|surgery|iatr(?:y|ist|ician)|iatrics)\b"
    r"|\b(?:specialist|surgery|surgeons?|OB\W?GYN|physiotherap\w+|ENT|obstetrics|orthop\w+)\b",
    re.IGNORECASE,
)
_CONDITION = re.compile(
    r"\b(?:if|unless|depending|may be|might be|in case|should (?:the|symptoms))\b", re.I
)


def value_under(record: Mapping[Any, object], keys: str) -> object:
    """The one value that stands under such a key of an object; None for none, or for several.

    >>> value_under({"level": "urgent", "why": "chest pain"}, "level|value")
    'urgent'
    """
    found = [value for key, value in record.items() if re.search(keys, str(key), re.IGNORECASE)]
    return found[0] if len(found) == 1 else None


def referral_of(value: object) -> bool | None:
    """Whether the value of a referral field refers; None where it depends or does not say.

    >>> referral_of("Yes, to cardiology"), referral_of(False), referral_of("Cardiologist")
    (True, False, True)
    >>> referral_of("only if symptoms persist") is None, referral_of("yes or no") is None
    (True, True)
    >>> referral_of({"needed": "yes", "specialty": "neurology"})
    True
    """
    if isinstance(value, Mapping):
        stated = value_under(value, r"need|requir|recommend|indicat|referr?|value|answer|decision")
        return referral_of(", ".join(map(str, value.values())) if stated is None else stated)
    if isinstance(value, bool):
        return value
    if isinstance(value, list):
        value = ", ".join(str(one) for one in value)
    if not isinstance(value, str):
        return None
    value = value[:400]
    if _EITHER.match(value):
        return None
    if _NO.search(value):
        # "No, unless it gets worse" refuses it for now; so does "Not needed".
        return False
    first = re.split(r"[.;]\s", value)[0]
    if _CONDITION.search(first if re.match(r"\W{0,3}yes\b", value, re.I) else value):
        return None
    return True if _YES.search(value) else None
