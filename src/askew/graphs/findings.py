"""Complaints, diagnoses and drugs as facts: whose they are, and whether and when they hold."""

from __future__ import annotations

import re
from itertools import pairwise

from askew.graphs import drugs
from askew.graphs.context import Context, Reading
from askew.graphs.histories import when
from askew.graphs.mention import Mention
from askew.graphs.page import Page
from askew.graphs.people import People
from askew.graphs.person_words import ANY, OTHER, PATIENT, Person
from askew.graphs.rules import RuleSet, relevance
from askew.vignettes import Relation, Span, Status, Triplet

_CONTAGIOUS = re.compile(
    r"\b(?:flu|influenza|cold|chicken\s?pox|varicella|measles|mumps|rubella|"
    r"gastroenteritis|covid\S*|strep\w*|scabies|lice|norovirus|food poisoning|croup|"
    r"bronchiolitis|hand,? foot|pertussis|whooping cough|upper respiratory|common cold|"
    r"impetigo|ringworm|conjunctivitis|mono|mononucleosis|malaria|cholera|dengue|"
    r"typhoid|meningitis|rsv|pinworms?|stomach bug|infection|pregnancy|injury|sprain|"
    r"concussion)\b"
)
_RELATIVE_AFTER = re.compile(
    r"^(?:\s*(?:,|and|or|in|at|age|aged|\d+|\(|both|early|onset|of|on|the|his|her|their|"
    r"my|patient's|for|several|two|three|multiple|all|one|many|a|among|affecting|paternal|maternal|"
    r"older|younger|elder|eldest|late)\b|"
    r"\s*[,(:–-]|\s*['’]s)*\s*$"
)
_CONJOINED = re.compile(
    r"\s*(?:,|,? and|&)\s+(?:(?:his|her|their|my|both|maternal|paternal|older|younger|elder|late|"
    r"also|the)\s+)*"
)
# "Born at 37 weeks to a 33-year-old with …": the mother, who has no noun.
_BORN_TO = re.compile(
    r"\b(?:born|delivered)\b[^.;]{0,60}?\b(?:to|by) an? (?:[\w-]+ )?[\w-]+[\s-](?:year|"
    r"yr)s?[\s-]old $"
)
_SEEDED = re.compile(r"\b(?:in|among|affecting)\b|\(")


