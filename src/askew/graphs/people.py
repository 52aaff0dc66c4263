"""Who is meant: the patient, a blood relative, or somebody whose facts are not wanted."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from askew.graphs.lexicon import Piece, listed
from askew.graphs.page import Page, Sentence, Word

PATIENT = "patient"
OTHER = "other"  # anyone who is no blood relative: their facts are left out
ANY = "any"  # some blood relative, not named

FEMALE_NOUNS = frozenset(
    """woman women girl lady female mum mother grandmother widow housewife schoolgirl actress nun
    waitress businesswoman saleswoman policewoman servicewoman mrs ms miss gal wife daughter sister
    aunt mom mama granddaughter niece girlfriend gentlewoman midwife homemaker-woman""".split()
)
MALE_NOUNS = frozenset(
    """man men boy gentleman guy lad bloke male father dad widower schoolboy actor monk waiter
    businessman salesman policeman fireman serviceman fisherman mr grandfather husband son brother
    uncle grandson nephew boyfriend handyman craftsman chap""".split()
)
NEUTRAL_NOUNS = frozenset(
    """patient child infant baby newborn neonate toddler kid student teenager adolescent teen adult
    person individual preschooler schoolchild youngster youth resident veteran pensioner retiree
    athlete worker farmer nurse teacher driver engineer lawyer cook chef primigravida multigravida
    nulligravida primipara multipara pt immigrant refugee smoker someone somebody twin physician
    doctor runner traveler traveller dancer musician""".split()
)
_STAFF = frozenset("doctor physician nurse surgeon gp clinician pediatrician consultant".split())
_REFERS_BACK = frozenset("the this that these our said".split())
_POSSESSIVES = frozenset("his her their my our your whose its".split())
_TELLS = frozenset(
    """says said say reports reported report states stated state notes noted noticed notices tells
    told tell mentions mentioned describes described thinks thought believes believed worries
    worried denies denied confirms confirmed adds added recalls recalled observed observes insists
    claims explains explained asks asked gives gave provides provided complains calls called
    accompanied accompanies brings brought bring wonders concerned found finds feels seen
    heard informs informed endorses endorsed remarks remembers mentions witnessed""".split()
)
_NOUN_ENDS = frozenset("has had have with who whose is was are were : ( ) and of by for".split())
_BEARS = frozenset(
    """has had have with who whose died dies was is were are suffers suffered developed takes took
    takes both also recently succumbed survived uses tested got gets lives : ( - – ’s 's""".split()
)
_GIVES_OVER = re.compile(
    r"\b(?P<verb>brings?|brought(?: in)?|carries|carried|takes|took|accompan(?:ies|ied)|presents? with"
    r"|presented with|comes? (?:in )?with|came (?:in )?with|attends? with|calls? about|called about"
    r"|(?:think|believe|suspect)s?(?: that)?|(?:is|are|am|'m|was|were) (?:very |really |so )?(?:worried|concerned|calling|writing|asking|here"
    r"|enquiring|inquiring) (?:about|for|with|on behalf of)|have|has|consults? (?:you )?about"
    r"|seeks? (?:advice|help|care) (?:for|about)|looks? after|cares? for|phones? about|rings? about)"
    r" (?P<owner>her|his|their|my|our|an?|the|one of (?:her|his|their|my|our))\b"
)
_OF_A = re.compile(
    r"\b(?:mother|father|parents?|wife|husband|guardian|carer|caregiver|mum|mom|dad|spouse|partner"
    r"|grandmother|grandfather|daughter|son|sister|brother|aunt|uncle)s? of (?:a|an|the|this|our)\b"
)
_FIRST = re.compile(r"\b(?:i|i'm|i’m|i've|i’ve|i'd|my|me|myself|im|ive)\b")
_FAMILY = re.compile(
    r"\bfamil(?:y|ial) (?:medical )?(?:history|hx)\b|\bf/?hx?\b|\bfhx\b|\bfamily\s*:"
    r"|\bruns? in (?:the|his|her|their|my|our) family\b"
)


_BEFORE_NOUN = _POSSESSIVES | frozenset(
    "a an the one two older younger elder late paternal maternal half - both year month week old".split()
)
_MAIN_VERBS = frozenset(
    "reports presents complains denies has is was takes comes notes describes attends".split()
)
_SOME_OF_THEM = re.compile(
    r"(?:one|two|three|some|many|several|most|all|none|another|others|each|a few|both) (?:of (?:them|whom|the (?:other|others|students|children|staff|passengers)))\b"
)


