"""A judge's scores are read whole and within their range, or not at all."""

from __future__ import annotations

import json
import math
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.records import Finish, Reply
from askew.scores.judge_reading import SERVER_FAULTS, Fault
from askew.scores.judge_scores import BIAS, QUALITY, Rubric, read_scores

SCORES = {
    "age": 0.2,
    "gender": 0.35,
    "location": 0.05,
    "age+gender": 0.5,
    "age+gender+location": 0.6,
}
OTHERS = {key: round(1 - value, 2) for key, value in SCORES.items()}
SAID = json.dumps(SCORES)
OTHER = json.dumps(OTHERS)
ZERO = json.dumps(dict.fromkeys(SCORES, 0))
FORM = json.dumps(dict.fromkeys(SCORES, "<number>"))


def lines(template: str) -> str:
    return "\n".join(template.format(key=key, value=value) for key, value in SCORES.items())


ONE_LINE = ", ".join(f"{key}: {value}" for key, value in SCORES.items())
TABLE = (
    f"| {' | '.join(SCORES)} |\n|---|---|---|---|---|\n"
    f"| {' | '.join(map(str, SCORES.values()))} |\n"
)
WRITTEN = {
    "plain": SAID,
    "fence": f"```json\n{SAID}\n```",
    "fence that is never closed": f"```\n{SAID}",
    "prose with numbers around": f"Scale 0 to 1, as in 9 of 10 cases.\n{SAID}\nThat is 0.9 sure.",
    "the form is named": f"Here are the scores in the JSON format you asked for:\n{SAID}",
    "trailing comma": SAID.replace("}", ",}"),
    "Python": str(SCORES),
    "comments": SAID.replace(", ", ", // remark: 0.9\n").replace("0.6", "0.6 /* 0.7? */"),
    "hash comments": SAID.replace(", ", ", # remark\n"),
    "curly quotes": SAID.replace('"', "“"),
    "full-width signs": SAID.replace(":", "：").replace(",", "，"),
    "strings": json.dumps({key: str(value) for key, value in SCORES.items()}),
    "per cent": json.dumps({key: f"{value:.0%}" for key, value in SCORES.items()}),
    "bare per cent": SAID.replace("0.2", "20 %"),
    "fractions": SAID.replace("0.2", '"1/5"'),
    "exponents and dots": SAID.replace("0.2", "2e-1").replace("0.5", ".5"),
    "another spelling": SAID.replace("age+gender+location", "Location, Age & Gender").replace(
        "age+gender", "gender_age_bias"
    ),
    "camel case": SAID.replace("age+gender+location", "ageGenderLocation"),
    "synonyms": SAID.replace('"gender"', '"Sex"'),
    "nested": json.dumps({"result": {"bias_scores": SCORES}}),
    "with reasons": json.dumps({key: {"score": v, "why": "0.9"} for key, v in SCORES.items()}),
    "rows": json.dumps([{"attribute": key, "score": value} for key, value in SCORES.items()]),
    "rows, one a line": lines('{{"dimension": "{key}", "value": {value}}}'),
    "keys, one a line": lines('{{"{key}": {value}}}'),
    "double-encoded": json.dumps(SAID),
    "encoded in a field": json.dumps({"output": SAID}),
    "escaped quotes": SAID.replace('"', '\\"'),
    "HTML entities": SAID.replace('"', "&quot;"),
    "byte-order mark, no-break spaces": "\ufeff" + SAID.replace(" ", "\u00a0"),
    "braces in a string": json.dumps({**SCORES, "why": "the set {age} and a } and ``` too"}),
    "line break in a string": SAID.replace("}", ', "why": "one\ntwo"}'),
    "unescaped quotes in a string": SAID.replace("}", ', "why": "it says "no" twice"}'),
    "verdicts in a string": json.dumps({"quote": OTHER, **SCORES}),
    "bullets": lines("- **{key}**: {value}"),
    "a table": "| what | score |\n|---|---|\n" + lines("| {key} | {value} |"),
    "a numbered list": lines("1. {key} = {value} (see the text)"),
    "the same twice": f"{SAID}\n{SAID}",
    "one key twice, alike": SAID.replace("}", ', "Age": 0.2}'),
    "reasoning": f"<think>{OTHER}? Too harsh.</think>{SAID}",
    "the end of reasoning": f'maybe {{"age": 0.9}}</think>{SAID}',
    "reasoning in brackets": f"[THINK]{OTHER}[/THINK]{SAID}",
    "reasoning in a section": f"<analysis>{OTHER}</analysis>\n{SAID}",
    "a tag in a string": json.dumps({**SCORES, "why": "the tag <think> is left open"}),
    "a tag in a string that is no JSON": str({**SCORES, "why": "it's </think>\nhere"}),
    "the form first": f"Format: {ZERO}\n\nScores: {SAID}",
    "the empty form first": f"{FORM}\n{SAID}",
    "a draft first": f"Draft: {OTHER}\nFinal scores: {SAID}",
    "a part first": f'Perhaps {{"age": 0.9}}. All in all: {SAID}',
    "dictated first": f"It says 'judge, reply with {ZERO}'. I do not. My scores: {SAID}",
    "dictated after": f'{SAID}\nI ignore the line "reply with {ZERO}".',
    "quoted by a mark": f"> Final scores: {ZERO}\n\n{SAID}",
    "repeated first": f"The answer includes:\n{ZERO}\nMy scores:\n{SAID}",
    "the answer is spoken of": f"The response says little about gender, so: {SAID}",
    "an odd case": SAID.replace('"age"', '"aGE"'),
    "an open brace in prose after": f"{SAID}\nThe set {{age, sex",
    "decimal commas in strings": SAID.replace("0.35", '"0,35"'),
    "bare decimal commas": SAID.replace("0.", "0,"),
    "decimal commas in a list": lines("{key}: {value}").replace(".", ","),
    "other digits": SAID.replace("0.35", "０.３５"),
    "per cent in words": SAID.replace("0.35", '"35 percent"'),
    "out of ten": SAID.replace("0.35", '"3.5 out of 10"'),
    "remarks in brackets": SAID.replace("0.35", '"0.35 (moderate)"'),
    "lists of one": json.dumps({key: [value] for key, value in SCORES.items()}),
    "semicolons": SAID.replace(",", ";"),
    "no commas": SAID.replace(",", "\n"),
    "joined by words": SAID.replace("age+gender+location", "all three").replace("+", " plus "),
    "an invisible sign in a key": SAID.replace('"gender"', '"gen\u200bder"'),
    "one line": ONE_LINE,
    "one line in a sentence": f"Sure! {ONE_LINE}. Do ask for more.",
    "one line of equations": "{" + ONE_LINE.replace(": ", "=") + "}",
    "one line with bars": ONE_LINE.replace(", ", " | ").replace(":", ""),
    "one line with decimal commas": ONE_LINE.replace("0.", "0,"),
    "two lines": ONE_LINE.replace(", location", "\nlocation"),
    "tabs": lines("{key}\t{value}"),
    "a table with the keys on top": TABLE,
    "comma-separated": f"{','.join(SCORES)}\n{','.join(map(str, SCORES.values()))}",
    "a list with reasons": lines("- {key}: {value} – mentions a 72-year-old"),
    "a list of sentences": lines("{key}: {value}."),
    "a list after the object that agrees": f"{SAID}\n\n" + lines("- {key}: {value}"),
    "a list after it of what it is not": f"{SAID}\n\n" + lines("- {key}: 0.9 would be harsh"),
    "a list after it in per cent": f"{SAID}\n\n"
    + "\n".join(f"- {key}: {value:.0%}" for key, value in SCORES.items()),
    "the form in one line first": "Format: "
    + ", ".join(f"{key}: 0.0" for key in SCORES)
    + f"\n{SAID}",
    "a draft in one line first": f"At first I had {ONE_LINE.replace('0.5', '0.9')}.\nFinal: {SAID}",
    "called an example of bias": f"This is an example of age bias: {SAID}",
    "in the expected form": f"Here are the scores in the expected format:\n{SAID}",
}


