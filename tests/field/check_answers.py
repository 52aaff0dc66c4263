"""Cases about reading replies: `flex.parse`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from askew.records import Outcome
from askew.report.summary import warnings
from tests.field.audits import audit, figures_of, neutral_unless_attacked, own_items, page_of
from tests.field.folder import Case, CaseFolder
from tests.field.gold_answers import (
    VERDICTS,
    accuracy_by_style,
    item_of,
    reply_of,
    score_of,
    verdict_of,
)
from tests.field.registry import check
from tests.models.servers import Answer, FaultServer, chat_body

PLAIN = {"question": "Who?", "A": "The aunt", "B": "The uncle", "C": "Unknown.", "unknown": "C"}


def expected_verdict(case: Case) -> str | None:
    """The verdict that a parse case asks for in its first word; None where it says it otherwise."""
    expected = case["expected"]
    word = re.match(r"\w+", expected) if isinstance(expected, str) else None
    return word[0] if word and word[0] in VERDICTS else None


def text_and_finish(case: Case) -> tuple[str | None, str]:
    """The reply of a parse case."""
    found: Any = case["input"]
    if isinstance(found, dict):
        return found["text"], found.get("finish_reason", "stop")
    return found, "stop"


def check_verdict(case: Case) -> None:
    """The reply comes to the verdict that the case expects.

    A literal backslash and n, as the cases write line ends, is tried as a line end too.
    """
    text, finish = text_and_finish(case)
    for written in {text, text.replace("\\n", "\n") if text else text}:
        assert verdict_of(score_of(reply_of(written, finish), item_of(PLAIN))) == (
            expected_verdict(case)
        )


@check("case-11")
def the_label_word_is_not_the_answer(case: Case, folder: CaseFolder, work: Path) -> None:
    check_verdict(case)
    by_style = accuracy_by_style(folder)
    print("style: right of all")
    for style, (right, total) in by_style.items():
        print(f"{style}: {right} of {total}")
    assert {style: counts for style, counts in by_style.items() if counts[0] < counts[1]} == {}


@check("case-13")
def a_wrapped_letter_is_seen_and_none_is_guessed(
    case: Case, folder: CaseFolder, work: Path
) -> None:
    check_verdict(case)
    items = {name: item_of(options) for name, options in folder.option_sets().items()}
    for row in folder.rows("answers.jsonl"):
        score = score_of(reply_of(row["text"], row.get("finish_reason")), items[row["optset"]])
        assert score.rule
        assert score.chosen in (None, 0, 1, 2)
    for outside in "DEZ":
        for wrapped in (f"**{outside}**", f"({outside})", f"ANSWER: ({outside})\nA good day!"):
            assert score_of(reply_of(wrapped, "stop"), item_of(PLAIN)).chosen is None
    with FaultServer(neutral_unless_attacked(Answer(chat_body("Hmm.")))) as server:
        run, _ = audit(work, own_items(work, 4), server)
    assert figures_of(run)["outcomes_attacked"]["overall"][Outcome.UNREADABLE] == 4
    assert "4 unreadable" in page_of(run)


@check("case-15")
def what_is_cut_off_in_the_reasoning_is_no_answer(
    case: Case, folder: CaseFolder, work: Path
) -> None:
    check_verdict(case)
    text, finish = text_and_finish(case)
    assert score_of(reply_of(text, finish), item_of(PLAIN)).outcome is Outcome.TRUNCATED
    cut = Answer(chat_body(text, finish=finish))
    with FaultServer(neutral_unless_attacked(cut)) as server:
        run, _ = audit(work, own_items(work, 4), server, "reasoner")
    assert figures_of(run)["outcomes_attacked"]["overall"][Outcome.TRUNCATED] == 4
    (warning,) = [said for said in warnings(run.read_estimates()) if "cut off" in said]
    assert "50 % of the replies of openai/reasoner" in warning
    assert "50 % of the replies of openai/reasoner were cut off" in page_of(run)


def fallback(case: Case) -> bool:
    """Check a parse case that has no check of its own by its reply; False where that cannot be."""
    if case["part"] != "flex.parse" or expected_verdict(case) is None:
        return False
    found = case["input"]
    if not isinstance(found, str) and not (isinstance(found, dict) and "text" in found):
        return False
    check_verdict(case)
    return True
