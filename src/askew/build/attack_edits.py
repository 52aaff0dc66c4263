"""How far two texts are apart, in inserts, deletes and changes."""

from __future__ import annotations

from collections.abc import Sequence


def single_edit(original: str, changed: str) -> str | None:
    """The characters that one insert, delete or change touches; None where it takes more.

    >>> single_edit("lazy", "lzy"), single_edit("lazy", "lady"), single_edit("lazy", "layz")
    ('a', 'zd', None)
    """
    if abs(len(original) - len(changed)) > 1 or original == changed:
        return None
    start = 0
    while start < min(len(original), len(changed)) and original[start] == changed[start]:
        start += 1
    before, after = original[start:], changed[start:]
    if len(before) == len(after):
        return before[0] + after[0] if before[1:] == after[1:] else None
    longer, shorter = (before, after) if len(before) > len(after) else (after, before)
    return longer[0] if longer[1:] == shorter else None


def edit_distance(original: Sequence[object], changed: Sequence[object]) -> int:
    """The least number of inserts, deletes and changes between two sequences (Levenshtein).

    A swap of two neighbours is two of them.

    >>> edit_distance("lazy", "layz")
    2
    """
    before = list(range(len(changed) + 1))
    for row, here in enumerate(original, start=1):
        now = [row]
        for column, there in enumerate(changed, start=1):
            now.append(min(before[column] + 1, now[-1] + 1, before[column - 1] + (here != there)))
        before = now
    return before[-1]
