"""`answers.jsonl`: what a reply says, from the server's body to the option that is read from it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import orjson

from askew.models.chat_replies import parse_chat
from askew.records import ContextCondition, Item, Outcome, Provenance, Reply, Score
from askew.scores.outcome import score_reply
from tests.field.folder import CaseFolder, Row

LETTERS = "ABC"
VERDICTS = frozenset((*LETTERS, "unparseable", "refusal"))


def item_of(option_set: Mapping[str, str]) -> Item:
    """An option set as an ambiguous item."""
    neutral = LETTERS.index(option_set["unknown"])
    return Item(
        id="field/options",
        source="field",
        bias_type="age",
        context="",
        question=option_set["question"],
        options=(option_set["A"], option_set["B"], option_set["C"]),
        neutral=neutral,
        answer=neutral,
        condition=ContextCondition.AMBIGUOUS,
        provenance=Provenance("optsets.json", 0),
    )


def reply_of(text: str | None, finish_reason: str | None) -> Reply:
    """The reply of a chat endpoint that says `text`."""
    choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}
    return parse_chat(200, {}, orjson.dumps({"choices": [choice]}), 0.0)


def score_of(reply: Reply, item: Item) -> Score:
    """The reply, read with the options in the order of the item."""
    return score_reply(item, reply, condition="source", order=(0, 1, 2), scoring="reply")


def verdict_of(score: Score) -> str:
    """The score in the words of the gold."""
    if score.chosen is not None:
        return LETTERS[score.order.index(score.chosen)]
    return "refusal" if score.outcome is Outcome.REFUSED else "unparseable"


def verdict(row: Row, folder: CaseFolder) -> str:
    """What is read from one row."""
    item = item_of(folder.option_sets()[row["optset"]])
    return verdict_of(score_of(reply_of(row["text"], row.get("finish_reason")), item))


def accuracy_by_style(folder: CaseFolder) -> dict[str, tuple[int, int]]:
    """Style -> rows read as the gold has it, and all rows."""
    right, total = Counter[str](), Counter[str]()
    for row in folder.rows("answers.jsonl"):
        total[row["style"]] += 1
        right[row["style"]] += verdict(row, folder) == row["gold"]
    return {style: (right[style], total[style]) for style in sorted(total)}
