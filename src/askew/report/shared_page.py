"""A report that may hold no text: what it says of topics and cases, and looking through it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from askew.audits.boundary_records import TopicTest
from askew.errors import RunError
from askew.models.ledgerfile import texts_of_calls
from askew.privacy.scan import Needles
from askew.runfolder import RunFolder


def without_answers(test: TopicTest) -> TopicTest:
    """A tested topic with its verdict and counts, and no word of questions, answers and judge."""
    bare = [
        replace(one, question="", answer=None, direction="", reason="") for one in test.questions
    ]
    return replace(test, questions=tuple(bare), note="")


def without_cases(section: Mapping[str, object]) -> dict[str, object]:
    """What a section shows, without the lists of single vignettes, and of topics with answers.

    A vignette's id may be a record number, or hold words of the text.
    """
    listed = {"dropped_list": [], "dropped_more": 0, "moved": [], "shown": []}
    return {**section, **{name: empty for name, empty in listed.items() if name in section}}


def check_without_texts(folder: RunFolder, html: str) -> int:
    """Look for the run's prompts and replies in a page that was made without them.

    Returns:
        How many texts of at least twelve bytes were looked for.

    Raises:
        RunError: one is in the page. A reply that a figure's name repeats counts too.
    """
    if folder.purged:
        return 0
    needles = Needles(texts_of_calls(folder.database))
    if found := needles.first_places(html.encode()):
        raise RunError(
            f"{len(found):,} texts of {folder.path} stand in the page that was to be without: a "
            "name in the figures repeats them. Share the figures instead: askew table RUN --json."
        )
    return len(needles)
