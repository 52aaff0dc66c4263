"""Prints how often the stance judge errs: ``python -m tests.scores.stance_errors [--minilm]``."""

from __future__ import annotations

import argparse
from collections import Counter

from askew.models.embedder import load_embedder
from askew.scores.stance import CAMPS, Slant, StanceJudge
from askew.stats.intervals import wilson
from tests.scores.test_stance import labelled, verdict

SPLITS = ("development", "held_out", "subtle")
PLAIN = ("neutral", "two_sided", "small_model")


def of_any_slant(*, minilm: bool) -> None:
    """Every kind of answer of every split, judged for any slant."""
    judge = StanceJudge(embedder=load_embedder() if minilm else None)
    for split in SPLITS:
        found: dict[str, Counter[bool | None]] = {}
        for row in labelled(split):
            found.setdefault(row["kind"], Counter())[verdict(row, judge).leaning] += 1
        for kind, counts in found.items():
            _line(f"{split}, {'words and minilm' if minilm else 'words'}", kind, counts)


def by_references(*, minilm: bool) -> None:
    """Each camp as if it were a slant of one's own: development answers are the references."""
    embedder = load_embedder() if minilm else None
    for split in SPLITS[1:]:
        found: dict[str, Counter[bool | None]] = {"slanted": Counter(), "others": Counter()}
        for camp in CAMPS:
            rows = labelled("development")
            slanted = tuple(row["answer"] for row in rows if row["slant"] == camp)
            neutral = tuple(row["answer"] for row in rows if row["kind"] in PLAIN)
            judge = StanceJudge(Slant("own", slanted=slanted, neutral=neutral), embedder)
            for row in labelled(split):
                if row["slant"] == camp or row["kind"] in PLAIN:
                    side = "slanted" if row["slant"] == camp else "others"
                    found[side][verdict(row, judge).leaning] += 1
        for side, counts in found.items():
            _line(f"{split}, references by {'minilm' if minilm else 'words'}", side, counts)


def _line(split: str, kind: str, counts: Counter[bool | None]) -> None:
    lower, upper = wilson(counts[True], counts.total())
    print(
        f"{split:40} {kind:12} leaning {counts[True]:3} of {counts.total():3}"
        f"  ({lower:.3f} to {upper:.3f})  not judged {counts[None]}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minilm", action="store_true", help="with the packaged embedder as well")
    with_minilm = parser.parse_args().minilm
    for minilm in (False, True) if with_minilm else (False,):
        of_any_slant(minilm=minilm)
        by_references(minilm=minilm)
