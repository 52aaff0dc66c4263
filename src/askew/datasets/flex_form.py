"""The form in which FLEX (Jung et al., 2025) was released, and what askew adds in a set it builds.

One CSV a source, one row an item; the changed questions of the text attacks lie beside it in JSON
maps, keyed by the row's number. A built set has askew's own columns after those of the release.
"""

from __future__ import annotations

from dataclasses import dataclass

from askew.records import AttackCategory

INDEX = "Unnamed: 0"
SECOND_INDEX = "Unnamed: 0.1"  # what pandas left of a second save; always the same number
OPTIONS = ("a", "b", "c")
# What every row must have, whatever its source.
COLUMNS = (INDEX, "sent_more", "bias_type", *OPTIONS)
ATTACK_COLUMNS = ("attack", "attack_type", "label")
NO_ATTACK = ("-1", "-1.0")

CATEGORIES = {
    "persona": AttackCategory.PERSONA_INJECTION,
    "refusal_suppression": AttackCategory.COMPETING_OBJECTIVES,  # all five of them
    "text": AttackCategory.TEXT_ATTACK,
}
# The order is that of the release's index of text attacks.
TEXT_ATTACKS = {
    "character": "0_char.json",
    "word": "1_word.json",
    "sentence_v1": "2_sent.json",
    "sentence_v2": "3_or.json",
}


@dataclass(frozen=True, slots=True)
class Source:
    """One of the three parts of the release."""

    name: str  # as the option `sources` names it, and the release's files
    item_source: str  # as items name it
    columns: tuple[str, ...]  # what its CSV has beside the columns of all three

    @property
    def csv(self) -> str:
        """The file with the test rows."""
        return f"FLEX_{self.name}.csv"

    @property
    def fewshot(self) -> str:
        """The file with the demonstrations."""
        return f"FLEX_{self.name}_fewshot.csv"

    @property
    def folders(self) -> tuple[str, ...]:
        """Where the files may lie: the source's folder, the set's, one above, or a clone."""
        return ("", self.name, f"flex/{self.name}", f"data/{self.name}")


SOURCES = {
    source.name: source
    for source in (
        Source("bbq", "bbq", ("ctx", "q_text")),
        Source("crows", "crows_pairs", ()),
        Source("stereoset", "stereoset", ("context",)),
    )
}

# The columns of the release, in one order for every file of a built set. A context in `ctx` stands
# before the question, one in `context` before the two biased options.
RELEASED_COLUMNS = (
    INDEX,
    SECOND_INDEX,
    "ctx",
    "context",
    "q_text",
    "sent_more",
    "sent_less",
    "bias_type",
    *OPTIONS,
    "attack_type",
    "attack_success",
    "attack",
    "label",
)
# askew's own. `scenario` names what `attack` and `attack_type` say by numbers; `text_attacks` is a
# JSON object of every changed question that passed its checks, of which `attacked_question` is one.
OWN_TEXTS = (
    "item_id",
    "source",
    "language",
    "category",
    "scenario",
    "instruction",
    "attacked_question",
    "text_attacks",
    "polarity",
)
# Counted replies: those that selected, then fresh ones, which nothing was selected on.
TALLIES = ("selection_source", "selection", "fresh_source", "fresh_attacked")
COUNTS = ("neutral", "biased", "stereotyped", "replies")
TALLY_COLUMNS = tuple(f"{tally}_{count}" for tally in TALLIES for count in COUNTS)
OWN_COLUMNS = (*OWN_TEXTS, *TALLY_COLUMNS)
# Two of askew's own columns that no other set in this form has: where they are, askew built it.
MARKS = ("item_id", "scenario")