@dataclass(frozen=True, slots=True)
class Person:
    """One mention of a person, at words `first` to `last` (not included)."""

    first: int
    last: int
    who: str  # "noun" until it is settled, then `PATIENT`, `OTHER`, or a relative's name
    sex: str = ""  # "female", "male", "" = the word does not say
    possessed: bool = False  # "his mother", not "a mother"


@dataclass(frozen=True, slots=True)
class Stretch:
    """From character `start` on, facts belong to `who`, until the next stretch."""

    start: int
    who: str


@dataclass(frozen=True, slots=True)
class People:
    """Everybody in a text, and whose facts stand where."""

    mentions: tuple[Person, ...]
    patient: Person | None  # the first mention of the patient by a noun
    first_person: bool  # the patient is the one who writes
    stretches: tuple[Stretch, ...]

    def holder(self, character: int) -> str:
        """Whose facts stand at a character."""
        who = PATIENT
        for stretch in self.stretches:
            if stretch.start > character:
                break
            who = stretch.who
        return who

    def is_patient(self, word: int) -> bool:
        """Whether the word belongs to a mention of the patient."""
        return any(
            person.who == PATIENT and person.first <= word < person.last for person in self.mentions
        )

    def at(self, word: int) -> Person | None:
        """The mention that covers a word."""
        return next((one for one in self.mentions if one.first <= word < one.last), None)


def sex_of(noun: str) -> str:
    """The sex that a noun names, "" where it names none.

    >>> sex_of("gentleman"), sex_of("patient")
    ('male', '')
    """
    if noun in FEMALE_NOUNS:
        return "female"
    return "male" if noun in MALE_NOUNS else ""


def mentions(page: Page, parts: list[Piece]) -> tuple[Person, ...]:
    """Every person that a noun names, in order; relatives by their own name."""
    found = [
        _relative(page, entry.first, entry.last, entry.term.tags)
        for entry in listed(page, parts, "relatives")
        if entry.term.tags.get("blood") and not _part_of_name(page, entry.first, entry.last)
    ]
    taken = {word for person in found for word in range(person.first, person.last)}
    for index, word in enumerate(page.words):
        low = word.lower.rstrip(".")
        if index in taken or word.tag.startswith("VB"):
            continue
        singular = low[:-1] if low.endswith("s") and len(low) > 3 else low
        if {low, singular} & (FEMALE_NOUNS | MALE_NOUNS | NEUTRAL_NOUNS):
            before = [one.lower for one in page.words[max(index - 7, 0) : index]]
            owned = _possessed(before) and singular not in ("patient", "pt")
            sex = sex_of(low) or sex_of(singular)
            found.append(Person(index, index + 1, "noun", sex, owned))
    found.sort(key=lambda person: person.first)
    return tuple(_of_another(page, found))


def _relative(page: Page, first: int, last: int, tags: object) -> Person:
    assert hasattr(tags, "get")
    before = [word.lower for word in page.words[max(first - 7, 0) : first]]
    who = OTHER if tags.get("blood") == "no" else str(tags.get("gold", ANY))
    who = ANY if who == "relative" else who
    return Person(first, last, who, str(tags.get("sex", "")), _possessed(before))


def _possessed(before: list[str]) -> bool:
    """Whether a possessive stands before a noun, with nothing but its adjectives between."""
    for word in reversed(before):
        if word in _POSSESSIVES or word.endswith(("'s", "’s")):
            return True
        if not (word.isalnum() or word in "-/") or word in _NOUN_ENDS:
            return False
        if word in ("a", "an", "the"):
            return False
    return False


def _part_of_name(page: Page, first: int, last: int) -> bool:
    """Words such as "family medicine", "sister ship", "brother" in a name of a place."""
    after = page.words[last].lower if last < len(page.words) else ""
    head = page.words[last - 1].lower
    if head == "family":
        return after in ("medicine", "physician", "doctor", "practice", "planning", "history", "hx")
    return after == "tongue" or (head in ("child", "children") and after == "care")


def _of_another(page: Page, found: list[Person]) -> list[Person]:
    """Settle "his wife's mother" (nobody's), "her mother's sister" (an aunt)."""
    aunts = {"sister": "aunt", "brother": "uncle", "mother": "grandmother", "father": "grandfather"}
    settled: list[Person] = []
    for person in found:
        previous = settled[-1] if settled else None
        owner = page.words[person.first - 1].lower if person.first else ""
        if previous and previous.last == person.first and owner.endswith(("'s", "’s", "'", "’")):
            if previous.who in ("mother", "father") and person.who in aunts:
                person = replace(person, who=aunts[person.who])
            elif previous.who != "noun":
                person = replace(person, who=OTHER)
        settled.append(person)
    return settled


