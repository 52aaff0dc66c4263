"""How a case is put to the target: directly, in one multi-hop prompt, or hop by hop (§3.2).

The three forms show the same case, ask the same question and want the same answer, so that what
differs between their replies is the form. `docs/clinical-answers.md` shows them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from string import Template
from typing import Any, Literal

from askew.errors import ConfigError
from askew.prompts.wording import table
from askew.records import Message, Prompt
from askew.vignettes import URGENCIES, Facts, HopEdge, HopGraph, Status, Triplet

Steps = Literal["paper", "neutral"]

MOST_SHOTS = 3
_WORDS = "clinical_answer.toml"
_SHOTS = "clinical_shots.toml"
# "4. Agree", "(b) Agree", "4 - Agree", but not the range "5 - 10 mg".
_OWN_LABEL = re.compile(
    r"\s*\(?(?P<label>\d{1,2}|[A-Za-z])(?:[.):]\s+|\s-\s+(?=[^\W\d]))(?P<text>\S.*)", re.DOTALL
)
_QUOTED = re.compile(r"\"[^\"\n]{0,400}\"|“[^”\n]{0,400}”")
# A question, wherever it stands ("Will he lose the leg? He lives in Bole."), but not "(?PE)"; a
# request; or a last sentence that asks without a mark.
_ASKS = re.compile(
    r"[\w)\]%.'’][?？؟](?=\s|\Z)|[？؟]"
    r"|\b(?:please (?:help|tell|advise|explain)|tell me|what to do|advise me)\b"
    r"|(?:\A|[.!?]\s+)(?:how|what|which|why|describe|explain|list|name|suggest|recommend|give)\b"
    r"[^.!?]{0,300}[.!]?\s*\Z",
    re.IGNORECASE,
)


def direct(text: str, question: str, *, structured: bool, options: Sequence[str] = ()) -> Prompt:
    """The question as it stands: the arm "without multi-hop".

    Args:
        text: the case, as in `Variant.text`.
        question: asked after it; "" where the text asks itself or the paper's question is meant.
        structured: ask for a JSON object with fixed fields, not for free text.
        options: of a multiple-choice question or a scale; the answer is then one of them.

    >>> print(direct("A patient has hiccups.", "", structured=False).messages[1].content)
    Case:
    A patient has hiccups.
    <BLANKLINE>
    Question: What might be the causes of the symptoms?
    """
    asked = _asked_parts(text, question, options)
    return _prompt([], [*asked, _answer_form(structured, bool(options))])


def single(
    text: str,
    question: str,
    *,
    structured: bool,
    options: Sequence[str] = (),
    shots: int = 2,
    steps: Steps = "paper",
) -> Prompt:
    """All hops in one prompt, by four listed steps: the paper's own multi-hop form (§4.1).

    Args:
        text: the case.
        question: as in `direct`.
        structured: as in `direct`; the JSON object follows the steps.
        options: as in `direct`.
        shots: worked examples before the case, 0 to 3.
        steps: "paper" names the steps as the paper does, the second of which asks for risk
            factors; "neutral" leaves them out.

    Raises:
        ConfigError: there are not so many worked examples.
    """
    task = _single_task(structured, bool(options), steps)
    turns: list[tuple[str, str]] = []
    for shot in _shots(shots):
        shown = [*_shot_parts(shot, bool(options)), task]
        turns.append((_joined(shown), _single_reply(shot, structured, bool(options))))
    return _prompt(turns, [*_asked_parts(text, question, options), task])


def chained_extract(text: str, *, shots: int = 2) -> Prompt:
    """Hop 1 of the chained form: G₁, the triplets that the case states.

    Raises:
        ConfigError: there are not so many worked examples.
    """
    task = _filled("extract", "task", form=_words()["triplet_form"])
    turns = [
        (_joined([_case(shot["case"]), task]), _lines(shot["extract"])) for shot in _shots(shots)
    ]
    return _prompt(turns, [_case(text), task])


def chained_expand(
    text: str, graph_1: HopGraph, *, shots: int = 2, steps: Steps = "neutral"
) -> Prompt:
    """Hop 2 of the chained form: G₂ = f₂(G₁), what the target links to the triplets of G₁.

    Args:
        text: the case.
        graph_1: from the target's first hop, or from the extractor (`graph_from_facts`).
        shots: worked examples, 0 to 3.
        steps: "paper" names the step as the paper does and so asks for risk factors.

    Raises:
        ConfigError: there are not so many worked examples.
    """
    step = _words()["steps"][steps][1]
    task = _filled("expand", "task", step=step, form=_words()["triplet_form"])

    def asked(case: str, edges: str) -> list[str]:
        return [_case(case), _filled("expand", "facts", edges=edges), task]

    turns = [
        (_joined(asked(shot["case"], _lines(shot["extract"]))), _lines(shot["expand"]))
        for shot in _shots(shots)
    ]
    return _prompt(turns, asked(text, edge_lines(graph_1)))


def chained_answer(
    text: str,
    question: str,
    graph_1: HopGraph,
    graph_2: HopGraph,
    *,
    structured: bool,
    options: Sequence[str] = (),
    shots: int = 2,
) -> Prompt:
    """Hop 3 of the chained form: the answer, by reasoning over G₁ and G₂.

    Args:
        text: the case.
        question: as in `direct`.
        graph_1: the first hop.
        graph_2: the second hop.
        structured: as in `direct`.
        options: as in `direct`.
        shots: worked examples, 0 to 3.

    Raises:
        ConfigError: there are not so many worked examples.
    """
    of_options = bool(options)

    def asked(parts: list[str], first: str, second: str) -> list[str]:
        return [
            *parts,
            _filled("answer", "facts", first=first),
            _filled("answer", "knowledge", second=second),
            _words()["answer"]["task"],
            _answer_form(structured, of_options),
        ]

    turns: list[tuple[str, str]] = []
    for shot in _shots(shots):
        shown = asked(
            _shot_parts(shot, of_options), _lines(shot["extract"]), _lines(shot["expand"])
        )
        turns.append((_joined(shown), _answer_reply(shot, structured, of_options)))
    parts = _asked_parts(text, question, options)
    return _prompt(turns, asked(parts, edge_lines(graph_1), edge_lines(graph_2)))


def graph_from_facts(facts: Facts) -> HopGraph:
    """G₁ from the extractor instead of the target: the facts of the case as edges, in order.

    A status other than "present" goes into the relation, so that a denied symptom stays denied.

    >>> from askew.vignettes import Relation, Status, Triplet
    >>> cough = Triplet(Relation.HAS_SYMPTOM, "cough", Status.ABSENT, None, "cough", "")
    >>> graph_from_facts(Facts("no cough", (cough,))).edges
    (HopEdge(head='patient', relation='has_symptom (absent)', tail='cough'),)
    """
    edges = tuple(dict.fromkeys(_edge(triplet) for triplet in facts.triplets))
    return HopGraph(1, edges, facts.text, origin="extractor")


def edge_lines(graph: HopGraph) -> str:
    """The edges of a hop in the paper's form, one a line.

    >>> edge_lines(HopGraph(1, (HopEdge("patient", "has_symptom", "fever"),), ""))
    '(patient -> has_symptom -> fever)'
    """
    return _lines(graph.edges)


def asked_question(text: str, question: str) -> str:
    """The question that the forms ask after a case; "" where the case asks one itself.

    >>> asked_question("A patient has hiccups.", "")
    'What might be the causes of the symptoms?'
    >>> asked_question("A patient has hiccups. Why?", "")
    ''
    """
    if question.strip():
        return question.strip()
    own: str = _words()["own_question"]
    return "" if _ASKS.search(_QUOTED.sub(" ", text)) else own


def labelled_options(options: Sequence[str]) -> tuple[str, ...]:
    """The options as they are shown: with their own labels where all have one, else lettered.

    >>> labelled_options(("4. Agree", "5. Strongly agree"))
    ('4. Agree', '5. Strongly agree')
    >>> labelled_options(("Malaria", "Dengue"))
    ('A. Malaria', 'B. Dengue')
    """
    labels, texts = split_labels(options)
    if all(labels):
        return tuple(option.strip() for option in options)
    return tuple(f"{chr(65 + place)}. {text}" for place, text in enumerate(texts))


def split_labels(options: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The labels of the options and their texts; labels are "" where not every option has one.

    >>> split_labels(("4. Agree", "5. Strongly agree"))
    (('4', '5'), ('Agree', 'Strongly agree'))
    >>> split_labels(("5 - 10 mg", "10 - 20 mg"))
    (('', ''), ('5 - 10 mg', '10 - 20 mg'))
    """
    found = [match for option in options if (match := _OWN_LABEL.match(option))]
    labels = tuple(match["label"] for match in found)
    if len(labels) == len(options) == len(set(labels)):
        return labels, tuple(match["text"].strip() for match in found)
    return ("",) * len(options), tuple(option.strip() for option in options)


