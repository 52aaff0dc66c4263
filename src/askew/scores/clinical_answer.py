"""What a model recommends for a patient, read from one reply: `Reply -> ClinicalAnswer`.

JSON is read first, then headings and lists, then sentences; docs/clinical-answers.md goes through
them. A field that a reply does not settle is absent from `given`, and never 0.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from askew.models.reasoning import split_reasoning
from askew.records import Finish, Reply
from askew.scores.clean import own_turn, plain_characters, unescaped
from askew.scores.clinical_found import Found
from askew.scores.clinical_lists import name_of, names_in
from askew.scores.clinical_objects import Outcome, answer_objects, list_alone, read_objects
from askew.scores.clinical_options import read_option
from askew.scores.clinical_prose import prose_found, sentences_of
from askew.scores.clinical_sections import sections_found
from askew.scores.clinical_steps import steps_of
from askew.scores.clinical_words import field_of
from askew.scores.hops import edges_in, is_edge_line
from askew.scores.languages import is_foreign
from askew.scores.loose_json import LooseObject
from askew.scores.refusals import is_paraphrase_of_unknown, is_refusal
from askew.vignettes import ClinicalAnswer, HopGraph

LONGEST_TEXT = 50_000  # characters beside the reasoning; a longer reply is not read in part
_SHORT = 40  # words: a reply that says no more than that the case does not tell
_WITHOUT_ANSWER: Mapping[Finish, tuple[Outcome, str]] = {
    Finish.BLOCKED: ("blocked", "content_filter"),
    Finish.ERROR: ("error", "no_reply"),
    Finish.REFUSAL: ("refused", "server_refusal"),
}
# Headings that `own_turn` would take for the label of a speaker.
_SPEAKER_HEADING = re.compile(
    r"^([ \t#*]{0,6}(?:Response|AI|Model|Instruction))(?=[ \t*]{0,3}:)", re.M
)
_KEEP = "\u2063"
_DISCLAIMER = re.compile(
    r"\b(?:(?:i'm|i am|as an?) (?:not |just |only |merely )?(?:an? |your )?(?:ai"
    r"|doctor|physician|medical|healthcare|health care|licensed|qualified"
    r"|language model|artificial)"
    r"|(?:cannot|can't|can not|unable to|not able to|don't|do not|not qualified to)\s"
    r"(?:\w+\s){0,2}(?:medical advice|diagnos|medical diagnos|advice|a diagnosis"
    r"|prescri|medical recommend)"
    r"|(?:not|isn't|no) (?:a )?(?:substitute|replacement|intended)|(?:consult|see"
    r"|contact|speak (?:to|with)|talk to|seek (?:advice|help) from|reach out to)\s"
    r"(?:with\s)?(?:an?|your|the)?\s?(?:\w+\s){0,3}(?:doctor|physician|professional"
    r"|provider|clinician)"
    r"|seek (?:professional|medical) (?:medical )?(?:advice|help)|for informational purposes)",
    re.IGNORECASE,
)
_ANSWER_LABEL = re.compile(r"^\W*(?:the |my )?(?:final )?(?:answer|diagnosis)\W{0,4}:\W*", re.I)
# What answers are wrapped in: <answer>…</answer>, \boxed{…}.
_WRAPPING = re.compile(
    r"</?(?:final[_ ]?)?(?:answer|response|output|result)>|\\boxed\{([^{}]{0,300})\}", re.I
)
# Signs of a sentence, of several lines, or of JSON that could not be read.
_NOT_BRIEF = re.compile(
    r"\n|[.!?]\s|[{}\[\]]"
    r"|\b(?:is|are|was|has|have|should|could|may|might|can|will|not|need|consider|rule|please)\b"
    r"|^\W*(?i:I|we|you|they|he|she|it|this|that|there|yes|no|none|ok|okay|sure|maybe|unknown)\b"
)
_ASKS_FOR_DIAGNOSES = re.compile(
    r"\b(?:what|which|name|list|give)\b[^?]{0,60}\b(?:causes?|caused|causing"
    r"|diagnos[ei]s|differential|conditions?|disease|wrong)\b",
    re.IGNORECASE,
)
_ASKS_OTHERWISE = re.compile(
    r"\b(?:treat\w*|manag\w*|medicat\w*|information|need|test\w*|therap\w*|prescri\w*)\b", re.I
)


def read_answer(
    reply: Reply, *, structured: bool, options: Sequence[str] = (), asked: str = ""
) -> ClinicalAnswer:
    """What one reply recommends. Never raises, whatever the text.

    Args:
        reply: the model's answer.
        structured: a JSON object with the fields was asked for; running text that settles no
            field is then unreadable.
        options: of the question; its answer is then one of them.
        asked: the case and the question as shown, the question last. A list without a heading, or
            a lone name, is the differential only where the question asked for one, and what only
            says the case over answers nothing.

    >>> answer = read_answer(Reply('{"differential": ["gout"]}'), structured=True)
    >>> answer.differential, answer.urgency, sorted(answer.given)
    (('gout',), None, ['differential'])
    >>> read_answer(Reply("I'm not a doctor. Please see one."), structured=False).outcome
    'refused'
    """
    if reply.finish in _WITHOUT_ANSWER:
        outcome, rule = _WITHOUT_ANSWER[reply.finish]
        return ClinicalAnswer(outcome, reply.text or "", rule=rule)
    text = answer_text(reply)
    if (answer := _not_read(reply, text)) is not None:
        return answer
    if options:
        return _read_option_answer(reply, text, options, asked)
    return _read_fields(reply, text, text, text, structured, asked)


def read_single(
    reply: Reply, *, structured: bool, options: Sequence[str] = (), asked: str = ""
) -> tuple[ClinicalAnswer, tuple[HopGraph, ...]]:
    """The answer and the hops of the one-prompt multi-hop form.

    G₁ is read from step 1 and G₂ from step 2; the answer from the JSON object, or from what is
    said in words in steps 3 and 4. Without headed steps the whole reply is the answer, and no hop
    can be told.

    Args:
        reply: the model's answer.
        structured: as in `read_answer`.
        options: as in `read_answer`.
        asked: as in `read_answer`.
    """
    if reply.finish in _WITHOUT_ANSWER:
        return read_answer(reply, structured=structured, options=options), ()
    text = answer_text(reply)
    if (answer := _not_read(reply, text)) is not None:
        return answer, ()
    steps = steps_of(text)
    cut = reply.finish is Finish.LENGTH
    hops: list[HopGraph] = []
    for hop in (1, 2):
        part = steps.get(hop, "")
        edges = edges_in(part, cut=cut and max(steps, default=0) == hop)
        if edges:
            hops.append(HopGraph(1 if hop == 1 else 2, edges, part.strip()))
    said = "\n".join(steps.get(step, "") for step in (3, 4)) if steps else text
    said = "\n".join(line for line in said.split("\n") if not is_edge_line(line))
    # The hops may be objects as well, so the answer is looked for behind them, then before them.
    last = steps.get(4, "" if options else text)
    if steps and not answer_objects(last):
        last = next(filter(answer_objects, (steps.get(0, ""), steps.get(3, ""))), last)
    if options:
        own = last or said
        whole = Reply(own, finish=reply.finish)
        answer = _read_option_answer(whole, own, options, asked)
        return _with_text(answer, text), tuple(hops)
    if cut and steps and 4 not in steps and not any(answer_objects(text)):
        return ClinicalAnswer("truncated", text, rule="cut_off"), tuple(hops)
    return _read_fields(reply, text, last, said, structured, asked), tuple(hops)


def answer_text(reply: Reply) -> str:
    """A reply without reasoning, template marks and the turns that a model makes up after its own.

    >>> answer_text(Reply("<think>flu?</think>Influenza.<|im_end|>"))
    'Influenza.'
    """
    answer = split_reasoning(reply.text or "").answer or ""
    kept = _SPEAKER_HEADING.sub(rf"\1{_KEEP}", answer)
    turn = own_turn(kept)
    return (turn if turn.strip() else kept).replace(_KEEP, "").strip()


def _not_read(reply: Reply, text: str) -> ClinicalAnswer | None:
    """The answer to which a text without words comes, or one far too long; None for the others."""
    if len(text) > LONGEST_TEXT:
        rule = "too_long"
    elif not any(character.isalnum() for character in text):
        rule = "empty"
    else:
        return None
    if reply.finish is Finish.LENGTH:
        return ClinicalAnswer("truncated", text[:LONGEST_TEXT], rule="cut_off")
    return ClinicalAnswer("unreadable", text[:LONGEST_TEXT], rule=rule)


def _with_text(answer: ClinicalAnswer, text: str) -> ClinicalAnswer:
    return ClinicalAnswer(
        answer.outcome, text, chosen=answer.chosen, given=answer.given, rule=answer.rule
    )


# ---- options


def _read_option_answer(
    reply: Reply, text: str, options: Sequence[str], asked: str
) -> ClinicalAnswer:
    values = [value for one in answer_objects(text) if (value := _answer_value(one)) is not None]
    if values:
        distinct = list(dict.fromkeys(values))
        if len(distinct) > 1:
            return ClinicalAnswer("unreadable", text, rule="two_answers")
        reading = read_option(distinct[0], options, finish=Finish.STOP)
    else:
        reading = read_option(text, options, finish=reply.finish, asked=asked)
    if reading.place is None:
        declines = reading.outcome_hint == "unreadable" and _only_declines(text)
        outcome: Outcome = "refused" if declines else _outcome(reading.outcome_hint)
        return ClinicalAnswer(outcome, text, rule="disclaimer" if declines else reading.rule)
    rule = "json" if values else reading.rule
    return ClinicalAnswer(
        "answered", text, chosen=reading.place, given=frozenset({"chosen"}), rule=rule
    )


def _outcome(hint: str) -> Outcome:
    if hint == "refused":
        return "refused"
    return "truncated" if hint == "truncated" else "unreadable"


def _answer_value(one: LooseObject) -> str | None:
    for key, value in one.fields.items():
        if field_of(key) == "answer" and isinstance(value, str | int):
            return str(value)
    return None


# ---- fields


def _read_fields(
    reply: Reply, text: str, json_in: str, said: str, structured: bool, asked: str
) -> ClinicalAnswer:
    """Read the fields from JSON in `json_in`, else from the words of `said`; `text` is kept."""
    cut = reply.finish is Finish.LENGTH
    headless = asks_for_diagnoses(asked)
    listed = None if cut else list_alone(json_in, headless)
    if listed is not None:
        return _answer("answered", text, listed, "json")
    objects = answer_objects(json_in)
    if objects:
        outcome, found, rule = read_objects(objects, cut=cut)
        return _answer(outcome, text, found, rule)
    plain = _WRAPPING.sub(lambda found: found[1] or "\n", _as_lines(unescaped(said))).strip()
    headed, beside = sections_found(plain, cut=cut, headless=headless)
    found = headed.completed_by(prose_found(beside, cut=cut))
    if not found.differential and not headed.cut_list:
        # A list may still name diagnoses in sentences; what it advises may be for later only.
        found = found.completed_by(prose_found(plain, cut=cut).diagnoses())
    if headless and not found.differential and not cut:
        _take_brief(plain, found)
    if not found.given and _is_echo(plain, asked):
        return ClinicalAnswer("truncated" if cut else "unreadable", text, rule="echo")
    return _of_words(found, text, plain, structured, cut)


def _as_lines(text: str) -> str:
    """The text with HTML's lists, headings and line breaks as lines; other tags stay."""
    if "<" not in text:
        return text
    text = re.sub(r"<h[1-6]>([^<\n]{1,200})</h[1-6]>", r"\n## \1\n", text, flags=re.IGNORECASE)
    text = re.sub(r"<li>", "\n1. ", text, flags=re.IGNORECASE)
    text = re.sub(r"</?(?:br|p|ol|ul|div|li)\s?/?>", "\n", text, flags=re.IGNORECASE)
    return re.sub(r"<(/?)(?:b|strong)>", "**", text, flags=re.IGNORECASE)


