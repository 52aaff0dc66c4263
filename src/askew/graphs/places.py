"""Where the patient lives, comes from and has been."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from askew.graphs.context import Context
from askew.graphs.lexicon import Piece, listed
from askew.graphs.page import Page
from askew.graphs.people import PATIENT, People
from askew.graphs.rules import RuleSet
from askew.graphs.terms import fold, lookup
from askew.vignettes import Relation, Span, Status, Triplet

_ADVERBS = r"(?:\w+ly |just |has |had |have |been |also |now |then |still |recently |always |never |not |long )*"
_TIME = r"(?:(?:for|since|until|about|over|the|past|last|almost|nearly|around|several|many|some|\w+|\d+) (?:days?|weeks?|months?|years?|summer|winter|spring|autumn|fall|weekend|time|decades?) )?"
_INSIDE = r"(?:(?:in|at|near|to|on|outside|around|from|of|within|by|into|through|across) )"
_LIVES = (
    rf"\b(?:{_ADVERBS}(?:lives?|lived|living|reside[sd]?|residing|settled|home|homes|stays with \w+ \w+|staying with \w+ \w+|housed|house|flat|apartment|farm|domiciled|resident|residents|inhabitant|native and resident|based|raised (?:his|her) family)"
    rf"|(?:moved|relocated|immigrated|emigrated|came|migrated|resettled)(?: back| here)?(?: \w+ly)? to|return(?:ed|ing) home to|a citizen)\b"
)
_BORN = (
    r"\b(?:born(?: and (?:raised|brought up|bred|grew up))?|grew up|growing up|raised|brought up|originally|native|natives|hails?|hailing|came|comes|coming|arrived|fled|emigrat\w+|immigrat\w+|immigrant|immigrants|migrant|migrated|refugees?(?! camp)|relocated|moved(?: here)?|adopted|childhood|roots|origins?|asylum seeker|expatriate|adoptee|ancestral home|birthplace|left)\b"
)
_WENT = (
    r"\b(?:travel(?:s|l?ed|l?ing)?|trips?|visit(?:s|ed|ing)?|return(?:s|ed|ing)?|went|going|goes|gone|been|back|holiday(?:s|ed|ing)?|vacation(?:s|ed|ing)?|safari|hik(?:ed|ing)|trek(?:ked|king)?|camp(?:ed|ing)|tour(?:ed|s|ing)?|cruis(?:e|ed|ing)|stay(?:ed|ing|s)?|spent|spend|spending|flew|fly|flying|flown|deploy(?:ed|ment)|honeymoon(?:ed|ing)?|wedding|conference|journey(?:ed)?|expedition|pilgrimage|backpack(?:ed|ing)|volunteer(?:ed|ing)?|mission|work(?:ed|ing)?|stint|drove|drive|driving|stopover|layover|toured|sail(?:ed|ing)|swam|swimming|dive|dived|diving|surf(?:ed|ing)|caving|explor(?:ed|ing)|festival|funeral|while in|time in|weeks? in|month in|months in|days in|exchange|semester|internship|excursion|retreat|business in|cycl(?:ed|ing)|rafting|kayak(?:ed|ing)|fishing|hunting|leav(?:e|es|ing) for|head(?:s|ed|ing)? (?:to|for)|depart(?:s|ed|ing)? for|bound for)\b"
)
_TRIGGER = re.compile(
    f"(?P<lives>{_LIVES})|(?P<born>{_BORN})|(?P<went>{_WENT})|(?P<from>\\bfrom\\b)|(?P<abroad>\\bin\\b)"
)
_PLANS = re.compile(
    r"\b(?:plan(?:s|ned|ning)?|will|going to|about to|intends?|upcoming|next (?:week|month|year|summer|spring|fall|autumn|winter)|tomorrow|hopes?|booked|wants? to|would like to|prepar(?:es|ing)|scheduled|due to (?:travel|fly|leave|visit|go)|looking forward|considering|leaves for|leaving for|is to (?:travel|fly|visit)|before (?:a|her|his|their|an upcoming) (?:trip|journey|travel|holiday))\b"
)
_CANCELLED = re.compile(r"\bcancel+ed\b|\bcalled off\b|\bpostponed\b")
_NAME_AFTER = re.compile(
    r"^(?:['’]s)?\s+(?:[A-Z][\w'’-]+\s+)*(?:Hospital|Hospitals|Clinic|University|Infirmary|Medical|Health|Healthcare|College|Institute|School|Center|Centre|General|Street|Road|Avenue|Lane|Drive|Fever|Virus|Times|Airlines|Airways|Bank|Study|Classification|Criteria|Score|Scale|Sign|Syndrome|Disease|Flu|Zoo|Marathon|Hotel|Church|County Hospital|Memorial|Children['’]s)\b"
    r"|^\s+(?:flu|fever|virus|encephalitis|disease|syndrome|criteria|score|scale|coma scale|hospital|clinic|infirmary|sandwich|nuts?|spotted|equine|shepherd|terrier|pigs?|tea|coffee|wine|food|restaurant|cuisine|cheese|beer|marathon|airport|variant|strain|salts?|university|medical|memorial|general|heart|study|style|dressing|toast|press|born)\b(?!\s+in)"
)
_NAME_BEFORE = re.compile(
    r"(?:\b(?:Dr|Mr|Mrs|Ms|Prof|Miss|Sir|Nurse|Professor|Doctor|Judge|Lady|Lord|Saint)\.?\s+(?:[A-Z][\w'-]+\s+)?|\b(?:University|Hospital|Bank|College|Institute|Church|Clinic|Times|Treaty|Battle|Museum|Duke|Port|City) of (?:the )?(?:[A-Z]\w+ )?)$"
)
_HOSPITAL_BEFORE = re.compile(
    r"\b(?:hospital|clinic|infirmary|centre|center|practice|surgery|ward|unit|university|office|department|specialist|er|ed|doctor|physician|laboratory|colleague|school|company|firm|college|conference call|court|bank|airport) (?:in|at|near|of)\s*(?:[\w\s]{0,15})$"
)
INSTITUTION = re.compile(
    r"\b(?P<what>(?:nursing|care|residential|retirement|group|foster|rest|old people's|old people’s|residential care|children's|veterans'?|skilled nursing|long-term care|half-?way|assisted[\s-]living|memory care|board-and-care|sheltered)[\s-](?:home|facility|house|community|housing|village|residence|complex|unit|accommodation|center|centre)|assisted living|hospice|(?:homeless |women's |night |emergency )?shelter|prison|jail|correctional facility|orphanage|dormitory|dorm|barracks|refugee camp|convent|monastery|hostel|boarding school|detention cent(?:er|re)|military base|army base|halls? of residence|student residence|rehabilitation (?:center|centre|facility)|almshouse|sheltered housing|youth hostel|homeless encampment|trailer park|kibbutz|houseboat|(?:long-term|chronic) care (?:facility|hospital)|psychiatric (?:hospital|facility)|commune)\b"
)
_NATIONAL = frozenset(
    """man woman boy girl gentleman lady male female immigrant student patient migrant refugee
    national citizen worker nurse tourist visitor teacher farmer engineer exchange born origin
    infant child nationality mother father grandmother grandfather businessman businesswoman
    sailor fisherman housewife veteran teenager adolescent toddler widow widower person expatriate
    retiree graduate musician cook chef driver builder cleaner doctor academic researcher native
    baby newborn adult youth""".split()
)
# Peoples that a text names for race or ancestry, not for where somebody is from.
_RACIAL = frozenset(
    "american african asian european caucasian hispanic latino latina caribbean arab".split()
)


_DWELLING = re.compile(r"(?:home|homes|house|flat|farm|apartment)$")
_IN = re.compile(r"\s+(?:is |was )?(?:in|near|outside|at|to)\b")
_DIRECTIONS = frozenset(
    "central north south east west northern southern eastern western northeast northwest southeast"
    " southwest midwest".split()
)
# Between a place and the larger one that it lies in.
_WITHIN = re.compile(
    r",\s*(?:[A-Z]\w+,\s*)?|\s*\(|(?:\s+(?:area|district|city|town|village|region|county|province|island))?,?\s+in\s+(?:the\s+)?(?:\w+ern\s+|central\s+)?(?:state of\s+|province of\s+|region of\s+)?"
)


@dataclass(frozen=True, slots=True)
class _Place:
    start: int
    end: int
    value: str
    rule: str


def find(page: Page, parts: list[Piece], people: People, context: Context, rules: RuleSet) -> list[Triplet]:
    """Homes, origins and journeys of the patient, in the order of the text."""
    places = _named(page, parts, rules)
    found = _institutions(page, people, places)
    for place in places:
        relation = _relation(page, place, places)
        if relation is None or not _whose(page, people, place.start):
            continue
        status = _status(page, place, relation, context)
        if status is None:
            continue
        span = Span(place.start, place.end)
        text = page.text[place.start : place.end]
        fired = f"{place.rule} + place"
        found.append(Triplet(relation, place.value, status, span, text, fired))
    found += _demonyms(page, parts, people)
    if any(_grew(page, one) for one in found) and not all(_grew(page, one) for one in found):
        others = [one for one in found if one.relation is Relation.BORN_IN and not _grew(page, one)]
        found = [one for one in found if not others or not _grew(page, one)]
    return _clean(sorted(found, key=lambda triplet: triplet.span or Span(0, 0)))


def _grew(page: Page, triplet: Triplet) -> bool:
    """Whether an origin is only where somebody grew up: the place of birth goes before it."""
    if triplet.relation is not Relation.BORN_IN or triplet.span is None:
        return False
    before = page.lower[max(triplet.span.start - 25, 0) : triplet.span.start]
    return bool(re.search(r"\b(?:raised|grew up|brought up|growing up)\b", before))


def plain(page: Page) -> list[Triplet]:
    """Every place that spaCy names, as a home: extraction without rules."""
    return [
        Triplet(
            Relation.LIVES_IN,
            entity.text,
            Status.PRESENT,
            Span(entity.start_char, entity.end_char),
            entity.text,
            "ner",
        )
        for entity in page.doc.ents
        if entity.label_ in ("GPE", "LOC")
    ]


def _named(page: Page, parts: list[Piece], rules: RuleSet) -> list[_Place]:
    """Names of places: the gazetteer's, and spaCy's where the gazetteer has none."""
    found: list[_Place] = []
    for entry in listed(page, parts, "places") if "lists" in rules else ():
        words = page.words[entry.first : entry.last]
        start, end = words[0].start, words[-1].end
        end -= 2 if page.lower[start:end].endswith(("'s", "’s")) else 0
        if words[0].text[:1].isupper() and not _in_name(page, start, end):
            rule = "guarded" if entry.guarded else "list"
            found.append(_Place(start, end, page.text[start:end], rule))
    for entity in page.doc.ents if "ner" in rules else ():
        start, end = entity.start_char, entity.end_char
        text = entity.text.strip()
        if entity.label_ not in ("GPE", "LOC", "FAC") or not text[:1].isalpha():
            continue
        if any(start < one.end and one.start < end for one in found):
            continue
        if text.lower().startswith("the "):
            start, text = start + 4, text[4:]
        if text.isupper() and len(text) <= 4:
            continue  # "ER", "ICU"
        if text[:1].isupper() and not _in_name(page, start, start + len(text)):
            found.append(_Place(start, start + len(text), text, "ner"))
    found += _capitalised(page, found)
    named = [place for place in found if place.value.lower() not in _DIRECTIONS]
    return _joined(page, sorted(named, key=lambda place: place.start))


def _joined(page: Page, found: list[_Place]) -> list[_Place]:
    """A town with the state or country after it as one place: "Miami, Florida".

    A twin that moves the patient has to replace both, or it would put Nairobi in Florida.
    """
    joined: list[_Place] = []
    for place in found:
        last = joined[-1] if joined else None
        if last and _WITHIN.fullmatch(page.text, last.end, place.start) and _contains(place, last):
            value = page.text[last.start : place.end]
            joined[-1] = replace(last, end=place.end, value=" ".join(value.split()))
        else:
            joined.append(place)
    return joined


def _contains(larger: _Place, smaller: _Place) -> bool:
    """Whether one place can lie in the other: "Laos, Cambodia" are two countries side by side."""
    outer = lookup("places").get(fold(larger.value))
    inner = lookup("places").get(fold(smaller.value.split(",")[-1]))
    if outer is None:
        return False
    if inner is None and smaller.rule == "ner":
        return True  # a village or a home that no gazetteer has
    if outer.tags.get("kind") not in ("country", "state", "region", "continent"):
        return False
    if inner is None:
        return True
    if inner.tags.get("kind") in ("country", "continent"):
        return False
    country = inner.tags.get("country")
    return country in (None, outer.name, outer.tags.get("country"))


_AFTER_TRIGGER = re.compile(
    r"\b(?:[Ll]ives? in|[Ll]iving in|[Rr]esid(?:es|ing|ent) (?:in|of)|[Bb]orn in|[Gg]rew up in|[Ee]migrated from|[Ii]mmigrated from|[Tt]ravel(?:l?ed|s)? to|[Tt]rip to|[Rr]eturned from|[Vv]isit(?:ed|ing)?|[Ff]led|[Mm]oved to)"
    r" (?:the |rural |northern |southern |eastern |western |central |downtown |a village in |a town in )*(?P<what>[A-Z][\w'’-]+(?: (?:[A-Z][\w'’-]+|de|del|la|da|do|of))*)"
)


def _capitalised(page: Page, known: list[_Place]) -> list[_Place]:
    """Capitalised names straight after "lives in" and its like, which no list and no model knows."""
    found = []
    for match in _AFTER_TRIGGER.finditer(page.text):
        start, end = match.span("what")
        if any(start < one.end and one.start < end for one in known) or _in_name(page, start, end):
            continue
        if page.lower[start:end] in ("christmas", "easter", "i", "dr", "mr", "mrs"):
            continue
        found.append(_Place(start, end, page.text[start:end], "ner"))
    return found


def _in_name(page: Page, start: int, end: int) -> bool:
    """Whether a place is only part of a name: a hospital, a disease, a doctor."""
    before, after = page.text[max(start - 40, 0) : start], page.text[end : end + 45]
    if _NAME_AFTER.match(after) or _NAME_BEFORE.search(before):
        return True
    return bool(re.match(r"-(?!born|based)\w", after))


def _whose(page: Page, people: People, start: int) -> bool:
    """Whether the clause is about the patient; "we live in …" counts the patient in."""
    return people.holder(start) == PATIENT


def _relation(page: Page, place: _Place, places: list[_Place]) -> Relation | None:
    """What ties the patient to a place: the nearest trigger before it in the sentence."""
    sentence = page.sentence_at(place.start)
    began = sentence.start
    before = page.lower[began : place.start]
    text = before
    for one in places:  # places are no triggers, and a list of them shares one
        if sentence.start <= one.start < place.start:
            text = text[: one.start - began] + " " * (one.end - one.start) + text[one.end - began :]
    last: re.Match[str] | None = None
    for found in _TRIGGER.finditer(text):
        if found.lastgroup == "abroad":
            continue
        if _DWELLING.search(found.group()) and not _IN.match(text, found.end()):
            continue
        if found.lastgroup == "from" and last and last.lastgroup in ("born", "went", "lives"):
            if found.start() - last.end() < 35:
                continue
        last = found
    if re.match(r"['’]?s?[\s-]*born\b|\s+native\b", page.lower[place.end : place.end + 8]):
        return Relation.BORN_IN
    where = re.search(r", where (?:he|she|they|i) (?:\w+ )*?(?:lives?|lived|resides?|grew up|was born)", page.lower[place.end : place.end + 40])
    if last is None or _HOSPITAL_BEFORE.search(before[last.end() :] and before):
        return None
    gap = text[last.end() :]
    if not _near(gap):
        return None
    return _of_trigger(last, gap, text, bool(where), page.lower[place.end : sentence.end])


def _near(gap: str) -> bool:
    """Whether a place can still belong to a trigger: a few words of place, time and company."""
    return len(gap) <= 75 and not re.search(
        r"\b(?:because|reports|presents|has had|complains|hospital|clinic|doctor|developed|with (?:fever|pain|diarrhea)|fever|treated|works|speaks|seen|diagnosed)\b",
        gap,
    )


def _of_trigger(
    trigger: re.Match[str], gap: str, before: str, where: bool, after: str
) -> Relation | None:
    kind, word = str(trigger.lastgroup), trigger.group().strip()
    full = before[trigger.start() :]
    to = bool(re.search(r"\b(?:to|into|in)\s+(?:the |rural |\w+ern )*\s*$", before))
    if kind == "lives":
        if re.search(r"\bused to live\b|\b(?:previously|formerly|once) (?:lived|resided)\b", before):
            return None
        if re.search(r"\blived\b", word) and not re.search(r"\b(?:has|have|had|'s|since)\b", before[-60:] + after[:30]):
            return None
        return Relation.LIVES_IN if not re.search(r"\bfrom\b", gap) else Relation.BORN_IN
    if kind == "born":
        if re.match(r"(?:moved|relocated|came|migrat|immigrat|emigrat|adopted|arrived)", word) and re.search(r"\bto\b", gap):
            return Relation.LIVES_IN
        if word.startswith(("came", "comes", "coming")) and "from" not in gap:
            return None
        if word == "left":
            return Relation.BORN_IN if re.search(r"\bleft (?:his|her|their) (?:native|home)\b", full) else None
        if word.startswith(("born", "raised", "grew", "growing", "brought", "childhood")):
            return Relation.BORN_IN if re.match(r"\s*(?:and (?:raised|brought up|bred) )?(?:abroad )?(?:in|near|on|outside|at)\b|\s*(?:\w+ )*in\b", gap) else None
        if word.startswith("arrived") and re.search(r"\bin\b", gap) and "from" not in gap:
            return Relation.LIVES_IN
        return Relation.BORN_IN if re.search(r"\bfrom\b|\bof\b|\bin\b|\bto\b", gap) or word == "fled" else None
    if kind == "went":
        if word.startswith("work") and not re.search(r"\bin\b", gap):
            return None
        if word.startswith("work") and not re.search(r"\b(?:weeks?|months?|summer|returned|recently|abroad|overseas|volunteer\w*)\b", before + after):
            return None
        if word in ("back", "been", "gone", "going", "goes", "went", "spend", "spending", "spent", "drive", "drove", "driving") and not re.search(r"\b(?:to|from|in|through|at)\b", gap):
            return None
        if word in ("dive", "fishing", "hunting", "conference", "wedding", "mission", "exchange", "funeral", "festival", "retreat") and not re.search(r"\b(?:in|to|at|near|on|from)\b", gap):
            return None
        return Relation.TRAVELED_TO
    if re.search(r"\b(?:returned|back|flew|flight|trip)\b", before[-40:]):
        return Relation.TRAVELED_TO
    near = re.search(r"\bfrom (?:the )?(?:\w+ern |rural |urban |a (?:\w+ )?(?:town|village|farm|suburb|city) (?:in|near|outside|of) |central |downtown |upstate |outside |near |suburban )*\s*(?:,\s*)*$", before)
    person = re.search(r"\b(?:calls?|letter|referred|transferred|scar|pain|specialist|colleague|visitor|news|relative|phoned|imported|bought)\b[^,]*from\b[^,]*$", before)
    return Relation.LIVES_IN if near and not person and not to else None


def _status(page: Page, place: _Place, relation: Relation, context: Context) -> Status | None:
    sentence = page.sentence_at(place.start)
    before = page.lower[sentence.start : place.start]
    after = page.lower[place.end : sentence.end]
    if relation is not Relation.TRAVELED_TO:
        reading = context.read(place.start, place.end)
        return None if reading.status is Status.ABSENT else Status.PRESENT
    reading = context.read(place.start, place.end)
    if _CANCELLED.search(before + after[:40]):
        return Status.ABSENT
    if reading.status is Status.ABSENT:
        return Status.ABSENT
    if re.search(r"\bask(?:s|ed)? (?:about|whether)\b", before) and not _PLANS.search(before):
        return None
    clause = before.rsplit(" but ", 1)[-1]
    if _PLANS.search(clause) or re.match(r"[^.,;]{0,30}\b(?:next (?:week|month|year|summer|winter|spring|fall|autumn)|tomorrow|in (?:two|three|\d+) (?:days|weeks|months)(?:' time)?)\b(?! ago)", after):
        return Status.PLANNED
    if reading.hypothetical:
        return None
    return Status.PRESENT


def _institutions(page: Page, people: People, places: list[_Place]) -> list[Triplet]:
    """Homes that are institutions: "lives in a nursing home"."""
    found = []
    for match in INSTITUTION.finditer(page.lower):
        sentence = page.sentence_at(match.start())
        before = page.lower[sentence.start : match.start()]
        home = re.search(
            r"\b(?:lives?|lived|living|resid\w+|stays?|staying|housed|resident of|inmate (?:of|at|in)|incarcerated|detained|moved (?:in)?to|brought (?:in )?from|transferred from|sent (?:in )?from|referred from|admitted from|comes? from|from|serving \w+ \w+ in)\b[^,;]{0,25}$",
            before,
        )
        inmate = re.match(r"['’s]*\s+(?:resident|inmate|dweller)\b", page.lower[match.end() : match.end() + 12])
        if not (home or inmate) or people.holder(match.start()) != PATIENT:
            continue
        if re.search(r"\b(?:work|visit|volunteer|return|employ)\w*\b", before[-30:]):
            continue
        near = [one for one in places if 0 <= one.start - match.end() <= 12]
        if near and re.fullmatch(r"\s*(?:in|near|outside|at|,)\s+(?:\w+ern )?", page.lower[match.end() : near[0].start]):
            continue  # the town says more: "a dormitory in Austin"
        span = Span(*match.span("what"))
        text = page.text[span.start : span.end]
        found.append(
            Triplet(Relation.LIVES_IN, text.lower(), Status.PRESENT, span, text, "institution")
        )
    return found


def _demonyms(page: Page, parts: list[Piece], people: People) -> list[Triplet]:
    """ "A Brazilian man", "she is Somali": an origin, given as the country."""
    found = []
    for entry in listed(page, parts, "demonyms"):
        words = page.words[entry.first : entry.last]
        start, end = words[0].start, words[-1].end
        if not words[0].text[:1].isupper() or words[-1].lower in _RACIAL:
            continue
        if not _of_patient(page, people, entry.first, entry.last):
            continue
        value = entry.term.tags.get("country", entry.term.name)
        found.append(
            Triplet(
                Relation.BORN_IN, value, Status.PRESENT, Span(start, end), page.text[start:end], "demonym"
            )
        )
    return found


def _of_patient(page: Page, people: People, first: int, last: int) -> bool:
    if people.holder(page.words[first].start) != PATIENT:
        return False
    after = page.words[last : last + 4]
    for offset, word in enumerate(after):
        person = people.at(last + offset)
        if person is not None:
            return person.who == PATIENT
        if word.lower in _NATIONAL:
            return True
        if not word.tag.startswith(("JJ", "NN", "VB", "CD", "HYPH")) and word.text != "-":
            break
    before = [word.lower for word in page.words[max(first - 3, 0) : first]]
    closes = not after or after[0].text in ".,;" or after[0].lower in ("and", "by", "but", "with", "who")
    says = before[-1:] and before[-1] in ("is", "am", "i'm", "she's", "he's", "originally", "ethnically")
    return bool(closes and says)


def _clean(found: list[Triplet]) -> list[Triplet]:
    """One triplet a relation and place."""
    seen: set[tuple[Relation, str]] = set()
    kept = []
    for triplet in found:
        key = triplet.relation, str(triplet.value).lower()
        if key not in seen:
            seen.add(key)
            kept.append(triplet)
    return kept
