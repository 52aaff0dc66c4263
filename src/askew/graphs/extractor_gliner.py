"""GLiNER as an extractor: zero-shot entities by label, here the relations of the gold.

An entity of GLiNER is a dictionary with `start`, `end`, `text`, `label` and `score`. It knows no
negation, time or family, so every fact is reported as present: its score on a gold with status is
what that costs. Its weights come from a model hub or a folder, and its packages ask for other
versions than askew's: install it in an environment of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from askew.errors import ConfigError, DataError, MissingDependency
from askew.graphs.extractor_values import age_of, gender_of
from askew.vignettes import Facts, Relation, Span, Status, Triplet

# What GLiNER is asked for -> the relation that it stands for.
LABELS: Mapping[str, Relation] = {
    "patient's age": Relation.HAS_AGE,
    "patient's gender": Relation.HAS_GENDER,
    "place of residence": Relation.LIVES_IN,
    "place of origin": Relation.BORN_IN,
    "travel destination": Relation.TRAVELED_TO,
    "symptom": Relation.HAS_SYMPTOM,
    "disease": Relation.HAS_CONDITION,
    "medication": Relation.TAKES_MEDICATION,
    "allergen": Relation.ALLERGIC_TO,
}
DEFAULT_MODEL = "Ihor/gliner-biomed-base-v1.0"
DEFAULT_THRESHOLD = 0.5  # GLiNER's own
_PICKLED = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
INSTALL = (
    "gliner is not installed. Install it in an environment of its own, with pip install gliner "
    "askew, and name a model that is there: GlinerExtractor('path/or/hub-id')."
)


class GlinerExtractor:
    """GLiNER behind the interface of an extractor.

    Args:
        model: a folder or a hub id.
        threshold: the least score of an entity, in [0, 1].

    Raises:
        MissingDependency: GLiNER is not installed.
        ConfigError: the model's weights are not in safetensors.
    """

    name = "gliner"

    def __init__(self, model: str = DEFAULT_MODEL, threshold: float = DEFAULT_THRESHOLD) -> None:
        try:
            gliner = import_module("gliner")
        except ImportError as error:
            raise MissingDependency(f"{INSTALL} (The import says: {error}.)") from error
        self._model = gliner.GLiNER.from_pretrained(str(_safe_folder(model)))
        self._threshold = threshold

    def extract_many(self, texts: Sequence[str]) -> list[Facts]:
        """The facts of each text."""
        labels = list(LABELS)
        return [
            facts_of(text, self._model.predict_entities(text, labels, threshold=self._threshold))
            for text in texts
        ]


def _safe_folder(model: str) -> Path:
    """The model's folder, fetched without pickled weights, which run code as they are read."""
    folder = Path(model).expanduser()
    if not folder.is_dir():
        hub = import_module("huggingface_hub")  # comes with GLiNER
        folder = Path(hub.snapshot_download(model, ignore_patterns=list(_PICKLED)))
    if not (folder / "model.safetensors").is_file():
        raise ConfigError(
            f"{model}: its weights are not in safetensors, and pickled ones can run code as they "
            "are read. If you trust whoever made them, convert them in an environment of their "
            "own, GLiNER.from_pretrained(...).save_pretrained(FOLDER, safe_serialization=True), "
            "and name that folder: GlinerExtractor('FOLDER')."
        )
    return folder


def facts_of(text: str, entities: Iterable[Mapping[str, Any]]) -> Facts:
    """GLiNER's entities as triplets, in the order of the text.

    An entity whose value cannot be read as an age or a gender of the gold is left out.

    Raises:
        DataError: an entity lies outside the text or has a label that was not asked for.
    """
    ordered = sorted(entities, key=lambda entity: (entity["start"], entity["end"]))
    found = (_triplet(text, entity) for entity in ordered)
    return Facts(text, tuple(triplet for triplet in found if triplet is not None))


def _triplet(text: str, entity: Mapping[str, Any]) -> Triplet | None:
    start, end, label = entity["start"], entity["end"], entity["label"]
    if label not in LABELS or not 0 <= start < end <= len(text):
        raise DataError(
            f"GLiNER's entity {dict(entity)!r} is none of the labels asked for, or lies outside "
            f"the text of {len(text)} characters. Check its version."
        )
    relation, evidence = LABELS[label], text[start:end]
    value: str | int | None = evidence
    unit = None
    if relation is Relation.HAS_AGE:
        age = age_of(evidence)
        value, unit = age if age is not None else (None, None)
    elif relation is Relation.HAS_GENDER:
        value = gender_of(evidence)
    if value is None:
        return None
    return Triplet(
        relation,
        value,
        Status.PRESENT,
        Span(start, end),
        evidence,
        f"gliner: {label}",
        score=float(entity["score"]),
        unit=unit,
        qualifier="exact" if unit else None,
    )