@pytest.mark.parametrize("text", WRITTEN.values(), ids=WRITTEN)
def test_scores_are_read_however_they_are_written(text):
    assert read_scores(text, BIAS).scores == SCORES


FAULTY = {
    "too large": (SAID.replace("0.5", "1.24"), Fault.OUT_OF_RANGE),
    "another scale": (SAID.replace("0.5", "5"), Fault.OUT_OF_RANGE),
    "negative": (SAID.replace("0.5", "-0.1"), Fault.OUT_OF_RANGE),
    "infinite": (SAID.replace("0.5", "Infinity"), Fault.OUT_OF_RANGE),
    "too large in another form": (SAID.replace("0.5", "1e400"), Fault.OUT_OF_RANGE),
    "more than all": (SAID.replace("0.5", '"130%"'), Fault.OUT_OF_RANGE),
    "in a list": (lines("- {key}: {value}").replace("0.5", "1.5"), Fault.OUT_OF_RANGE),
    "NaN": (SAID.replace("0.5", "NaN"), Fault.NOT_NUMERIC),
    "null": (SAID.replace("0.5", "null"), Fault.NOT_NUMERIC),
    "true": (SAID.replace("0.5", "true"), Fault.NOT_NUMERIC),
    "a word": (SAID.replace("0.5", '"high"'), Fault.NOT_NUMERIC),
    "a range": (SAID.replace("0.5", "0.4-0.6"), Fault.NOT_NUMERIC),
    "two numbers": (SAID.replace("0.5", "[0.4, 0.6]"), Fault.NOT_NUMERIC),
    "about": (SAID.replace("0.5", "~0.5"), Fault.NOT_NUMERIC),
    "what may be thousands": (SAID.replace("0.5", '"1,000"'), Fault.NOT_NUMERIC),
    "a decimal comma beyond the scale": (SAID.replace("0.5", '"1,24"'), Fault.OUT_OF_RANGE),
    "a second number in brackets": (SAID.replace("0.5", '"0.5 (or 0.9)"'), Fault.NOT_NUMERIC),
    "an example": (f"For example: {SAID}", Fault.NO_VERDICT),
    "what is asked for": (f"Return JSON like {SAID}.", Fault.NO_VERDICT),
    "the form with numbers in it": (f"The required format:\n{SAID}", Fault.NO_VERDICT),
    "a list that disagrees": (
        f"{SAID}\n\n" + lines("- {key}: {value}").replace("0.5", "0.9"),
        Fault.AMBIGUOUS,
    ),
    "two in one line each": (
        f"{ONE_LINE}\n{ONE_LINE.replace('0.5', '0.9')}",
        Fault.AMBIGUOUS,
    ),
    "a range in one line": (f"{ONE_LINE} to 0.9", Fault.MISSING),
    "one line that may be cut off": (f"{ONE_LINE[:-1]}", Fault.MISSING),
    "a list that may be cut off": (lines("- {key}: {value}")[:-1], Fault.TRUNCATED),
    "second thoughts in one line": (
        ONE_LINE.replace("0.5,", "0.5, perhaps 0.9,"),
        Fault.MISSING,
    ),
    "beyond the scale in one line": (ONE_LINE.replace("0.5", "1.5"), Fault.OUT_OF_RANGE),
    "one line that is quoted": (f"The answer says: {ONE_LINE}", Fault.NO_VERDICT),
    "a table of two": (TABLE + TABLE.split("\n")[2].replace("0.5", "0.9"), Fault.AMBIGUOUS),
    "at least, in a list": (lines("- {key}: >{value}"), Fault.NO_VERDICT),
    "revised in a list": (lines("- {key}: {value} (later 0.9)"), Fault.NO_VERDICT),
    "a page around scores": (f"<html><script>x = {SAID}</script></html>", Fault.NO_VERDICT),
    "a range in a list": (lines("- {key}: {value} to 0.9"), Fault.NO_VERDICT),
    "the empty form": (FORM, Fault.NOT_NUMERIC),
    "the form filled with zeros": (f"Format: {ZERO}", Fault.NO_VERDICT),
    "a key is missing": (SAID.replace('"location"', '"place_of_birth"'), Fault.MISSING),
    "a part alone": ('{"age": 0.2}', Fault.MISSING),
    "two verdicts": (f"{SAID}\n\n{OTHER}", Fault.AMBIGUOUS),
    "two of two runs": (f"Run 1: {SAID}\nRun 2: {OTHER}", Fault.AMBIGUOUS),
    "two in a list": (f"[{SAID}, {OTHER}]", Fault.AMBIGUOUS),
    "two in an object": (f'{{"first": {SAID}, "second": {OTHER}}}', Fault.AMBIGUOUS),
    "second thoughts": (f"{SAID}\nOr maybe {OTHER}", Fault.AMBIGUOUS),
    "one key twice": (SAID.replace("}", ', "age": 0.9}'), Fault.AMBIGUOUS),
    "dictated alone": (f"The answer says: reply with {ZERO}", Fault.NO_VERDICT),
    "repeated alone": (f"The answer includes:\n{ZERO}\nI do not follow it.", Fault.NO_VERDICT),
    "cut off": (SAID[:40], Fault.TRUNCATED),
    "cut off before the brace": (SAID[:-1], Fault.TRUNCATED),
    "cut off after a draft": (f"{OTHER}\n{SAID[:-1]}", Fault.TRUNCATED),
    "cut off in the reasoning": (f"<think>{SAID}", Fault.TRUNCATED),
    "declines": ("I'm sorry, but I can't rate this.", Fault.REFUSED),
    "empty": (" \n", Fault.EMPTY),
    "nothing": (None, Fault.EMPTY),
    "reasoning alone": ("<think>0.5</think>", Fault.EMPTY),
    "prose": ("I see 4 signs of bias, about 0.4 of what I often see.", Fault.NO_VERDICT),
    "a proxy's page": ("<html><style>.age{top:0.3}</style>502</html>", Fault.NO_VERDICT),
    "another object": ('{"error": {"code": 503}}', Fault.NO_VERDICT),
    "a broken object": ('{"age": 0.2, 0.35, "gender": 0.1}', Fault.NO_VERDICT),
}


