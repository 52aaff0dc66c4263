"""The words of the clinical audit: what a symptom, a drug, a place or a relative may be called.

One TSV file a kind, written for this project from general knowledge. Its columns are `name` (the
wording that a triplet gets), `synonyms` (separated by `|`) and `tags` (`key=value`, separated by
`;`); lines that start with `#` are comments. `fold` makes wordings comparable, `lookup` finds the
term of a wording, `concept` the diagnosis, test or treatment that an answer names.
"""

from __future__ import annotations

from askew.graphs.terms.concepts import concept
from askew.graphs.terms.folding import fold, plural, singular
from askew.graphs.terms.lists import KINDS, TAGS, Term, lookup, terms

__all__ = [
    "KINDS",
    "TAGS",
    "Term",
    "concept",
    "fold",
    "lookup",
    "plural",
    "singular",
    "terms",
]
