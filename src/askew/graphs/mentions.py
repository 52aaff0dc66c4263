"""Where findings, diagnoses and drugs are named: term lists, endings, forms, and syntax."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from askew.graphs.complaints import complained, siblings
from askew.graphs.forms import (
    ACTING,
    ACTS,
    COMPLAINT,
    DISEASE,
    DRUG,
    INJURY,
    LIMB_SIDES,
    LIMBS,
    NO_DISEASE,
    NO_DRUG,
    PART,
    PREDICATES,
    SUBJECTS,
    TEMPLATES,
    TROUBLE,
)
from askew.graphs.lexicon import Listed, Piece, listed
from askew.graphs.mention import KINDS, Kind, Mention, plain_text
from askew.graphs.page import Page
from askew.graphs.person_words import POSSESSIVES
from askew.graphs.rules import RuleSet
from askew.graphs.terms import Term, fold, lookup
from askew.graphs.widening import headed, widened
from askew.graphs.wordlist import word_set

_TEST_AFTER = re.compile(
    r"^(?: [a-z0-9]{1,2}\b)?(?: (?:surface|core|virus|viral|igm|igg|total))*[\s-]*(?:levels?|"
    r"tests?|testing|screen(?:ing)?|"
    r"concentration|titers?|antibod\w+|antigen|vaccin\w+|immuni[sz]ation"
    r"|deficiency|prophylaxis|resistance|assay|ratio|meter|monitor(?:ing)?|clinic|ward|"
    r"unit|nurse|specialist|charity|support group|awareness|tolerance test|challenge|"
    r"patch test|swab|risk|exposure)\b"
    r"|^(?: level)?(?: (?:is|was|of))?[\s:=]*[<>]?\d+(?:[.,]\d+)*\s*(?:[mμun]?g/d?l|m?[em](?:q|"
    r"mol)/l|"
    r"[μn]mol/l|g/d?l|i?u/m?l|[np]g/ml|%|/mm)"  # a laboratory's figure
    r"|^(?:ness)? (?:to|on) (?:deep |light |physical |rectal |neurological )?(?:palpation|"
    r"percussion|"
    r"auscultation|inspection|exam(?:ination)?)\b"
    r"|^ (?:oxalate|deposits?|channels?|intake|scale|score)\b"
)
# What is taken against a complaint says nothing of the complaint: "a weight-loss supplement".
_REMEDY_AFTER = re.compile(r"[\s-](?:preparation|supplement|program|programme|regimen|diet)s?\b")


# Habits, measures and causes that the lists hold for other uses (README, rule 9).
_NEVER = frozenset(
    [
        "nerve",
        "nerves",
        "gestation",
        "allergies",
        "allergy",
        "trauma",
        "injury",
        "consumption",
        "lactation",
        "strain",
        "worry",
        "worrying",
        "worried",
        "stress",
        "stressed",
        "wind",
        "shock",
        "caffeine",
        "birth control",
        "contraception",
        "contraceptives",
        "oxygen",
        "nitrate",
        "nitrates",
        "coil",
        "eruption",
        "stimulant",
        "blue",
        "pasty",
        "spots",
        "tearing",
        "drug use",
        "o2",
        "substance use",
        "cream",
        "ointment",
        "topical cream",
        "disability",
        "lesion",
        "lesions",
        "mass",
        "clubbing",
        "cut",
        "high sugar",
    ]
)


# Abbreviations that mean something else behind these words: the emergency department, room air.
_NOT_BEFORE = {
    "ED": word_set("the to in at an our this from via into local outside through"),
    "RA": word_set("on %"),
    "PE": word_set("on the"),
    "PT": word_set("in to the with"),
    "OR": word_set("the to in"),
}


def find(page: Page, parts: list[Piece], rules: RuleSet) -> list[Mention]:
    """All mentions of a text in order, no two of which overlap."""
    found: list[Mention] = []
    if "lists" in rules:
        found += _listed(page, parts)
    if "suffixes" in rules:
        found += _by_ending(page)
    if "templates" in rules:
        found += _by_form(page)
    found = _longest(found, page)
    if "templates" in rules:
        found = _longest([*found, *_shared_heads(page, found)], page)
        found = [widened(page, mention, found) for mention in found]
    if "complaints" in rules:
        taken = [(one.start, one.end, one.kind) for one in found]
        objects = [
            Mention(start, end, kind, plain_text(page.text[start:end]), (rule,))
            for start, end, kind, rule in (*complained(page, taken), *siblings(page, taken))
        ]
        found += [one for one in objects if not any(one.overlaps(known) for known in found)]
    return [
        one
        for one in _longest(found, page)
        if not _is_tested(page, one) and page.lower[max(one.start - 4, 0) : one.start] != "non-"
    ]


def _shared_heads(page: Page, found: list[Mention]) -> Iterator[Mention]:
    """Find "muscle" of "muscle and joint pain", "breast" of "breast and ovarian cancer"."""
    for mention in found:
        words = page.between(mention.start, mention.end)
        index = page.word_at(mention.start) - 1
        if len(words) < 2 or index < 2 or page.words[index].lower not in ("and", "or", "/"):
            continue
        head, other = words[-1].lower, page.words[index - 1]
        if other.text == ",":
            other = page.words[index - 2]
        if mention.kind == "medication" or not other.lower.isalpha():
            continue
        value = f"{other.lower} {head}"
        kind = KINDS[mention.kind]
        known = fold(value) in lookup(kind)
        if known or (TROUBLE.fullmatch(head) and PART.fullmatch(other.lower)):
            yield Mention(other.start, other.end, mention.kind, value, ("template",))


_ALLERGIES = re.compile(r"(?:(?:drug|medication|known) )*allerg(?:y|ies)")


def _is_tested(page: Page, mention: Mention) -> bool:
    """Whether it is only the name of a test, a vaccine or a level; a pregnancy test says more."""
    if _ALLERGIES.fullmatch(mention.value.lower()):
        return True  # what the allergy is to is a fact of its own
    after = page.lower[mention.end : mention.end + 30]
    if mention.kind == "symptom" and _REMEDY_AFTER.match(after):
        return True
    return mention.name != "pregnancy" and bool(_TEST_AFTER.match(after))


def _listed(page: Page, parts: list[Piece]) -> Iterator[Mention]:
    for kind, name in KINDS.items():
        for entry in listed(page, parts, name):
            if entry.guarded and not _stands(page, entry):
                continue
            yield from _both(page, _of_entry(page, entry, kind), kind)


def _both(page: Page, mention: Mention, kind: Kind) -> Iterator[Mention]:
    """The two findings of "nausea and vomiting", "N/V"."""
    first, _, second = mention.name.partition(" and ")
    known = lookup(KINDS[kind])
    text = page.lower[mention.start : mention.end]
    marks = re.fullmatch(r"(\w+)(?:\s*(?:/|&|and)\s*)(\w+)", text)
    if not marks or not second or first not in known or second not in known:
        yield mention
        return
    at = mention.start
    yield replace(mention, end=at + marks.end(1), value=first, name=first)
    yield replace(mention, start=at + marks.start(2), value=second, name=second)


def _of_entry(page: Page, entry: Listed, kind: Kind) -> Mention:
    words = page.words[entry.first : entry.last]
    start, end = words[0].start, words[-1].end
    text = " ".join(page.text[start:end].split())
    head = words[-1]
    if entry.term.name == "pregnancy":  # said in many ways, and one fact
        return Mention(start, end, kind, "pregnancy", ("list",), "pregnancy")
    # "muscle aches" is a noun however it is tagged, "my head aches" is none.
    owned = bool(entry.first) and page.words[entry.first - 1].lower in POSSESSIVES
    plural = head.lower in ("aches", "cramps", "spasms", "sweats", "pains") and not owned
    noun = any(word.tag.startswith("NN") for word in words) and (
        plural or not head.tag.startswith(("VBD", "VBZ"))
    )
    # "Shuffling" stays, "coughing" is a cough.
    ing = len(words) == 1 and head.tag == "VBG"
    noun = noun or (ing and head.lower[:4] != entry.term.name[:4])
    noun = noun and words[-1].text not in ("CA", "Ca")
    abbreviation = len(text) <= 5 and sum(letter.isupper() for letter in text) >= 2
    expands = abbreviation and kind != "medication"
    spelled = _expansion(text, entry.term) if expands else entry.term.name
    value = text if noun and not abbreviation else spelled
    if value is text:
        value = _cased(text, entry.term.name)
    rule = "guarded" if entry.guarded else "list"
    return Mention(start, end, kind, value, (rule,), entry.term.name)


def _cased(text: str, name: str) -> str:
    """The text without the capital of a sentence; names and abbreviations keep theirs."""
    if any(letter.isupper() for letter in name):  # "Raynaud phenomenon"
        return text
    return " ".join(one if one.isupper() and len(one) > 1 else one.lower() for one in text.split())


def _expansion(abbreviation: str, term: Term) -> str:
    """The wording of a term that an abbreviation is short for, else the term's name.

    "DOE" is "dyspnea on exertion" although the list calls it "exertional dyspnea".
    """
    letters = re.sub(r"[^a-z]", "", abbreviation.lower())
    spells = re.compile(".*".join(letters))
    if spells.match(term.name.lower()):
        return term.name
    for wording in term.wordings:
        initials = "".join(part[0] for part in re.findall(r"[a-z]+", wording.lower()))
        if initials == letters:
            return wording
    return next((one for one in term.wordings if one.islower() and spells.match(one)), term.name)


def _stands(page: Page, entry: Listed) -> bool:
    """Whether a wording that also means something else means the term here."""
    words = page.words[entry.first : entry.last]
    text = page.text[words[0].start : words[-1].end]
    if text.lower() in _NEVER:
        return False
    if text.isupper() and len(text) > 1:
        before = page.words[entry.first - 1].lower if entry.first else ""
        return before not in _NOT_BEFORE.get(text, ())
    if len(words) > 1:
        return True
    word = words[0]
    after = page.words[entry.last] if entry.last < len(page.words) else None
    if word.tag.startswith("JJ") or word.tag in ("VBN", "RB", "VBD"):
        return after is None or not after.tag.startswith(("NN", "JJ"))
    if word.tag.startswith("V"):
        return word.lower.endswith("ing") or (
            after is None or after.lower not in ("asleep", "ill", "on", "into", "under", "to")
        )
    return after is None or not (
        word.lower in ("cold", "cut", "corn") and after.tag.startswith("NN")
    )


def _by_ending(page: Page) -> Iterator[Mention]:
    for word in page.words:
        if len(word.lower) < 6 or not word.lower.isalpha():
            continue
        if word.text[0].isupper() and word.start != page.sentence_at(word.start).start:
            continue  # a name: "Tasmania"
        if DISEASE.search(word.lower) and word.lower not in NO_DISEASE:
            kind: Kind = "symptom" if COMPLAINT.search(word.lower) else "condition"
            yield Mention(word.start, word.end, kind, word.lower, ("suffix",))
        elif DRUG.search(word.lower) and word.lower not in NO_DRUG:
            yield Mention(word.start, word.end, "medication", word.lower, ("suffix",))


_POSSESSED = re.compile(r"(?:(?:my|his|her|their|the|one)\s+)+")


def _by_form(page: Page) -> Iterator[Mention]:
    for pattern in TEMPLATES:
        for found in pattern.finditer(page.lower):
            start, end = found.span("what")
            if possessed := _POSSESSED.match(found["what"]):
                start += possessed.end()
            yield Mention(start, end, "symptom", plain_text(page.text[start:end]), ("template",))
    for found in SUBJECTS.finditer(page.lower):
        value = f"{found['state']} {found['part']}"
        yield Mention(*found.span(), "symptom", value, ("template",))
    for found in ACTING.finditer(page.lower):
        noun = next(name for verb, name in ACTS if found["verb"].startswith(verb))
        yield Mention(*found.span(), "symptom", f"{found['part']} {noun}", ("template",))
    for found in LIMBS.finditer(page.text):
        limb = "lower" if found["limb"] == "L" else "upper"
        value = f"{LIMB_SIDES[found['side']]}{limb} extremity {found['trouble']}"
        yield Mention(*found.span(), "symptom", value, ("template",))
    for found in INJURY.finditer(page.lower):
        yield Mention(*found.span(), "condition", found.group(), ("template",))
    yield from headed(page)
    for pattern, name in PREDICATES:
        for found in pattern.finditer(page.lower):
            span = found.span("what") if "what" in pattern.groupindex else found.span()
            yield Mention(*span, "symptom", name, ("predicate",))


_DIAGNOSES = re.compile(
    r"\b(?:history of|hx|h/o|pmhx?|diagnos\w+|known|treated for|for|has|with|medical "
    r"history|suffers from|possible|suspected|likely|comorbid\w*)\b[^.;]{0,25}$"
)
_COMPLAINT = re.compile(
    r"\b(?:den\w+|no|without|reports?|presents?|presenting|complain\w*|c/o|p/w|feels?|"
    r"endorses|due to)\b[^.;]{0,40}$"
)


def _is_diagnosis(page: Page, mention: Mention) -> bool:
    """Whether a wording that is in both lists stands where a diagnosis would."""
    before = page.lower[page.sentence_at(mention.start).start : mention.start]
    return bool(_DIAGNOSES.search(before)) and not _COMPLAINT.search(before)


def _longest(found: list[Mention], page: Page) -> list[Mention]:
    """Of mentions that overlap, the longest; of equals, what fits the place, then the surest."""
    order = {"list": 0, "guarded": 1, "predicate": 2, "template": 3, "suffix": 4}

    def unfit(one: Mention) -> int:
        if one.kind == "medication":
            return 1
        return 0 if _is_diagnosis(page, one) is (one.kind == "condition") else 2

    ranked = sorted(
        found,
        key=lambda one: (
            one.start - one.end,
            order.get(one.fired[0], 5) if one.fired[0] != "guarded" else 0,
            unfit(one),
            one.start,
        ),
    )
    kept: list[Mention] = []
    for mention in ranked:
        if not any(mention.overlaps(other) for other in kept):
            kept.append(mention)
    return sorted(kept, key=lambda one: one.start)
