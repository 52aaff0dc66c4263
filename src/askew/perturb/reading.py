"""A parsed text, kept a while: the gate and the edits read the same texts again and again."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from askew.graphs.parsing import parse

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token


@lru_cache(maxsize=64)
def read(text: str) -> Doc:
    """The text with words, tags and syntax."""
    return parse(text)


def clause_verb(token: Token) -> Token | None:
    """The verb of the clause that a word stands in; the word itself where it is a verb."""
    for word in (token, *token.ancestors):
        if word.pos_ in {"VERB", "AUX"} and word.dep_ not in {"aux", "auxpass"}:
            return word
    return None


def subject_of(verb: Token) -> Token | None:
    """Who or what does what a verb says; the antecedent where that is "who" or "that"."""
    for word in verb.children:
        if word.dep_ in {"nsubj", "nsubjpass"}:
            relative = verb.dep_ == "relcl" and word.tag_ in {"WP", "WDT"}
            return verb.head if relative else word
    if verb.dep_ in {"conj", "xcomp", "advcl"} and verb.head.pos_ in {"VERB", "AUX"}:
        return subject_of(verb.head)
    return verb.head if verb.dep_ in {"relcl", "acl"} else None


def clause_subject(token: Token) -> Token | None:
    """The subject of the clause that a word stands in."""
    verb = clause_verb(token)
    return subject_of(verb) if verb is not None else None


def main_subject(sentence_root: Token) -> Token | None:
    """The subject of a sentence's main clause."""
    return subject_of(sentence_root) if sentence_root.pos_ in {"VERB", "AUX"} else sentence_root