def find(page: Page, parts: list[Piece], *, experiencers: bool = True) -> People:
    """Everybody in a text; with `experiencers` off, every fact is taken to be the patient's."""
    people = mentions(page, parts)
    patient, first_person = _patient(page, people)
    seen = people
    people = tuple(
        replace(person, who=OTHER)
        if person.who == "noun" and person != patient and _second_noun(page, person, seen)
        else _settle(page, person, patient, first_person)
        for person in people
    )
    people = _inverted(page, people)
    patient = next((person for person in people if patient and person.first == patient.first), None)
    stretches: list[Stretch] = []
    if experiencers:
        scan = _Scan(page, people, patient, first_person)
        for sentence in page.sentences:
            stretches += scan.sentence(sentence)
    return People(people, patient, first_person, tuple(stretches))


# Who an informant means by "her mother", "his wife": the patient, seen from the other side.
_CHILDREN = frozenset("son daughter child".split())
_PARENTS = frozenset("mother father parent".split())
_INVERSE: tuple[tuple[frozenset[str], frozenset[str]], ...] = (
    (_CHILDREN, frozenset("mother father mum mom dad".split())),
    (frozenset("wife husband spouse partner".split()), frozenset("wife husband spouse".split())),
    (_PARENTS, frozenset("son daughter child baby infant boy girl".split())),
    (frozenset("sister brother sibling".split()), frozenset("sister brother".split())),
)


def _inverted(page: Page, people: tuple[Person, ...]) -> tuple[Person, ...]:
    """ "The patient's daughter states that her mother …": that mother is the patient."""
    settled = list(people)
    for place, teller in enumerate(people):
        sentence = page.sentence_at(page.words[teller.first].start)
        head = page.words[teller.last - 1].lower
        for later in range(place + 1, len(people)):
            person = people[later]
            if person.first >= sentence.last:
                break
            between = [word.lower for word in page.words[teller.last : person.first]]
            noun = page.words[person.last - 1].lower
            told = set(between) & _TELLS and person.possessed and teller.who != PATIENT
            inverse = any(
                ({head, teller.who} & ones) and noun in others for ones, others in _INVERSE
            )
            if told and inverse and person.who != PATIENT:
                settled[later] = replace(person, who=PATIENT)
    return tuple(settled)


def _patient(page: Page, people: tuple[Person, ...]) -> tuple[Person | None, bool]:
    """The mention that introduces the patient, and whether the patient writes."""
    by_first = {person.first: person for person in people}
    lower = page.lower.replace("’", "'")
    given = _given_over(page, lower, by_first)
    if given:
        return given, False
    first = _FIRST.search(lower)
    if first and not _quoted(lower, first.start()):
        told = next((one for one in people if _starts_my(page, one, first.start())), None)
        return told, told is None
    of_a = next((one for one in _OF_A.finditer(lower) if _is_about(page, one.end())), None)
    start = page.word_at(of_a.end()) if of_a else 0
    open_people = [one for one in people if one.first >= start]
    introduced = [one for one in open_people if _can_be_patient(page, one, people)]
    named = [one for one in introduced if page.words[one.last - 1].lower.startswith("patient")]
    aged = [one for one in introduced if _has_age(page, one)]
    return next(iter(aged or introduced or named), None), False


def _is_about(page: Page, end: int) -> bool:
    """Whether "the parents of a …" goes on with the patient: an age, or what the parents tell."""
    at = page.word_at(end)
    near = [word.lower for word in page.words[at : at + 8]]
    aged = any(word in ("old", "year", "month", "week", "day") for word in near[:6])
    return aged or bool(set(near[1:5]) & _TELLS)


