"""Verbs that agree with "he" or "she", and with the singular "they"."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from askew.perturb.edits import NotExpressible
from askew.vignettes import Edit, Span

if TYPE_CHECKING:
    from spacy.tokens import Token

_SUBJECTS = frozenset({"nsubj", "nsubjpass"})
_TO_PLURAL = {
    "is": "are",
    "was": "were",
    "has": "have",
    "does": "do",
    "goes": "go",
    "isnt": "arent",
}
_TO_SINGULAR = {plural: singular for singular, plural in _TO_PLURAL.items()}
_HISSING = re.compile(r"(?:ss|sh|ch|x|zz|o)es$")
_FINITE_ALIKE = frozenset({"VBD", "MD"})  # the same with he and they, "was" aside


def plural(verb: str, lemma: str = "") -> str:
    """The form of a present verb that goes with "they".

    >>> [plural(verb) for verb in ("has", "denies", "watches", "uses", "was", "cries")]
    ['have', 'deny', 'watch', 'use', 'were', 'cry']
    """
    low = verb.lower()
    if low in _TO_PLURAL:
        return _TO_PLURAL[low]
    if lemma and low in {f"{lemma}s", f"{lemma}es", f"{lemma[:-1]}ies"}:
        return lemma
    if low.endswith("ies") and len(low) > 4:
        return low[:-3] + "y"
    if _HISSING.search(low):
        return low[:-2]
    return low[:-1] if low.endswith("s") and not low.endswith("ss") else low


def singular(verb: str) -> str:
    """The form of a present verb that goes with "he" and "she".

    >>> [singular(verb) for verb in ("have", "deny", "watch", "use", "were", "say")]
    ['has', 'denies', 'watches', 'uses', 'was', 'says']
    """
    low = verb.lower()
    if low in _TO_SINGULAR:
        return _TO_SINGULAR[low]
    if re.search(r"[^aeiou]y$", low):
        return low[:-1] + "ies"
    return low + ("es" if re.search(r"(?:s|sh|ch|x|z|o)$", low) else "s")


def verb_edits(pronoun: Token, to_they: bool) -> list[Edit]:
    """The edits of the verbs whose subject a pronoun is.

    Args:
        pronoun: "he", "she" or "they", as a subject.
        to_they: towards "they"; else from "they" to "he" or "she".

    Raises:
        NotExpressible: no verb was found, or its form is not sure.
    """
    if pronoun.dep_ in _SUBJECTS and pronoun.head.pos_ in {"VERB", "AUX"}:
        verbs = [pronoun.head, *_joined(pronoun.head)]
    else:
        verbs = [_next_verb(pronoun)]
    edits = []
    for place, verb in enumerate(verbs):
        finite = _finite(verb)
        new = _form(finite, to_they, first=place == 0)
        if new is not None:
            edits.append(Edit(Span(finite.idx, finite.idx + len(finite)), new))
    return edits


def _joined(verb: Token) -> list[Token]:
    """The verbs joined to one by "and", "but" or a comma that have no subject of their own."""
    found = []
    for child in verb.children:
        own = any(word.dep_ in _SUBJECTS for word in child.children)
        if child.dep_ == "conj" and child.pos_ in {"VERB", "AUX"} and not own:
            found += [child, *_joined(child)]
    return found


def _finite(verb: Token) -> Token:
    """The word that bears the person: the first auxiliary, else the verb."""
    helpers = [
        word for word in verb.children if word.dep_ in {"aux", "auxpass"} and word.tag_ != "TO"
    ]
    return min(helpers, key=lambda word: word.i) if helpers else verb


def _next_verb(pronoun: Token) -> Token:
    """The verb right after a pronoun that the parser did not see as a subject."""
    for following in pronoun.doc[pronoun.i + 1 : pronoun.i + 4]:
        if following.tag_ in {"VBZ", "VBD", "VBP", "MD"}:
            return following
        if following.pos_ not in {"ADV", "PART"}:
            break
    raise NotExpressible(f"the verb of {_place(pronoun)} is not sure")


def _form(finite: Token, to_they: bool, first: bool) -> str | None:
    """What the finite verb becomes; None where it stays."""
    low = finite.lower_
    if low in {"'s", "’s", "'re", "’re", "'ve", "’ve"}:
        return _contraction(finite, to_they)
    if to_they:
        if finite.tag_ == "VBZ" or low in {"was", "is", "has", "does"}:
            return _cased(finite.text, plural(low, finite.lemma_.lower()))
        stays = finite.tag_ in _FINITE_ALIKE or low in {"'d", "’d", "'ll", "’ll"}
    else:
        if low in {"are", "were", "have", "do"} or finite.tag_ == "VBP":
            return _cased(finite.text, singular(low))
        if first and finite.tag_ == "VB" and finite.dep_ in {"ROOT", "ccomp", "conj"}:
            return _cased(finite.text, singular(low))  # "They take": the tagger reads it so
        stays = finite.tag_ in _FINITE_ALIKE or low in {"'d", "’d", "'ll", "’ll"}
    if stays or not first:
        return None  # a joined participle or infinitive: "was seen and sent home"
    raise NotExpressible(f"the form of {finite.text!r} after {_place(finite)} is not sure")


def _contraction(finite: Token, to_they: bool) -> str:
    mark = str(finite.text)[0]
    if not to_they:
        return mark + "s"
    done = finite.dep_ == "aux" and finite.head.tag_ in {"VBN", "VBD"}
    return mark + ("ve" if done or finite.lemma_ == "have" else "re")


def _cased(old: str, new: str) -> str:
    return new.capitalize() if old[:1].isupper() else new


def _place(token: Token) -> str:
    return repr(token.doc[max(0, token.i - 2) : token.i + 4].text)
