"""What is no triplet and yet limits which age, gender or race a twin may have."""

from __future__ import annotations

import re

from askew.graphs.context import Context
from askew.graphs.lexicon import Piece, listed
from askew.graphs.page import Page
from askew.graphs.people import People
from askew.graphs.person_words import OTHER, PATIENT
from askew.vignettes import Cue, Span, Status

# kind, normalised value, wording; the holder must be the patient.
_WORDINGS: tuple[tuple[str, str, re.Pattern[str]], ...] = tuple(
    (kind, value, re.compile(pattern))
    for kind, value, pattern in (
        (
            "pregnancy",
            "pregnant",
            r"\bpregnant\b|\b\d+\s*(?:\+\s*\d\s*)?(?:weeks?|wks?)['’]?s? (?:of "
            r")?(?:gestation|pregnan\w+)\b|\bher (?:\w+ )?pregnancy\b|\b(?:first|second|"
            r"third) trimester\b|\b\d+ months pregnant\b|\bexpecting (?:a|her|twins)\b|"
            r"\bantenatal\b|\bprenatal (?:visit|care)\b|\bgravid\b|\bin (?:active "
            r")?labou?r\b",
        ),
        (
            "obstetric_history",
            "gravida",
            r"\bg\d+\s?p\d+\w*\b|\bgravida \w+\b|\bprimi(?:gravida|para)\b|"
            r"\bmulti(?:gravida|para)\b|\bnulli(?:gravida|para)\w*\b|\bpara \d\b|"
            r"\bg\d+\b",
        ),
        (
            "obstetric_history",
            "miscarriage",
            r"\bmiscarriages?\b|\bmiscarried\b|\bstillbirths?\b|\bspontaneous "
            r"abortions?\b|\babortions?\b|\bectopic pregnanc\w+\b",
        ),
        (
            "obstetric_history",
            "gave birth",
            r"\bpost-?\s?partum\b|\bgave birth\b|\b(?:vaginal|cesarean|caesarean) "
            r"(?:delivery|section)\b|\bc-section\b|\bdelivered (?:a|her|twins)\b|"
            r"\bbreast-?\s?feed(?:s|ing)\b|\blactating\b|\b(?:first|second|third|"
            r"previous|last|prior) pregnanc(?:y|ies)\b|\bpre-?eclampsia\b|\bnursing "
            r"(?:her|mother)\b",
        ),
        (
            "menstruation",
            "menstruation",
            r"\b(?:last )?menstrual (?:period|cycle|bleeding)s?\b|\bmenses\b|"
            r"\bmenstruat\w+\b|\blmp\b|\b(?:her|heavy|irregular|missed|painful) "
            r"periods?\b|\bmenarche\b|\bmenorrhagia\b|\bamenorrh\w+\b|\bdysmenorrh\w+\b",
        ),
        (
            "life_event",
            "menopause",
            r"\b(?:post|peri)?-?\s?menopaus\w+\b|\bhot flash(?:es)?\b|\bhot flush(?:es)?\b",
        ),
        (
            "organ",
            "uterus",
            r"\buter(?:us|ine)\b|\bwomb\b|\bhysterectomy\b|\bendometri\w+\b|\bfibroids?\b",
        ),
        (
            "organ",
            "ovary",
            r"\bovar(?:y|ies|ian)\b|\boophorectomy\b|\bpolycystic ovar\w+\b|\bpcos\b",
        ),
        (
            "organ",
            "cervix",
            r"\bcervix\b|\bcervical (?:cancer|smear|dysplasia|screening|discharge|"
            r"motion)\b|\bpap (?:smear|test)\b",
        ),
        (
            "organ",
            "vagina",
            r"\bvagin(?:a|al|itis)\w*\b|\bvulv\w+\b|\bclitor\w+\b|\bbartholin\w*\b",
        ),
        ("organ", "prostate", r"\bprostat\w+\b|\bbph\b|\bpsa\b"),
        (
            "organ",
            "testis",
            r"\btestic\w+\b|\btest(?:is|es)\b|\bscrot\w+\b|\bepididym\w+\b|\borchi\w+\b|"
            r"\bvaricocele\b|\bhydrocele\b",
        ),
        (
            "organ",
            "penis",
            r"\bpenis\b|\bpenile\b|\berectile\b|\berections?\b|\bpriapism\b|"
            r"\bphimosis\b|\bforeskin\b|\bcircumcis\w+\b|\bvasectomy\b|\bejaculat\w+\b",
        ),
        ("life_event", "retired", r"\bretired?\b|\bretirement\b|\bpensioner\b|\bretiree\b"),
        ("life_event", "widowed", r"\bwidow(?:er|ed)?\b"),
        (
            "life_event",
            "married",
            r"\b(?:his|her|their) (?:wife|husband|spouse|ex-wife|ex-husband)\b|\bmy "
            r"(?:wife|husband)\b|\bmarried\b|\bdivorced\b|\bmarriage\b|\bhoneymoon\b|"
            r"\bfianc[ée]+\b|\bengaged to\b",
        ),
        (
            "life_event",
            "has children",
            r"\b(?:his|her|my) (?:\w+[\s-]){0,3}(?:sons?|daughters?|children|kids|"
            r"child)\b|\b(?:mother|father|parent) of (?:\w+)\b|\b(?:two|three|four|five|"
            r"several) (?:children|kids)\b",
        ),
        (
            "life_event",
            "has grandchildren",
            r"\bgrand(?:son|daughter|child|children|sons|daughters|kids)s?\b|\bgreat-grand\w+\b",
        ),
        (
            "life_event",
            "primary school",
            r"\b(?:primary|elementary|grade|nursery|infant) school\b|"
            r"\bkindergarten\w*\b|\bpre-?school\w*\b|\b(?:first|second|third|fourth|"
            r"fifth)[\s-](?:grade|grader)\b|\bday ?care\b|\bplay ?group\b|\bnursery\b|"
            r"\bcreche\b",
        ),
        (
            "life_event",
            "school",
            r"\b(?:at|in|from|missed|missing|off|attends|starting) school\b|"
            r"\bschool(?:child|boy|girl|mates?)\w*\b|\b(?:middle|high|secondary|junior "
            r"high) school\b|\b(?:sixth|seventh|eighth|ninth|tenth|eleventh|"
            r"twelfth)[\s-](?:grade|grader)\b|\bclassmates?\b|\b(?:his|her) class\b",
        ),
        (
            "life_event",
            "university",
            r"\b(?:college|university|graduate|medical|law|phd|doctoral|undergraduate|"
            r"master's) (?:student|freshman|sophomore|junior|senior|athlete)\b|"
            r"\bcollege\b|\bundergraduate\b|\bdormitory\b|\bdorm\b|\bat university\b",
        ),
        (
            "life_event",
            "driving",
            r"\b(?:drives|driving|drove) (?:a|his|her|their|to|home|the|herself|"
            r"himself)\b|\bdriver\b|\b(?:was|while) driving\b|\bdriving licen[cs]e\b",
        ),
        ("life_event", "prison", r"\bprison\w*\b|\bjail\b|\bincarcerat\w+\b|\binmate\b|\bparole\b"),
        (
            "life_event",
            "military",
            r"\bveteran\b|\bsoldier\b|\bmarine corps\b|\bnavy\b|\barmy\b|\bdeploy(?:ed|"
            r"ment)\b|\bmilitary\b|\bmilitary service\b|\bactive[\s-]duty\b|\brecruit\b",
        ),
        (
            "life_event",
            "work",
            r"\bworks? (?:as|at|in|for|nights|on|from|with|part|full|long|two|the|night|"
            r"shifts?)\b|\bat work\b|\bemployed\b|\b(?:his|her|their|my) (?:job|work|"
            r"workplace|office|boss|coworkers?|colleagues?|employer)\b|\bunemployed\b|"
            r"\blaid off\b|\bday ?shift\b|\bnight ?shifts?\b|\bowns a\b|\bruns a \w+ "
            r"(?:shop|business|company)\b",
        ),
        (
            "life_event",
            "alcohol",
            r"\b(?:drinks?|drinking) (?:\w+ )*?(?:alcohol|beers?|wine|vodka|"
            r"whisk(?:e)?y|spirits|heavily|daily|socially|units|drinks)\b|\balcohol "
            r"(?:use|abuse|dependence|intake|consumption)\b|\bbinge drink\w+\b|"
            r"\balcoholi\w+\b|\bheavy drinker\b",
        ),
        ("life_event", "smoking", r"\bsmok(?:es|ed|er|ing)\b|\bpack[\s-]years?\b|\bcigarettes?\b"),
        (
            "life_event",
            "sexually active",
            r"\bsexually active\b|\bsexual (?:partners?|intercourse|contact)\b|"
            r"\bunprotected sex\b|\bcondoms?\b|\bcontracepti\w+\b|\bbirth control\b|"
            r"\bthe pill\b|\biud\b",
        ),
        (
            "life_event",
            "care home",
            r"\bnursing home\b|\bcare home\b|\bretirement (?:home|community|village)\b|"
            r"\bassisted living\b|\bresidential home\b",
        ),
        (
            "life_event",
            "infancy",
            r"\bborn at (?:\d+|\w+|term|home)\b|\b(?:born|delivered) (?:at term|"
            r"prematurely|preterm|full[\s-]term)\b|\b(?:breast|bottle|"
            r"formula)[\s-]?fed\b|\bfeeding (?:well|poorly)\b|\b(?:wet )?(?:diapers?|"
            r"nappy|nappies)\b|\bapgar\b|\bmilestones\b|\bbirth ?weight\b|\bnewborn\b|"
            r"\bneonat\w+\b|\bteething\b|\bwell-child\b|\bweaned from breast\b|\bpoor "
            r"feeding\b",
        ),
        (
            "life_event",
            "childhood",
            r"\b(?:his|her|the) (?:mother|father|mom|mum|dad|parents|grandmother|foster "
            r"\w+|guardian)(?: \w+)? (?:brings?|brought|reports?|says|states|notes|"
            r"noticed|noted|were told|was told|denies|are worried|is worried|carried|"
            r"gave|gives)\b|\bbrought (?:in )?(?:to [\w\s'’]{2,40} )?by (?:his|her|the|"
            r"their) (?:mother|father|mom|mum|dad|parents|grandmother|guardian)\b|"
            r"\b(?:mother|father|parents?|mum|mom) brings? (?:his|her|their)\b|"
            r"\bplayground\b|\btoddlers?\b|\btantrums?\b|\bp[a]?ediatrician\b|\bcarer? "
            r"of the child\b",
        ),
        ("life_event", "puberty", r"\bpubert\w+\b|\btanner stage\b|\bgrowth spurt\b"),
    )
)
_SINCE = re.compile(
    r"\b(?:since|in|until) (?P<year>(?:19|20)\d\d)\b|\b(?:for|over|past|last) (?:the "
    r")?(?:past |last |more than |almost |nearly )*(?P<years>\d{1,2}|ten|fifteen|twenty|"
    r"thirty|forty|fifty) years\b|\b(?P<ago>\d{1,2}|two|three|four|five|six|seven|eight|"
    r"nine|ten|twelve|fifteen|twenty|thirty|forty) years ago\b|"
    r"\b(?P<pack>\d{1,3})[\s-]pack[\s-]years?\b"
)
_AT_AGE = re.compile(
    r"\b(?:at(?: the)? age(?: of)?|at|when (?:he|she|they|i) (?:was|were)|since(?: "
    r"the)? age(?: of)?) (?P<age>\d{1,2})(?! weeks| hours|:|\s*(?:am|pm|%|mg|days|"
    r"months|minutes|mmhg|/|kg|o'clock))\b(?!\.\d)"
)
_SIDE_AGE = re.compile(
    r"\b(?:sons?|daughters?|child|grandson|granddaughter|i'm|i am|"
    r"i’m)\b[^.;]{0,20}?\b(?P<age>\d{1,2})\b"
)