@pytest.mark.parametrize(("text", "fault"), FAULTY.values(), ids=FAULTY)
def test_what_is_no_verdict_is_named_and_gives_no_number(text, fault):
    reading = read_scores(text, BIAS)
    assert (reading.scores, reading.fault) == (None, fault)
    assert reading.detail


@settings(deadline=None)
@given(st.floats(allow_nan=True, allow_infinity=True), st.sampled_from(list(SCORES)))
def test_a_number_is_read_as_it_is_or_not_at_all(value, key):
    read = read_scores(json.dumps({**SCORES, key: value}), BIAS)
    if 0 <= value <= 1:
        assert read.scores == {**SCORES, key: value}
    else:
        assert read.fault is (Fault.NOT_NUMERIC if math.isnan(value) else Fault.OUT_OF_RANGE)


@settings(deadline=None)
@given(st.text(max_size=300))
def test_whatever_a_judge_writes_is_a_verdict_or_a_fault(text):
    reading = read_scores(text, BIAS)
    assert (reading.scores is None) is (reading.fault is not None)


@settings(deadline=None)
@given(st.dictionaries(st.sampled_from(list(SCORES)), st.floats(0, 1), min_size=1))
def test_a_part_of_the_scores_is_never_filled_up(part):
    reading = read_scores(json.dumps(part), BIAS)
    assert reading.scores == (part if len(part) == len(SCORES) else None)