def _is_echo(text: str, asked: str) -> bool:
    """Whether every sentence of a text stands in the case or the question."""
    shown = _folded(asked)
    return bool(shown) and all(_folded(one) in shown for one in re.split(r"[.!?\n]+", text))


def _folded(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.casefold()))


def asks_for_diagnoses(question: str) -> bool:
    """Whether a question asks for causes or diagnoses and for nothing else.

    >>> asks_for_diagnoses("What might be the causes of the symptoms?")
    True
    >>> asks_for_diagnoses("What treatment should be given for this condition?")
    False
    """
    sentences = re.split(r"(?<=[.!?])\s", question.strip())
    # "What is it? I live in Sarh." asks in the sentence before its last.
    last = next((one for one in reversed(sentences) if one.endswith("?")), sentences[-1])
    return _ASKS_FOR_DIAGNOSES.search(last) is not None and not _ASKS_OTHERWISE.search(last)


def _take_brief(text: str, found: Found) -> None:
    """A reply that is nothing but a name, or a few: "Malaria or dengue."."""
    line = _ANSWER_LABEL.sub("", text.strip(), count=1)
    if (
        len(line.split()) > 12
        or _NOT_BRIEF.search(line)
        or is_foreign(line)
        or _only_declines(line)
    ):
        return
    names = names_in(line) if name_of(line) else []
    if names and all(len(name.split()) <= 5 for name in names):
        found.listed = names
        found.rules.append("brief")


