"""medspaCy's target matcher and ConText as an extractor, with askew's term lists as its targets.

medspaCy 1.3 asks for an older spaCy than askew's own rules, so it lives in an environment of its
own; the attributes that are read here are those of its documentation: `is_negated`,
`is_historical`, `is_hypothetical`, `is_family` and `is_uncertain`, under `ent._`.

It finds symptoms, conditions and drugs; ages, genders, places and allergies it does not know.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from askew.errors import MissingDependency
from askew.graphs.extractor_values import relative_of
from askew.graphs.terms import terms
from askew.vignettes import Facts, Relation, Span, Status, Triplet

_LABELS = {
    "symptoms": Relation.HAS_SYMPTOM,
    "conditions": Relation.HAS_CONDITION,
    "medications": Relation.TAKES_MEDICATION,
}
INSTALL = (
    "medspacy is not installed. It cannot stand beside askew's own extractor, which needs spaCy "
    "3.8: install it in an environment of its own, with pip install medspacy and then askew "
    "without the extra `clinical`, and run askew there with --extractor medspacy."
)


@dataclass(frozen=True, slots=True)
class Mention:
    """One entity of medspaCy, with what ConText says of it."""

    start: int
    end: int
    label: str
    sentence: str  # up to the entity: where a relative would be named
    negated: bool = False
    historical: bool = False
    hypothetical: bool = False
    family: bool = False
    uncertain: bool = False


class MedspacyExtractor:
    """medspaCy behind the interface of an extractor.

    Raises:
        MissingDependency: medspaCy is not installed.
    """

    name = "medspacy"

    def __init__(self) -> None:
        self._pipeline = _pipeline()

    def extract_many(self, texts: Sequence[str]) -> list[Facts]:
        """The facts of each text."""
        documents = self._pipeline.pipe(texts)
        return [
            facts_of(text, map(mention_of, document.ents))
            for text, document in zip(texts, documents, strict=True)
        ]


def mention_of(entity: Any) -> Mention:
    """What is read of a spaCy span that medspaCy's ConText has marked."""
    before = entity.doc.text[entity.sent.start_char : entity.start_char]
    said = entity._
    return Mention(
        entity.start_char,
        entity.end_char,
        entity.label_,
        before,
        negated=bool(said.is_negated),
        historical=bool(said.is_historical),
        hypothetical=bool(said.is_hypothetical),
        family=bool(said.is_family),
        uncertain=bool(said.is_uncertain),
    )


def facts_of(text: str, mentions: Iterable[Mention]) -> Facts:
    """The mentions as triplets; what is hypothetical or of nobody's blood is left out."""
    found = (_triplet(text, mention) for mention in mentions)
    return Facts(text, tuple(triplet for triplet in found if triplet is not None))


def _triplet(text: str, mention: Mention) -> Triplet | None:
    relation = _LABELS.get(mention.label)
    if relation is None or mention.hypothetical:
        return None
    relative = None
    if mention.family:
        relative = relative_of(mention.sentence)
        if relative is None or relation is Relation.TAKES_MEDICATION:
            return None
        relation = Relation.FAMILY_HISTORY
    evidence = text[mention.start : mention.end]
    return Triplet(
        relation,
        evidence,
        _status(mention),
        Span(mention.start, mention.end),
        evidence,
        "medspacy",
        relative=relative,
    )


def _status(mention: Mention) -> Status:
    if mention.negated:
        return Status.ABSENT
    if mention.uncertain:
        return Status.POSSIBLE
    # A relative's disease of long ago is still in the family.
    return Status.PAST if mention.historical and not mention.family else Status.PRESENT


def _pipeline() -> Any:
    try:
        medspacy, ner = import_module("medspacy"), import_module("medspacy.ner")
    except ImportError as error:
        raise MissingDependency(f"{INSTALL} (The import says: {error}.)") from error
    with suppress(ImportError):
        # Its sentence splitter writes a line of debugging a word to standard error.
        import_module("loguru").logger.disable("PyRuSH")
    pipeline = medspacy.load()
    matcher = pipeline.get_pipe("medspacy_target_matcher")
    matcher.add(
        [
            ner.TargetRule(wording, kind)
            for kind in _LABELS
            for term in terms(kind)
            for wording in term.wordings
            if not term.guarded(wording)
        ]
    )
    return pipeline