def _given_over(page: Page, lower: str, by_first: dict[int, Person]) -> Person | None:
    """The son whom a mother brings, the father about whom somebody writes."""
    for found in _GIVES_OVER.finditer(lower):
        sentence = page.sentence_at(found.start())
        if sentence.first > 0 and page.sentences.index(sentence) > 1:
            return None
        before = lower[sentence.start : found.start()]
        if re.search(r"\b(?:is|was|been|being|gets|got|were|are) (?:\w+ )?$", before):
            if found["verb"].startswith(("brought", "carried", "accompanied", "took")):
                continue
        at = page.word_at(found.end())
        noun = next((by_first[index] for index in range(at, at + 10) if index in by_first), None)
        if noun is None:
            continue
        middle = lower[found.end() : page.words[noun.first].start]
        after = lower[page.words[noun.last - 1].end :][:20]
        if set(middle) & set(",;.") or re.search(r"\b(?:of|with|for|to|and|by)\b", middle):
            continue
        verb = found["verb"]
        if verb in ("have", "has"):
            # "I have a 4-year-old son who …" introduces him; "She has a son" does not.
            aged = re.search(r"\d|old|month|week", middle) and "who" in after
            if not aged or not re.search(r"\bi\b|\bwe\b", before):
                continue
        if verb.startswith(("think", "believe", "suspect")) and not re.match(
            r".*\b(?:i|we) (?:\w+ )?$", before
        ):
            continue
        if verb in ("takes", "took") and not re.match(r"\s*(?:in )?to\b", after):
            continue
        if verb.startswith(("present", "com", "came", "attend")) and not _has_age(page, noun):
            continue
        if verb.startswith(("look", "care")) or (found["owner"] == "the" and not _has_age(page, noun)):
            continue
        if not re.search(r"\w", before) or "patient" in before.split():
            continue
        return noun
    return None


def _quoted(lower: str, at: int) -> bool:
    return lower.count('"', 0, at) % 2 == 1 or lower.count("“", 0, at) > lower.count("”", 0, at)


def _starts_my(page: Page, person: Person, first: int) -> bool:
    """Whether the text opens with "my …" and that person is what it is about."""
    opening = page.words[page.word_at(first)]
    if opening.lower != "my" or not person.possessed:
        return False
    if not 0 < person.first - page.word_at(first) <= 6:
        return False
    after = [word.lower for word in page.words[person.last : person.last + 4]]
    return not (set(after[:2]) & _TELLS) or "and" in after[:1]


def _can_be_patient(page: Page, person: Person, people: tuple[Person, ...]) -> bool:
    if person.possessed or person.who == OTHER and not _has_age(page, person):
        return False
    word = page.words[person.last - 1]
    before = [one.lower for one in page.words[max(person.first - 8, 0) : person.first]]
    after = {one.lower for one in page.words[person.last : person.last + 3]}
    if person.who != "noun" and after & _TELLS and before[-1:] != ["old"]:
        return False  # "Dad says she has had a cold"
    if word.lower in _STAFF and not _has_age(page, person):
        return False
    if _second_noun(page, person, people):
        return False
    return not (before[-1:] == ["by"] or before[-2:] == ["by", "a"])


def _second_noun(page: Page, person: Person, people: tuple[Person, ...]) -> bool:
    """Whether a noun stands in apposition to somebody else: "his wife, a 68-year-old nurse"."""
    for other in people:
        if other.first < person.first and (other.possessed or other.who == OTHER):
            gap = [one.lower for one in page.words[other.last : person.first]]
            nearest = not any(other.first < one.first < person.first for one in people)
            if nearest and gap[:1] in ([","], ["("]) and set(gap) & {"a", "an"}:
                return gap.count(",") <= 1 and ":" not in gap
    return False


def _has_age(page: Page, person: Person) -> bool:
    start = page.words[max(person.first - 8, 0)].start
    stop = page.words[min(person.last + 5, len(page.words) - 1)].end
    near = page.lower[start:stop]
    return bool(re.search(r"\d|old\b|aged|teen|ties\b|\bin (?:his|her|their) ", near))


def _settle(page: Page, person: Person, patient: Person | None, first_person: bool) -> Person:
    """Say who a noun is, now that the patient is known."""
    if patient and person.first == patient.first:
        return replace(person, who=PATIENT)
    word = page.words[person.last - 1].lower
    before = [one.lower for one in page.words[max(person.first - 3, 0) : person.first]]
    if person.who != "noun":
        same = patient and _says_same(page, person, patient)
        return replace(person, who=PATIENT) if same else person
    if word.startswith(("patient", "pt")) or word in ("mr", "mrs", "ms", "mr.", "mrs.", "ms."):
        return replace(person, who=PATIENT)
    if word in _STAFF and set(before) & {"the", "a", "her", "his", "my"}:
        return replace(person, who=OTHER)
    agrees = not (person.sex and patient and patient.sex and person.sex != patient.sex)
    refers = set(before) & _REFERS_BACK and agrees
    if patient and 0 < person.first - patient.last <= 8 and before[-1:] in (["old"], ["o"], ["yo"]):
        return replace(person, who=PATIENT)  # "Patient is 25 year old female"
    if patient and 0 <= person.first - patient.last <= 2 and all(
        one.tag.startswith(("NN", "JJ", "VBN"))
        for one in page.words[patient.last : person.first]
    ):
        return replace(person, who=PATIENT)  # "a male college athlete"
    # "She is a nurse", "he, a farmer, …": a further noun for the patient.
    predicate = page.words[person.first].dep in ("attr", "appos", "ROOT", "compound")
    return replace(person, who=PATIENT if refers or predicate or first_person else OTHER)