def find(page: Page, parts: list[Piece], people: People, context: Context) -> list[Cue]:
    """Every cue about the patient, in the order of the text."""
    found = [*_worded(page, people, context), *_races(page, parts, people)]
    found += [*_occupations(page, parts, people, context), *_times(page, people)]
    found += _informants(page, people)
    unique = {(cue.kind, cue.value, cue.span): cue for cue in found}
    return sorted(unique.values(), key=lambda cue: (cue.span, cue.kind, cue.value))


def _worded(page: Page, people: People, context: Context) -> list[Cue]:
    found = []
    for kind, value, pattern in _WORDINGS:
        for match in pattern.finditer(page.lower):
            start, end = match.span()
            own = kind == "life_event" and value in (
                "married",
                "has children",
                "childhood",
                "has grandchildren",
            )
            if not own and people.holder(start) != PATIENT:
                continue
            reading = context.read(start, end)
            if reading.hypothetical and kind not in ("organ",):
                continue
            found.append(Cue(kind, value, reading.status, Span(start, end), f"{kind}_wording"))
    return found


def _races(page: Page, parts: list[Piece], people: People) -> list[Cue]:
    """Race and ancestry of the patient, by the name of the list."""
    found = []
    for entry in listed(page, parts, "races"):
        words = page.words[entry.first : entry.last]
        start, end = words[0].start, words[-1].end
        if people.holder(start) != PATIENT:
            continue
        if not words[0].text[:1].isupper() and words[0].lower in (
            "black",
            "white",
            "mixed",
            "roma",
        ):
            after = page.words[entry.last : entry.last + 4]
            if not any(people.is_patient(entry.last + step) for step in range(len(after))):
                continue
        if not _of_person(page, people, entry.first, entry.last, guarded=entry.guarded):
            continue
        value = entry.term.tags.get("group", entry.term.name).lower()
        found.append(Cue("race", value, Status.PRESENT, Span(start, end), "race_list"))
    return found