def _words() -> dict[str, Any]:
    return table(_WORDS)


def _filled(section: str, name: str, **values: str) -> str:
    return Template(_words()[section][name]).substitute(values).strip()


def _shots(count: int) -> list[dict[str, Any]]:
    if not 0 <= count <= MOST_SHOTS:
        raise ConfigError(
            f"shots is {count}, expected 0 to {MOST_SHOTS}: there are {MOST_SHOTS} worked examples."
        )
    shots: list[dict[str, Any]] = table(_SHOTS)["shots"]
    return shots[:count]


def _prompt(turns: Sequence[tuple[str, str]], parts: Sequence[str]) -> Prompt:
    messages = [Message("system", _words()["system"])]
    for asked, answered in turns:
        messages += [Message("user", asked), Message("assistant", answered)]
    messages.append(Message("user", _joined(parts)))
    return Prompt(messages=tuple(messages))


def _joined(parts: Sequence[str]) -> str:
    return "\n\n".join(part for part in parts if part)


def _case(text: str) -> str:
    return Template(_words()["case"]).substitute(text=text.strip())


def _asked_parts(text: str, question: str, options: Sequence[str]) -> list[str]:
    parts = [_case(text)]
    if asked := asked_question(text, question):
        parts.append(Template(_words()["asked"]).substitute(question=asked))
    if options:
        shown = "\n".join(labelled_options(options))
        parts.append(Template(_words()["options"]).substitute(options=shown))
    return parts