def _says_same(page: Page, person: Person, patient: Person) -> bool:
    """Whether "my dad", "her son" or "the baby" is once more the relative who is the patient."""
    word = page.words[person.last - 1].lower
    first = page.words[patient.last - 1].lower
    before = page.words[person.first - 1].lower if person.first else ""
    if word == first and (person.possessed or before in _REFERS_BACK):
        return True
    if before in ("the", "this") and person.who in ("child", "son", "daughter"):
        return not (person.sex and patient.sex and person.sex != patient.sex)
    return False


class _Scan:
    """Goes through the sentences in order and says whose facts stand where."""

    def __init__(
        self, page: Page, people: tuple[Person, ...], patient: Person | None, first_person: bool
    ) -> None:
        self.page = page
        self.by_first = {person.first: person for person in people}
        self.patient = patient
        self.first_person = first_person
        self.sex = _patient_sex(page, people, patient)
        self.last_seen: dict[str, str] = {}  # sex -> who was named last
        self.outer = PATIENT  # whose clause a relative clause interrupts
        self.narrated = bool(patient and not first_person and _FIRST.search(page.lower))

    def sentence(self, sentence: Sentence) -> list[Stretch]:
        """The stretches of one sentence; each begins with the patient."""
        who, embedded = PATIENT, False
        found = [Stretch(sentence.start, PATIENT)]
        family = _FAMILY.search(self.page.lower, sentence.start, sentence.end)
        for index in range(sentence.first, sentence.last):
            word = self.page.words[index]
            before = who
            person = self.by_first.get(index)
            if person is not None:
                who, embedded = self._named(person, who, embedded, bool(family))
            elif self._is_subject(index):
                meant = self._pronoun(word.lower, who)
                after = {one.lower for one in self.page.words[index + 1 : index + 5]}
                # "She has noticed …" with a male patient: the informant speaks of him.
                who, embedded = (PATIENT if meant != PATIENT and after & _TELLS else meant), False
            elif word.text == ";":
                who, embedded = PATIENT, False
            elif _SOME_OF_THEM.match(self.page.lower, word.start):
                who, embedded = OTHER, False
            elif embedded and word.text == "," and self._verb_follows(index):
                who, embedded = self.outer, False
            if family and word.start == family.start() and who == PATIENT:
                who = ANY
            if who != before:
                found.append(Stretch(word.start, who))
        return found

    def _named(self, person: Person, who: str, embedded: bool, family: bool) -> tuple[str, bool]:
        words = self.page.words
        if person.who == PATIENT:
            subject = words[person.last - 1].dep in ("nsubj", "nsubjpass", "ROOT")
            return (PATIENT, False) if subject or who == PATIENT else (who, embedded)
        if person.sex:
            self.last_seen[person.sex] = person.who
        before = words[person.first - 1].lower if person.first else ""
        after = [word.lower for word in words[person.last : person.last + 6]]
        head = words[person.last - 1]
        link = self._before_noun_phrase(person)
        heads_list = family or (who not in (PATIENT, OTHER) and link in (",", "and", "or"))
        if not person.possessed and person.who not in (OTHER, ANY) and not heads_list:
            return self._bare(person, who, embedded, after)
        if after[:1] == ["who"] or after[:2] == [",", "who"] or after[:2] == [",", "whose"]:
            self.outer = person.who if head.dep in ("nsubj", "nsubjpass") else PATIENT
            return person.who, True
        self.outer = PATIENT
        if before == "whose" or (person.first > 1 and words[person.first - 2].lower == "whose"):
            return person.who, True
        if heads_list and link not in ("in", "by", "of"):
            return person.who, embedded
        if head.lower.endswith(("'s", "’s")) and after[:1] not in (["side"], ["house"], ["home"]):
            return person.who, embedded
        subject = head.dep in ("nsubj", "nsubjpass") or after[:1] and after[0] in _BEARS
        oblique = {before, link} & {"with", "by", "to", "from"}
        if not subject or oblique or self._tells(person, after):
            return who, embedded
        return person.who, embedded

    def _before_noun_phrase(self, person: Person) -> str:
        """The word before a noun, its article and its adjectives."""
        index = person.first - 1
        while index > 0 and (
            self.page.words[index].lower in _BEFORE_NOUN
            or self.page.words[index].text.isdigit()
        ):
            index -= 1
        return self.page.words[index].lower if index >= 0 else ""

    def _bare(
        self, person: Person, who: str, embedded: bool, after: list[str]
    ) -> tuple[str, bool]:
        """ "A mother" and "the son": somebody else as a subject, but no relative by that alone."""
        head = self.page.words[person.last - 1]
        before = self.page.words[person.first - 1].lower if person.first else ""
        article = before in ("a", "an", "one", "two", "three", "paternal", "maternal", "older")
        related = person.who not in ("mother", "father", "son", "daughter", "child", OTHER, "noun")
        bears = head.dep in ("nsubj", "nsubjpass") or after[:1] and after[0] in _BEARS
        if article and related and bears and not self._tells(person, after):
            return person.who, embedded
        if before == "the" and head.dep == "nsubj" and not self._tells(person, after):
            return person.who, embedded
        if head.lower.endswith("s") and not self._tells(person, after) and head.dep == "nsubj":
            return person.who, embedded
        return who, embedded

    def _tells(self, person: Person, after: list[str]) -> bool:
        """Whether the person reports about the patient."""
        clause: list[str] = []
        for word in after:
            if word in (",", ";", ".", "that", "of", "and"):
                break
            clause.append(word)
        if after[:1] == [","]:  # "his wife, a nurse, says"
            clause = [word.lower for word in self.page.words[person.last : person.last + 14]]
        return bool(set(clause) & _TELLS)

    def _is_subject(self, index: int) -> bool:
        word = self.page.words[index]
        low = word.lower.split("'")[0].split("’")[0]
        if low in ("he", "she", "i"):
            return True
        return low in ("it", "they", "we") and word.dep in ("nsubj", "nsubjpass")

    def _pronoun(self, pronoun: str, who: str) -> str:
        low = pronoun.split("'")[0].split("’")[0]
        if low == "i":
            return OTHER if self.narrated else PATIENT
        if low in ("it", "they", "we"):
            return who if low != "we" else PATIENT
        sex = "male" if low == "he" else "female"
        if self.first_person or (self.sex and sex != self.sex):
            return self.last_seen.get(sex, OTHER)
        return PATIENT

    def _verb_follows(self, index: int) -> bool:
        """Whether the main clause goes on after a comma: "whose father died at 61, has …"."""
        for word in self.page.words[index + 1 : index + 4]:
            if word.tag in ("VBZ", "VBD", "VBP", "MD") or word.lower in _MAIN_VERBS:
                return True
            if word.lower not in ("and", "but", "now", "also", "still") and word.tag != "RB":
                return False
        return False


