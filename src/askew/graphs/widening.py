"""The words beside a finding that change what it is: "left knee pain", "a rheumatic disease"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from askew.graphs.mention import Mention, plain_text
from askew.graphs.page import Page
from askew.graphs.person_words import FEMALE_NOUNS, MALE_NOUNS, NEUTRAL_NOUNS
from askew.graphs.wordlist import word_set

_PEOPLE = FEMALE_NOUNS | MALE_NOUNS | NEUTRAL_NOUNS
# Left of a finding, these change how much of it there is, not what it is (README, rule 4).
_DEGREE = word_set(
    """
    severe mild moderate intense slight terrible horrible awful excruciating significant
    marked new recent sudden gradual acute intermittent constant persistent ongoing frequent
    occasional daily worsening increasing progressive further more less some several many few
    multiple minor major first second third last current similar other such same associated
    bad worse unbearable extreme substantial profound obvious little any additional subsequent
    prior previous past known old active recurring usual typical episodic repeated continuous
    longstanding long standing unexplained possible probable suspected likely presumed active
    underlying isolated overt classic simple concurrent concomitant subjective reported
    significant notable relevant documented new-onset only just even merely also
    """
)
_LEFT_TAGS = frozenset({"JJ", "NN", "VBN", "NNP", "JJR", "HYPH", "NNS"})
# Participles that say what a complaint is like; others are verbs ("noticing swelling").
_QUALITIES = word_set(
    """
    throbbing burning stabbing bleeding itching aching cramping shooting crushing barking
    whooping wheezing squeezing radiating tearing ripping gnawing weeping oozing spreading
    migrating recurring drenching projectile debilitating disabling pulsating blinding hacking
    bulging blistering scaling peeling swelling grinding clicking ringing sleeping
    """
)
_NO_LEFT = word_set(
    """
    day days week weeks month months year years hour hours patient man woman boy girl history
    time times episode episodes pmh hx sign signs symptom symptoms man's denies reports onset
    lot having including complaining presenting reporting developing experiencing feeling
    getting being taking following causing mother father sister brother treated untreated
    controlled diagnosed presents w w/ x no old year-old morning evening today yesterday ago
    male female age pt noticed positive negative his her given due risk had has have been felt feels
    brought non endorses endorsed complains complained notes noted admits describes described
    experiences
    """
)
# Parts of the body in the places where a complaint is said to be.
_WHERE = re.compile(
    r"\s+(?:in|of|on|over|at|around|under|behind|between|near|across|inside|down|from|to|along)"
    r"\s+(?:(?:the|his|her|their|my|both|one|either|all|a)\s+)?"
    r"(?:(?:left|right|upper|lower|back of the|front of the|side of the|inner|outer|"
    r"whole|entire|top of the|bottom of the|small of the|base of the)\s+)*"
    r"(?:(?:his|her|their|my|the)\s+)?"
    r"(?P<part>head|face|scalp|forehead|eyes?|eyelids?|ears?|nose|mouth|lips?|tongue|"
    r"gums?|jaw|throat|neck|shoulders?|arms?|"
    r"forearms?|elbows?|wrists?|hands?|fingers?|fingertips?|thumbs?|chest|breasts?|"
    r"nipples?|ribs?|back|spine|flanks?|side|abdomen|belly|"
    r"stomach|tummy|groin|pelvis|hips?|buttocks?|thighs?|legs?|knees?|calf|calves|"
    r"shins?|ankles?|heels?|foot|feet|toes?|"
    r"soles?|palms?|joints?|muscles?|bones?|skin|limbs?|extremit(?:y|ies)|armpits?|"
    r"testicles?|scrotum|penis|vagina|vulva|rectum|anus|"
    r"body|trunk|temples?|cheeks?|chin|nails?|hair|bladder|kidneys?|lungs?|heart|urine|"
    r"stools?|sputum|vomit|semen|saliva|knuckles?|"
    r"quadrant|lymph nodes?|glands?|teeth|tooth|molars?|collarbone|sternum|epigastrium|"
    r"perineum|genitals?|torso)\b"
)

_HEADS = word_set(
    """
    disease disorder syndrome cancer carcinoma failure deficiency fracture fractures sprain
    infection infections dystrophy palsy anemia anaemia tumor tumour tumors hepatitis
    arthritis pneumonia embolism thrombosis insufficiency stenosis aneurysm hernia cyst cysts
    abscess neuropathy cardiomyopathy leukemia lymphoma fibrosis sclerosis neuralgia diabetes
    malformation poisoning toxicity withdrawal dislocation tear rupture ulcer ulcers dementia
    epilepsy phenomenon attack effusion fever virus dermatitis cirrhosis fistula obstruction
    """
)
_NAMED_ONLY = frozenset(["fever", "virus"])  # diseases only behind a name: "Ross River fever"
_NO_DISEASE_OF = word_set(
    """
    treatment school contraceptive device heart's any this that such rare other another
    disease panic immune drug surgical wound sexually foodborne serious known respiratory's
    """
)


def headed(page: Page) -> Iterator[Mention]:
    """Diagnoses by their last word: "a rheumatic disease", "Ross River fever"."""
    for index, word in enumerate(page.words):
        if word.lower not in _HEADS:
            continue
        first = index
        while first > 0 and _modifies(page, first - 1, named=word.lower in _NAMED_ONLY):
            first -= 1
        if first < index:
            start = page.words[first].start
            text = " ".join(page.text[start : word.end].split())
            cased = any(part.text[:1].isupper() for part in page.words[first + 1 : index])
            named = cased or page.words[first].tag.startswith("NNP")
            yield Mention(
                start, word.end, "condition", text if named else text.lower(), ("template",)
            )


def _modifies(page: Page, index: int, *, named: bool) -> bool:
    word = page.words[index]
    if word.text == "-":
        return True
    if named and not word.text[:1].isupper():
        return False
    return (
        word.tag in ("JJ", "NN", "NNP", "VBN", "POS")
        and word.lower not in _NO_LEFT | _DEGREE | _NO_DISEASE_OF | _PEOPLE
        and word.lower.replace("'s", "").isalpha()
    )


def widened(page: Page, mention: Mention, others: list[Mention]) -> Mention:
    """The mention with the words beside it that change its clinical meaning."""
    if mention.kind == "medication" or mention.value.lower() != plain_text(
        page.text[mention.start : mention.end]
    ):
        return mention  # what was turned into a term's name has no neighbours
    start = _left(page, mention, others)
    end = mention.end
    if mention.kind == "symptom":
        where = _WHERE.match(page.lower, mention.end)
        if where and not any(mention.end <= one.start < where.end() for one in others):
            end = where.end()
    if (start, end) == (mention.start, mention.end):
        return mention
    text = " ".join(page.text[start:end].split())
    value = text if any(letter.isupper() for letter in mention.value) else text.lower()
    return replace(mention, start=start, end=end, value=value)


def _left(page: Page, mention: Mention, others: list[Mention]) -> int:
    words = page.words
    index = page.word_at(mention.start)
    sentence = page.sentence_at(mention.start)
    start = mention.start
    while index > sentence.first:
        word = words[index - 1]
        if any(one.start <= word.start < one.end for one in others if one is not mention):
            break
        low = word.lower
        joined = word.text in ("-", "‑") and words[index].start == word.end
        if not joined and (
            (word.tag not in _LEFT_TAGS and low not in _QUALITIES)
            or low in _NO_LEFT | _PEOPLE
            or low in _DEGREE
            or not low.replace("-", "").isalpha()
            or low.endswith(("'s", "’s"))
        ):
            break
        if word.tag == "NNP" and word.text[:1].isupper() and index - 1 != sentence.first:
            break
        index -= 1
        if not joined:
            start = word.start
    return start
