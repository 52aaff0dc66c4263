"""What a judge is asked (§4.1, Tables 1 and 3, Figure 7), and what the paper does not ask.

All texts go in as JSON data, between marks that they cannot forge (`prompts.marked`), so that an
answer cannot speak to its judge; `form="plain"` asks as was asked before there were marks.
`difference` is blind: it takes answers whose demographic words are covered, and names no attribute.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

from askew.errors import unknown_name
from askew.prompts.marked import JudgeForm, shown_in
from askew.prompts.wording import table
from askew.records import Message, Prompt
from askew.vignettes import HopEdge

_FILE = "judge_rubrics.toml"
# What `difference` can compare two answers by.
ASPECTS = ("urgency", "tests", "referral", "psychogenic")


def quality(original: str, perturbed: str, form: JudgeForm = "marked") -> Prompt:
    """How well a perturbed question holds up against its original, 1 to 5 (Table 1).

    Read by `scores.judge_scores.read_scores` with `QUALITY`.
    """
    return _asked("quality", {"original": original, "rewritten": perturbed}, form)


def bias(question: str, answer: str, form: JudgeForm = "marked") -> Prompt:
    """How biased an answer is on the five dimensions of Table 3, 0 to 1 each.

    Read by `scores.judge_scores.read_scores` with `BIAS`.

    >>> '"answer": "Rest."' in bias("What helps?", "Rest.").messages[1].content
    True
    """
    return _asked("bias", {"question": question, "answer": answer}, form)


def verdict(question: str, answer: str, form: JudgeForm = "marked") -> Prompt:
    """Whether an answer is biased, yes or no: what a judge is calibrated by against people.

    Read by `scores.judge_verdict.read_verdict`.
    """
    return _asked("verdict", {"question": question, "answer": answer}, form)


def consistency(
    text: str,
    graph_1: Sequence[HopEdge],
    graph_2: Sequence[HopEdge],
    answer: str,
    form: JudgeForm = "marked",
) -> Prompt:
    """Whether the hops of a multi-hop answer hold together (§3.2, last paragraph).

    Is every triplet of G₁ in the text, does every edge of G₂ follow, is the answer supported. Read
    by `scores.judge_hops.read_hops` with the numbers of edges.
    """
    data = {"text": text, "first": _edges(graph_1), "second": _edges(graph_2), "answer": answer}
    counts = {"first_count": str(len(graph_1)), "second_count": str(len(graph_2))}
    return _asked("consistency", data, form, **counts)


def pairwise(question: str, a: str, b: str, form: JudgeForm = "marked") -> Prompt:
    """Which of two answers shows more bias (Figure 7). Read by `judge_pair.read_preference`."""
    return _asked("pairwise", {"question": question, "A": a, "B": b}, form)


def difference(a: str, b: str, aspect: str = "urgency", form: JudgeForm = "marked") -> Prompt:
    """What B recommends compared with A, in named levels, blind to who the patient is.

    Args:
        a: one answer, its demographic words covered (`perturb.mask_demographics`).
        b: the other, covered in the same way.
        aspect: one of `ASPECTS`.
        form: how the texts are set apart.

    Raises:
        ConfigError: there is no such aspect.
    """
    aspects: dict[str, dict[str, str]] = table(_FILE)["difference"]["aspects"]
    if aspect not in aspects:
        raise unknown_name("aspect of two answers", aspect, list(aspects))
    return _asked("difference", {"A": a, "B": b}, form, **aspects[aspect])


def justified(vignette: str, attribute: str, change: str, form: JudgeForm = "marked") -> Prompt:
    """Whether guidelines have a recommendation change with an attribute.

    The second question, put where a difference was found and with the attribute shown.

    Args:
        vignette: the case as the data have it.
        attribute: what was changed, in words: "gender", "age".
        change: what changed in the recommendation, in words.
        form: how the texts are set apart.
    """
    data = {"case": vignette, "change": change}
    return _asked("justified", data, form, attribute=attribute)


def gpt_score(question: str, answer: str) -> Prompt:
    """An answer as the continuation of its question, for its log-probability (Fu et al., 2023).

    Only for models that serve log-probabilities of choices. Read by `judge_hops.gpt_score_of`.

    >>> gpt_score("What helps?", "Rest.").choices
    (' Rest.',)
    """
    text = Template(table(_FILE)["gpt_score"]["task"]).substitute(question=question)
    # No trailing blank: the token that begins an answer holds the blank before it.
    return Prompt(text=text.strip(), choices=(f" {answer.strip()}",))


def _asked(kind: str, texts: Mapping[str, object], form: JudgeForm, **filled: str) -> Prompt:
    words: Mapping[str, Any] = table(_FILE)
    shown, wanted = shown_in(form, texts, words[kind]["form"])
    task = Template(words[kind]["task"].strip())
    asked = task.substitute(texts=shown, form=wanted, **filled)
    return Prompt(messages=(Message("system", words["system"]), Message("user", asked)))


def _edges(edges: Sequence[HopEdge]) -> list[str]:
    return [f"{edge.head} -> {edge.relation} -> {edge.tail}" for edge in edges]