def _patient_sex(page: Page, people: tuple[Person, ...], patient: Person | None) -> str:
    """The sex of the pronouns that mean the patient: from the noun, else from the most frequent."""
    if patient and patient.sex and not _gender_follows_other_rules(page, patient):
        return patient.sex
    for person in people:
        if person.who == PATIENT and person.sex:
            return person.sex
    letter = re.search(r"\b\d{1,3}\s*(?:y/?\.?o\.?|yr|years?|-)?\s*([mf])\b", page.lower)
    if letter:
        return "male" if letter[1] == "m" else "female"
    counts = {
        "male": len(re.findall(r"\b(?:he|his|him)\b", page.lower)),
        "female": len(re.findall(r"\b(?:she|her|hers)\b", page.lower)),
    }
    if counts["male"] == counts["female"]:
        return ""
    return max(counts, key=lambda sex: counts[sex])


def _gender_follows_other_rules(page: Page, patient: Person) -> bool:
    """A transgender woman's noun is right, but "transgender female-to-male" and "AFAB" mislead."""
    before = page.lower[max(page.words[patient.first].start - 30, 0) : page.words[patient.first].start]
    return "non-binary" in before or "nonbinary" in before


def next_words(page: Page, word: int, count: int) -> tuple[Word, ...]:
    """The words after one, at most `count`."""
    return page.words[word + 1 : word + 1 + count]