def _of_person(page: Page, people: People, first: int, last: int, *, guarded: bool) -> bool:
    """Whether a wording of race is said of the patient and not of a rash or a stool."""
    if any(people.at(place) is not None for place in range(first, last)):
        return True
    for place in range(last, min(last + 5, len(page.words))):
        person = people.at(place)
        if person is not None:
            return person.who == PATIENT
        word = page.words[place]
        if word.lower in (
            "descent",
            "origin",
            "ancestry",
            "heritage",
            "ethnicity",
            "background",
            "race",
        ):
            return True
        if not word.tag.startswith(("JJ", "NN", "CD", "HYPH", "VB")) and word.text != "-":
            break
    before = [word.lower for word in page.words[max(first - 4, 0) : first]]
    if {"race", "ethnicity", "identifies"} & set(before):
        return True
    return not guarded or before[-1:] in (["is"], ["am"])


def _occupations(page: Page, parts: list[Piece], people: People, context: Context) -> list[Cue]:
    found = []
    for entry in listed(page, parts, "occupations"):
        words = page.words[entry.first : entry.last]
        start, end = words[0].start, words[-1].end
        person = people.at(entry.last - 1)
        if entry.term.name == "retired":
            continue  # an event of life, not a job
        if people.holder(start) != PATIENT or (person is not None and person.who == OTHER):
            continue
        before = page.lower[max(start - 30, 0) : start]
        if not _works(before, person is not None and person.who == PATIENT, page, entry.last):
            continue
        status = context.read(start, end).status
        found.append(
            Cue("occupation", entry.term.name, status, Span(start, end), "occupation_list")
        )
    return found


