"""The nouns and verbs by which a text tells whose facts it gives."""

from __future__ import annotations

import re
from dataclasses import dataclass

from askew.graphs.wordlist import word_set

PATIENT = "patient"
OTHER = "other"  # anyone who is no blood relative: their facts are left out
ANY = "any"  # some blood relative, not named

FEMALE_NOUNS = word_set(
    """
    woman women girl lady female mum mother grandmother widow housewife schoolgirl actress nun
    waitress businesswoman saleswoman policewoman servicewoman mrs ms miss gal wife daughter
    sister aunt mom mama granddaughter niece girlfriend gentlewoman midwife homemaker-woman
    """
)
MALE_NOUNS = word_set(
    """
    man men boy gentleman guy lad bloke male father dad widower schoolboy actor monk waiter
    businessman salesman policeman fireman serviceman fisherman mr grandfather husband son
    brother uncle grandson nephew boyfriend handyman craftsman chap
    """
)
NEUTRAL_NOUNS = word_set(
    """
    patient child infant baby newborn neonate toddler kid student teenager adolescent teen
    adult person individual preschooler schoolchild youngster youth resident veteran pensioner
    retiree athlete worker farmer nurse teacher driver engineer lawyer cook chef primigravida
    multigravida nulligravida primipara multipara pt immigrant refugee smoker someone somebody
    twin physician doctor runner traveler traveller dancer musician
    """
)
STAFF = word_set("doctor physician nurse surgeon gp clinician pediatrician consultant")
REFERS_BACK = word_set("the this that these our said")
POSSESSIVES = word_set("his her their my our your whose its")
TELLS = word_set(
    """
    says said say reports reported report states stated state notes noted noticed notices
    tells told tell mentions mentioned describes described thinks thought believes believed
    worries worried denies denied confirms confirmed adds added recalls recalled observed
    observes insists claims explains explained asks asked gives gave provides provided
    complains calls called accompanied accompanies brings brought bring wonders concerned
    found finds feels seen heard informs informed endorses endorsed remarks remembers mentions
    witnessed
    """
)
NOUN_ENDS = word_set("has had have with who whose is was are were : ( ) and of by for")
FIRST = re.compile(r"\b(?:i|i'm|i’m|i've|i’ve|i'd|my|me|myself|im|ive)\b")
# The "I" of a letter or note is the clinician's.
CLINICIAN = re.compile(
    r"\b(?:i|we) (?:have |had |recently |first |also |just |am |are |was |were )*(?:saw|seen|see|"
    r"seeing|review(?:ed)?|reviewing|examined|assessed|met|admitted|refer|referred|referring|"
    r"asked to see|followed up)\b"
    r"|\b(?:i|we) (?:would|should) (?:be (?:very |most |extremely )?grateful|appreciate|value|"
    r"welcome)\b|\b(?:thank(?:s| you)|grateful) for (?:seeing|referring|asking|reviewing|your)\b"
    r"|\byour (?:opinion|expert opinion|assessment|referral|letter)\b|\bdear (?:dr|doctor|"
    r"colleague)\b|\b(?:my|our) (?:next |new |last |first )?(?:patient|pt|clinic list)\b"
    r"|\bi am (?:an? )?(?:[\w-]+ ){0,12}(?:doctor|gp|physician|nurse|midwife|paramedic|"
    r"health worker|clinician|medical student|pharmacist)\b"
    r"(?=[^.]{0,600}\b(?:patient|seeing|treating|with an?)\b)"
)
# "My 3 year old has …": the patient has an age and no noun.
CHILD_OF_WRITER = re.compile(
    # Possessive: a run of commas could be parted in too many ways.
    r"\W*+(?:(?:hi|hello|hey|help|please|so|doc|doctor|there)\W++)*+my (?:\w+ )?[\w-]+[\s-]"
    r"(?:year|yr|month|mo|week|wk|day)s?[\s-]?old (?:has|is|had|keeps?|was|won't|can't|woke|just|"
    r"got|started|vomited|fell|threw|and)\b"
)
FAMILY = re.compile(
    r"\bfamil(?:y|ial) (?:medical )?(?:history|hx)\b|\bf/?hx?\b|\bfhx\b|\bfamily\s*:"
    r"|\bruns? in (?:the|his|her|their|my|our) family\b"
)


@dataclass(frozen=True, slots=True)
class Person:
    """One mention of a person, at words `first` to `last` (not included)."""

    first: int
    last: int
    who: str  # "noun" until it is settled, then `PATIENT`, `OTHER`, or a relative's name
    sex: str = ""  # "female", "male", "" = the word does not say
    possessed: bool = False  # "his mother", not "a mother"


def sex_of(noun: str) -> str:
    """The sex that a noun names, "" where it names none.

    >>> sex_of("gentleman"), sex_of("patient")
    ('male', '')
    """
    if noun in FEMALE_NOUNS:
        return "female"
    return "male" if noun in MALE_NOUNS else ""