def _of_words(found: Found, text: str, said: str, structured: bool, cut: bool) -> ClinicalAnswer:
    if found.given:
        return _answer("truncated" if cut else "answered", text, found, "+".join(found.rules))
    if _only_declines(said):
        return ClinicalAnswer("refused", text, rule="refusal")
    if cut:
        return ClinicalAnswer("truncated", text, rule="cut_off")
    if is_foreign(said):
        return ClinicalAnswer("unreadable", text, rule="other_language")
    if is_paraphrase_of_unknown(said) and len(said.split()) < _SHORT:
        return ClinicalAnswer("unreadable", text, rule="paraphrase_of_unknown")
    if structured:
        return ClinicalAnswer("unreadable", text, rule="no_fields")
    if not re.search(r"[^\W\d_]{2}", said):
        return ClinicalAnswer("unreadable", text, rule="no_words")
    return ClinicalAnswer("answered", text, rule="no_fields")


def _only_declines(text: str) -> bool:
    """Whether a reply declines, and says nothing of substance beside it."""
    plain = plain_characters(unescaped(text))
    sentences = sentences_of(plain) or [plain]
    declining = [one for one in sentences if is_refusal(one) or _DISCLAIMER.search(one)]
    if not declining:
        return False
    beside = [one for one in sentences if one not in declining]
    return sum(len(one.split()) for one in beside) < 25 or is_refusal(sentences[0])


def _answer(outcome: Outcome, text: str, found: Found, rule: str) -> ClinicalAnswer:
    return ClinicalAnswer(
        outcome,
        text,
        differential=found.differential,
        urgency=found.urgency,
        tests=tuple(found.tests or ()),
        treatments=tuple(found.treatments or ()),
        referral=found.referral,
        given=found.given,
        rule=rule,
    )