def _works(before: str, is_patient: bool, page: Page, last: int) -> bool:
    """Whether a word for a job is the patient's, not that of whom the patient meets."""
    if is_patient:
        return True
    said = re.search(
        r"\b(?:is|was|as|am|i'm|i’m|retired|former|works as|worked as|became|being|a|an|"
        r"old)\s+(?:an?\s+)?(?:[\w-]+\s+){0,2}$",
        before,
    )
    met = re.search(
        r"\b(?:by|to|from|with|the|his|her|their|my|sees?|saw|seen)\s+(?:an?\s+)?(?:[\w-]+\s+)?$",
        before,
    )
    return bool(said and not met)


def _times(page: Page, people: People) -> list[Cue]:
    """Durations and years that bound the age from below."""
    found = []
    for match in _SINCE.finditer(page.lower):
        if people.holder(match.start()) != PATIENT:
            continue
        kind = next(name for name, text in match.groupdict().items() if text)
        names = {"year": "year", "years": "years", "ago": "years", "pack": "pack_years"}
        found.append(
            Cue(
                "duration",
                f"{names[kind]}={match[kind]}",
                Status.PRESENT,
                Span(*match.span()),
                "time",
            )
        )
    found += [
        Cue("age_at_event", match["age"], Status.PAST, Span(*match.span()), "age_at_event")
        for match in _AT_AGE.finditer(page.lower)
        if people.holder(match.start()) == PATIENT
    ]
    found += [
        Cue("age_of_child", match["age"], Status.PRESENT, Span(*match.span()), "age_of_child")
        for match in _SIDE_AGE.finditer(page.lower)
    ]
    return found


def _informants(page: Page, people: People) -> list[Cue]:
    """Everybody else in the text: a wife of 68 limits the husband's age."""
    found = []
    for person in people.mentions:
        if person.who in (PATIENT, "noun"):
            continue
        words = page.words[person.first : person.last]
        span = Span(words[0].start, words[-1].end)
        name = " ".join(word.lower for word in words)
        found.append(Cue("person", name, Status.PRESENT, span, "relative_list"))
    return found