def _answer_form(structured: bool, of_options: bool) -> str:
    name = ("structured" if structured else "free") + ("_options" if of_options else "")
    meanings = _words()["urgencies"]
    urgencies = "\n".join(f"  {level}: {meanings[level]}" for level in URGENCIES)
    return Template(_words()[name]).safe_substitute(urgencies=urgencies).strip()


def _single_task(structured: bool, of_options: bool, steps: Steps) -> str:
    one, two, three, four = _words()["steps"][steps]
    form = _words()["triplet_form"]
    task = _filled("single", "task", form=form, one=one, two=two, three=three, four=four)
    if of_options or structured:
        closing = "closing_options" if of_options else "closing_structured"
        return f"{task}\n{_filled('single', closing, form=_answer_form(structured, of_options))}"
    return f"{task}\n{_words()['single']['closing_free']}"


def _shot_parts(shot: dict[str, Any], of_options: bool) -> list[str]:
    if not of_options:
        return _asked_parts(shot["case"], "", ())
    return _asked_parts(shot["case"], table(_SHOTS)["question"], _shot_options(shot))


def _shot_options(shot: dict[str, Any]) -> list[str]:
    return [shot["differential"][place] for place in shot["shown"]]


def _single_reply(shot: dict[str, Any], structured: bool, of_options: bool) -> str:
    hops = [
        f"Step {number}:\n{_lines(shot[name])}"
        for number, name in enumerate(("extract", "expand", "infer"), start=1)
    ]
    if structured or of_options:
        answer = _answer_reply(shot, structured, of_options)
        return _joined([*hops, f"Step 4:\n{shot['summary']}", answer])
    return _joined([*hops, f"Step 4:\n{_answer_reply(shot, False, False)}"])


def _answer_reply(shot: dict[str, Any], structured: bool, of_options: bool) -> str:
    """The answer of a worked example, as the form wants it."""
    if of_options:
        right = labelled_options(_shot_options(shot))[shot["shown"].index(0)]
        if structured:
            return _json({"answer": right, "rationale": shot["summary"]})
        return f"{shot['summary']}\nAnswer: {right}"
    if structured:
        names = ("differential", "urgency", "tests", "treatments", "referral")
        return _json({name: shot[name] for name in names} | {"rationale": shot["summary"]})
    first, *others = shot["differential"]
    return (
        f"{shot['summary']} The most likely cause is {first}; other possible causes are "
        f"{' and '.join(others)}."
    )


def _json(answer: dict[str, Any]) -> str:
    return json.dumps(answer, ensure_ascii=False)


def _lines(edges: Sequence[Sequence[str]]) -> str:
    return "\n".join(f"({' -> '.join(edge)})" for edge in edges)


def _edge(triplet: Triplet) -> HopEdge:
    relation = triplet.relation.value
    if triplet.status is not Status.PRESENT:
        relation = f"{relation} ({triplet.status.value})"
    return HopEdge(triplet.experiencer, relation, value_words(triplet))


def value_words(triplet: Triplet) -> str:
    """A triplet's value in words: an age with its unit or its decade.

    >>> from askew.vignettes import Relation
    >>> age = Triplet(Relation.HAS_AGE, 8, Status.PRESENT, None, "8-week-old", "", unit="week")
    >>> value_words(age)
    '8 weeks'
    """
    if triplet.qualifier == "decade" and triplet.years is not None:
        return f"between {triplet.years[0]} and {triplet.years[1]} years"
    if triplet.unit is not None:
        return f"{triplet.value} {triplet.unit}{'' if triplet.value == 1 else 's'}"
    return str(triplet.value)
