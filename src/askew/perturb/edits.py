"""Edits of a text: kept apart from each other, and the article before a word that changes."""

from __future__ import annotations

import re
from collections.abc import Iterable

from askew.errors import AskewError
from askew.perturb.ages import overlap
from askew.perturb.numerals import article
from askew.vignettes import Edit, Span


class NotExpressible(AskewError, ValueError):
    """A change that no edit can make without a guess; the text says which word is in the way."""


def apply(text: str, edits: Iterable[Edit]) -> str:
    """The text with every edit made; all else stays byte for byte.

    >>> apply("A man coughs.", [Edit(Span(2, 5), "woman")])
    'A woman coughs.'
    """
    for edit in sorted(edits, key=lambda edit: edit.span, reverse=True):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def settle(text: str, edits: Iterable[Edit]) -> tuple[Edit, ...]:
    """The edits in order, none that changes nothing, none inside another, articles mended.

    Raises:
        NotExpressible: two edits overlap and neither holds the other.
    """
    changing = [edit for edit in edits if text[edit.span.start : edit.span.end] != edit.text]
    # The longer first, so that what lies inside it is left out; an insertion is a span of nothing.
    changing.sort(key=lambda edit: (edit.span.start, -edit.span.end))
    kept: list[Edit] = []
    for edit in changing:
        last = kept[-1].span if kept else Span(0, 0)
        if not kept or not overlap(last, edit.span):
            kept.append(edit)
        elif edit.span.end > last.end:
            both = text[last.start : edit.span.end]
            raise NotExpressible(f"two edits overlap at {both!r}")
    return tuple(sorted([*kept, *_articles(text, kept)], key=lambda edit: edit.span))


_ARTICLE = re.compile(r"\b([Aa]n?)(\s+)$")


def _articles(text: str, edits: list[Edit]) -> list[Edit]:
    """Turn "A 47-year-old" into "An 8-year-old": the article follows the sound of the new word."""
    changed = apply(text, edits)
    mended: dict[Span, Edit] = {}
    moved = 0  # how far the new text has run ahead of the old
    for edit in sorted(edits, key=lambda edit: edit.span):
        following = changed[edit.span.start + moved :].lstrip()
        moved += len(edit.text) - (edit.span.end - edit.span.start)
        before = _ARTICLE.search(text, 0, edit.span.start)
        if not before or not following[:1].isalnum():
            continue
        old, new = before[1], article(following)
        new = new.capitalize() if old[0].isupper() else new
        span = Span(*before.span(1))
        if new != old and not any(overlap(span, other.span) for other in edits):
            mended.setdefault(span, Edit(span, new))
    return list(mended.values())