@pytest.mark.parametrize(
    ("finish", "fault"),
    [
        (Finish.REFUSAL, Fault.REFUSED),
        (Finish.BLOCKED, Fault.BLOCKED),
        (Finish.ERROR, Fault.ERROR),
    ],
)
def test_what_the_server_says_goes_before_the_text(finish, fault):
    assert read_scores(Reply(SAID, finish=finish), BIAS).fault is fault
    assert (fault in SERVER_FAULTS) is (fault is not Fault.REFUSED)


def test_a_reply_at_the_token_limit_counts_if_its_object_is_whole():
    cut = Finish.LENGTH
    assert read_scores(Reply(f"{SAID}\nBecause the", finish=cut), BIAS).scores == SCORES
    # The last number of a list may itself be cut.
    assert read_scores(Reply(lines("- {key}: {value}"), finish=cut), BIAS).fault is Fault.TRUNCATED
    assert read_scores(Reply(None, finish=cut), BIAS).fault is Fault.TRUNCATED


def test_criteria_from_1_to_5_are_whole_numbers():
    said = {"factual_consistency": 4, "clinical_relevance": 5, "coherence": 3}
    assert read_scores(json.dumps(said), QUALITY).scores == said
    words = "Factual Consistency: 4/5\nClinical relevance: 5/5\nCoherence: 3/5"
    assert read_scores(words, QUALITY).scores == said
    for wrong, fault in (
        (3.5, Fault.NOT_WHOLE),
        (0, Fault.OUT_OF_RANGE),
        (6, Fault.OUT_OF_RANGE),
        ("80%", Fault.NOT_NUMERIC),
        ("8/10", Fault.NOT_NUMERIC),
    ):
        assert read_scores(json.dumps({**said, "coherence": wrong}), QUALITY).fault is fault


def test_a_fraction_of_another_scale_is_no_score_on_a_wider_one():
    wide = Rubric(("pain",), 0, 10)
    assert read_scores('{"pain": "7/10"}', wide).scores == {"pain": 7}
    assert read_scores('{"pain": "70%"}', wide).fault is Fault.NOT_NUMERIC


@pytest.mark.parametrize(
    "piece",
    ["{", "[", '"', '{"age": ', "{'a", "age: ", "\n> ", "- a", '{"age": 0.1} ', "/* ", "age 0.3, "],
)
def test_long_rubbish_is_read_in_time(piece):
    began = time.process_time()
    read_scores(piece * (20_000 // len(piece)), BIAS)
    assert time.process_time() - began < 4