class Finder:
    """Turns the mentions of one text into triplets."""

    def __init__(
        self, page: Page, people: People, found: list[Mention], context: Context, rules: RuleSet
    ) -> None:
        self.page = page
        self.people = people
        self.found = found
        self.context = context
        self.rules = rules
        self.drugs = [(one.start, one.end) for one in found if one.kind == "medication"]

    def triplets(self) -> list[tuple[Triplet, tuple[str, ...]]]:
        """Each mention as a triplet, with the patterns that fired for and against it."""
        made: list[tuple[Triplet, tuple[str, ...]]] = []
        seen: set[tuple[str, Relation, Status, str | None]] = set()
        allergens = drugs.substances(self.page) if "drug_status" in self.rules else []
        for mention in self.found:
            if mention.kind != "medication" and any(
                start < mention.end and mention.start < end and self.people.holder(start) == PATIENT
                for start, end in allergens
            ):
                continue  # "allergic to bee stings"
            for triplet, fired in self._of(mention):
                # "HIV/AIDS … HIV": one term in two wordings is one fact.
                key = (mention.name, triplet.relation, triplet.status, triplet.relative)
                if mention.name and key in seen:
                    continue
                if relevance(fired) > self.rules.theta:
                    seen.add(key)
                made.append((triplet, fired))
        if "lists" in self.rules:
            made += self._allergens()
        return made

    def _of(self, mention: Mention) -> list[tuple[Triplet, tuple[str, ...]]]:
        reading = self._read(mention)
        fired = list(mention.fired)
        holder = self._holder(mention) if "experiencer" in self.rules else PATIENT
        if reading.hypothetical:
            fired.append("hypothetical")
        if holder == OTHER:
            fired.append("somebody_else")
        if holder not in (PATIENT, OTHER):
            return self._of_relative(mention, reading, holder, fired)
        if mention.kind == "medication":
            return [self._drug(mention, reading, fired)]
        if reading.examination and self._by_examiner(mention):
            fired.append("examination")
        if mention.kind == "symptom":
            return self._symptom(mention, reading, fired)
        return self._condition(mention, reading, fired)

    def _by_examiner(self, mention: Mention) -> bool:
        """An X-ray that shows pneumonia gives a diagnosis; what a palpation finds is none."""
        sentence = self.page.sentence_at(mention.start)
        before = self.page.lower[sentence.start : mention.start]
        device = re.search(
            r"\b(?:ct|mri|x-?\s?ray|biops\w+|scan|culture|colonoscopy|endoscopy|"
            r"ultraso\w+|echo\w*|test|tests|pcr|serolog\w+|spirometry|smear)\b",
            before,
        )
        return mention.kind == "symptom" or not device

    def _read(self, mention: Mention) -> Reading:
        if "context" not in self.rules:
            return Reading(Status.PRESENT)
        return self.context.read(mention.start, mention.end)

    def _make(
        self,
        relation: Relation,
        mention: Mention,
        status: Status,
        fired: list[str],
        relative: str | None = None,
    ) -> tuple[Triplet, tuple[str, ...]]:
        span = Span(mention.start, mention.end)
        evidence = self.page.text[mention.start : mention.end]
        triplet = Triplet(relation, mention.value, status, span, evidence, "", relative=relative)
        return triplet, tuple(fired)

    def _symptom(
        self, mention: Mention, reading: Reading, fired: list[str]
    ) -> list[tuple[Triplet, tuple[str, ...]]]:
        status = reading.status
        if "context" in self.rules:
            if "drug_status" in self.rules and drugs.is_reaction(self.page, mention.start):
                fired.append("hypothetical")
            status = when(self.page, mention, reading)
            if status is Status.POSSIBLE and not self._doubted(reading):
                status = Status.PRESENT
        return [self._make(Relation.HAS_SYMPTOM, mention, status, fired)]

    def _doubted(self, reading: Reading) -> bool:
        """Whether a complaint itself is in doubt, not only what is behind it ("evaluated for")."""
        cue = self.page.lower[slice(*reading.cue)] if reading.cue else ""
        return bool(re.search(r"possib|probab|perhaps|\b(?:may|might|could)\b|\?|suspect", cue))

    def _condition(
        self, mention: Mention, reading: Reading, fired: list[str]
    ) -> list[tuple[Triplet, tuple[str, ...]]]:
        status = when(self.page, mention, reading) if "context" in self.rules else reading.status
        return [self._make(Relation.HAS_CONDITION, mention, status, fired)]

    def _drug(
        self, mention: Mention, reading: Reading, fired: list[str]
    ) -> tuple[Triplet, tuple[str, ...]]:
        if "drug_status" not in self.rules:
            return self._make(Relation.TAKES_MEDICATION, mention, reading.status, fired)
        allergic = drugs.allergy(self.page, mention.start, mention.end)
        if allergic is not None:
            return self._make(Relation.ALLERGIC_TO, mention, allergic, fired)
        status, _ = drugs.drug_status(self.page, mention.start, mention.end, self.drugs)
        if reading.status is Status.ABSENT and status is Status.PRESENT:
            status = status if self._denies_other(mention, reading) else Status.ABSENT
        if status is Status.PLANNED and "hypothetical" in fired and not self._asked(mention):
            fired.remove("hypothetical")
        return self._make(Relation.TAKES_MEDICATION, mention, status, fired)

    def _denies_other(self, mention: Mention, reading: Reading) -> bool:
        """Whether a negation is of a complaint in between: "no fever since starting aspirin"."""
        begun = reading.cue[1] if reading.cue else mention.start
        last = max(
            (
                one.end
                for one in self.found
                if begun <= one.start < mention.start and one.kind != "medication"
            ),
            default=mention.start,
        )
        gap = self.page.lower[last : mention.start]
        return bool(re.search(r"\b(?:with|after|despite|on|since|while|when|from)\b", gap))

    def _asked(self, mention: Mention) -> bool:
        sentence = self.page.sentence_at(mention.start)
        before = self.page.lower[sentence.start : mention.start]
        return bool(
            re.search(
                r"\bask(?:s|ed|ing)? (?:about|whether|if|for)\b|\bif\b|\bwants? (?:to "
                r"know|advice)\b|\bavoid\b",
                before,
            )
        )

    def _allergens(self) -> list[tuple[Triplet, tuple[str, ...]]]:
        """What an allergy is to that is no drug: peanuts, latex, bee stings."""
        if "drug_status" not in self.rules:
            return []
        made = []
        for start, end in drugs.substances(self.page):
            if any(
                one.start < end and start < one.end
                for one in self.found
                if one.kind == "medication"
            ):
                continue
            holder = self.people.holder(start) if "experiencer" in self.rules else PATIENT
            if holder != PATIENT:
                continue
            status = drugs.allergy(self.page, start, end) or Status.PRESENT
            text = self.page.text[start:end]
            mention = Mention(start, end, "medication", text.lower(), ("allergy",))
            made.append(self._make(Relation.ALLERGIC_TO, mention, status, ["allergy"]))
        return made

    def _of_relative(
        self, mention: Mention, reading: Reading, holder: str, fired: list[str]
    ) -> list[tuple[Triplet, tuple[str, ...]]]:
        """A relative's diagnosis is family history; a relative's complaints and drugs are not."""
        contact = _CONTAGIOUS.search(mention.value.lower()) and not self._in_history(mention)
        if mention.kind != "condition" or contact:
            return [
                self._make(
                    Relation.HAS_SYMPTOM
                    if mention.kind == "symptom"
                    else Relation.TAKES_MEDICATION
                    if mention.kind == "medication"
                    else Relation.HAS_CONDITION,
                    mention,
                    reading.status,
                    [*fired, "somebody_else"],
                )
            ]
        status = Status.ABSENT if reading.status is Status.ABSENT else Status.PRESENT
        return [
            self._make(Relation.FAMILY_HISTORY, mention, status, fired, relative)
            for relative in (*self._with(mention, holder), holder)
        ]

    def _with(self, mention: Mention, holder: str) -> list[str]:
        """Whom else "his mother and brother have asthma", "cancer in his father and uncle" name."""
        people = [one for one in self.people.mentions if one.who not in (PATIENT, OTHER)]
        after = self._relative_after(mention)
        if after is not None and after.who == holder:
            at = people.index(after) if after in people else len(people)
            chain, step = people[at:], 1
        else:
            at = max(
                (at for at, one in enumerate(people) if self._end(one) <= mention.start), default=-1
            )
            if at < 0 or people[at].who != holder or not self._heads_clause(people[at]):
                return []
            chain, step = people[at::-1], -1
        found: list[str] = []
        for near, far in pairwise(chain):
            first, second = (near, far) if step > 0 else (far, near)
            gap = self.page.lower[self._end(first) : self.page.words[second.first].start]
            if not _CONJOINED.fullmatch(gap):
                break
            found.append(far.who)
        return [one for one in dict.fromkeys(found) if one != holder]

    def _end(self, person: Person) -> int:
        return self.page.words[person.last - 1].end

    def _heads_clause(self, person: Person) -> bool:
        """Whether a relative is the subject, not "in his father"."""
        return self.page.words[person.last - 1].dep in ("nsubj", "nsubjpass", "conj", "ROOT")

    def _in_history(self, mention: Mention) -> bool:
        sentence = self.page.sentence_at(mention.start)
        return "history" in self.page.lower[sentence.start : sentence.end]

    def _holder(self, mention: Mention) -> str:
        """Whose it is; "diabetes in her mother" is bound backwards."""
        who = self.people.holder(mention.start)
        bearer = self._bearer(mention)
        if bearer is not None:
            return bearer
        after = self._relative_after(mention)
        if after is not None and (who in (PATIENT, ANY) or who == after.who):
            return after.who
        if after is None and who == ANY:
            return ANY
        return who

    def _bearer(self, mention: Mention) -> str | None:
        """Whose finding "a toddler with chickenpox", "born to a mother with HIV" names."""
        words = self.page.words
        index = self.page.word_at(mention.start) - 1
        skipped = 0
        while index > 0 and skipped < 3 and words[index].tag in ("DT", "JJ", "VBN", "NN"):
            if words[index].lower == "with":
                break
            index, skipped = index - 1, skipped + 1
        if index < 1 or words[index].lower != "with":
            return None
        if _BORN_TO.search(self.page.lower, 0, words[index].start):
            return "mother"
        person = self.people.at(index - 1)
        if person is None or person.who == PATIENT:
            return None
        before = words[person.first - 1].lower if person.first else ""
        if person.who == OTHER:
            return OTHER if before != "by" else None
        return person.who if before in ("a", "to") else None

    def _relative_after(self, mention: Mention) -> Person | None:
        sentence = self.page.sentence_at(mention.start)
        for person in self.people.mentions:
            if person.first >= sentence.last:
                return None
            start = self.page.words[person.first].start
            if start < mention.end or person.who == PATIENT:
                continue
            gap = self.page.lower[mention.end : start]
            for one in self.found:  # other findings of the list say nothing
                if mention.end <= one.start and one.end <= start:
                    at = one.start - mention.end
                    gap = gap[:at] + " " * (one.end - one.start) + gap[one.end - mention.end :]
            related = _RELATIVE_AFTER.match(gap) and _SEEDED.search(gap)
            side = re.search(r"\bon (?:his|her|their|my|the) $", gap) or re.search(
                r"\bof (?:his|her|their|my) $", gap
            )
            return (
                person
                if related or (side and self.page.words[person.last - 1].lower.endswith("'s"))
                else None
            )
        return None
