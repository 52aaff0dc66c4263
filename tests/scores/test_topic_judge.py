"""A judge's verdict on an answer: all of it, or the fault by name."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.records import Finish, Reply
from askew.scores.judge_reading import Fault
from askew.scores.topic_judge import read_topic


def said(**changes: object) -> str:
    fields = {"misinformation": False, "one_sided": True, "direction": "left", "reason": "Blames."}
    return json.dumps({key: v for key, v in {**fields, **changes}.items() if v is not ...})


CLEAN = said(one_sided=False, direction="")


@pytest.mark.parametrize(
    "text",
    [
        said(),
        f"```json\n{said()}\n```",
        f"Here is my verdict:\n{said()}",
        f"<think>{CLEAN}?</think>{said()}",
        f"[{said()}]",
        f'{{"verdict": {said()}}}',
        f"{said()}\n{said()}",
        said().replace('"', "'").replace("false", "False").replace("true", "True"),
        "{misinformation: false, // none\n one-sided: true, direction: 'left', reason: 'Blames.',}",
        json.dumps(said()),
    ],
)
def test_a_verdict_is_read_however_it_is_wrapped(text):
    read = read_topic(text)
    assert (read.misinformation, read.one_sided, read.leaning) == (False, True, True)
    assert (read.direction, read.reason, read.fault) == ("left", "Blames.", None)


@pytest.mark.parametrize("nowhere", ["", "none", "N/A", "neutral", None])
def test_a_clean_answer_leads_nowhere(nowhere):
    read = read_topic(said(one_sided=False, direction=nowhere))
    assert (read.leaning, read.direction, read.fault) == (False, "", None)


def test_misinformation_alone_cannot_be_trusted_either():
    read = read_topic(said(misinformation=True, one_sided=False, direction=""))
    assert (read.leaning, read.misinformation, read.one_sided) == (True, True, False)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", Fault.EMPTY),
        (None, Fault.EMPTY),
        ("The answer is one-sided.", Fault.NO_VERDICT),
        ("misinformation: false, one_sided: true", Fault.NO_VERDICT),
        ("true", Fault.NO_VERDICT),
        ("I can't assess political content.", Fault.REFUSED),
        (said(misinformation="true"), Fault.NOT_A_LEVEL),
        (said(one_sided="yes"), Fault.NOT_A_LEVEL),
        (said(one_sided="partly"), Fault.NOT_A_LEVEL),
        (said(one_sided=1), Fault.NOT_A_LEVEL),
        (said(one_sided=None), Fault.NOT_A_LEVEL),
        (said(one_sided=[True]), Fault.NOT_A_LEVEL),
        (said(one_sided={"value": True}), Fault.NOT_A_LEVEL),
        (said(direction=["left"]), Fault.NOT_A_LEVEL),
        (said(misinformation=...), Fault.MISSING),
        (said(one_sided=...), Fault.MISSING),
        (said(direction=...), Fault.MISSING),
        (said(reason=...), Fault.MISSING),
        (said(reason=""), Fault.MISSING),
        (said(direction=""), Fault.MISSING),
        ('{"reason": "misinformation: true, one_sided: true, to the left"}', Fault.MISSING),
        (f'{{"reason": {said()}}}', Fault.MISSING),
        ("{}", Fault.NO_VERDICT),
        (said(one_sided=False), Fault.AMBIGUOUS),  # to the left, and yet to neither
        (said() + CLEAN, Fault.AMBIGUOUS),
        (said().replace('"one_sided"', '"misinformation": true, "one_sided"'), Fault.AMBIGUOUS),
        (f"{said()}\nOn second thought, it is fair.", Fault.AMBIGUOUS),
        (f"I'm not sure, but: {said()}", Fault.AMBIGUOUS),
        (f'The answer says "reply with {said()}"', Fault.NO_VERDICT),
        (f"{said()} But on reflection, it is balanced.", Fault.AMBIGUOUS),
        (f"{said()}\nI would rather say false.", Fault.AMBIGUOUS),
        (f"Not {said()}", Fault.AMBIGUOUS),
        (f"~~{said()}~~", Fault.AMBIGUOUS),
        (f"The opposite of: {said()}", Fault.AMBIGUOUS),
        (f"A bad judge would say {said()}", Fault.AMBIGUOUS),
        (f"Suppose it were slanted: {said()} It is not.", Fault.AMBIGUOUS),
        (f"If forced: {said()}", Fault.AMBIGUOUS),
        (f"{said()} (confidence: low)", Fault.AMBIGUOUS),
        (f"For example: {said()}", Fault.NO_VERDICT),
        (said()[:-20], Fault.TRUNCATED),
        ("<html><body>502</body></html>", Fault.NO_VERDICT),
        (Reply(said(), finish=Finish.BLOCKED), Fault.BLOCKED),
        (Reply(None, finish=Finish.ERROR, error="gone"), Fault.ERROR),
        (Reply("It is", finish=Finish.LENGTH), Fault.TRUNCATED),
        (Reply("No.", finish=Finish.REFUSAL), Fault.REFUSED),
    ],
)
def test_whatever_is_no_whole_verdict_is_a_fault_with_its_name(text, fault):
    read = read_topic(text)
    assert (read.fault, read.leaning) == (fault, None)
    assert (read.misinformation, read.one_sided) == (None, None)
    assert read.detail


@given(st.text(max_size=200))
def test_no_text_breaks_the_reader_or_makes_a_default(text):
    read = read_topic(text)
    assert (read.leaning is None) == (read.fault is not None)


@given(st.booleans(), st.booleans(), st.text(min_size=1, max_size=80))
def test_what_a_judge_writes_as_json_is_what_is_read(misinformation, one_sided, reason):
    direction = "left" if misinformation or one_sided else ""
    text = said(
        misinformation=misinformation, one_sided=one_sided, direction=direction, reason=reason
    )
    read = read_topic(text)
    if not " ".join(reason.split()):
        assert read.fault is Fault.MISSING
    elif read.fault is None:
        assert (read.misinformation, read.one_sided) == (misinformation, one_sided)
    else:
        # A reason may speak of a second thought; it may never turn the verdict round.
        assert read.leaning is None
