"""The one question in an attacker's reply, and the one word in a judge's.

Models wrap what they were asked for: in quotes, fences, lead-ins, reasoning, remarks. That is taken
off. Where two different questions are left, none is chosen.
"""

from __future__ import annotations

import json
import re

from askew.build.attack_checks import Fault, FaultCode
from askew.build.attack_options import same_text
from askew.build.attack_words import QUESTION_MARKS
from askew.models.reasoning import split_reasoning

_LONGEST = 2_000  # characters of a line that is looked at
_FENCE = re.compile(r"```[\w-]{0,20}[ \t]*\n(.*?)(?:\n```|\Z)", re.DOTALL)
_TAG = re.compile(r"</?(?:question|answer|output|modified_question)>", re.IGNORECASE)
_BULLET = re.compile(r"^\s*(?:[-*•>#]+\s+|\(?\d{1,2}[.)]\s+)")
_MARKUP = re.compile(r"^(\*\*|__|\*|_|`)(.+)\1$")
# "Modified question: …", "Sure! Here is the paraphrased version: …".
_LABEL = re.compile(
    r"^(?P<lead>[^?？؟:：\"“]{0,120}?\b(?:question|sentence|version|answer|output|result|paraphrase"
    r"|rewording|attempt|it is|q|a))\b[^?？؟:：\"“]{0,40}[:：]\s*(?P<rest>.*)$",
    re.IGNORECASE,
)
_ORIGINAL = re.compile(r"\b(?:original|given|initial|source|first|old|your)\b", re.IGNORECASE)
_QUOTES = {'"': '"', "“": "”", "«": "»", "‘": "’", "'": "'", "`": "`", "„": "“"}
# A remark behind the question: 'Who is lzy? (I deleted "a".)'.
_REMARK = re.compile(r"^(?P<question>.*?[?？؟][\"”’»]?)\s*(?:[(\[].*[)\]]\.?|(?:[-–—→]|//)\s.*)$")
_KEYS = ("question", "modified_question", "changed_question", "new_question", "answer", "output")
_YES_OR_NO = re.compile(
    r"^(?:(?:my |the )?(?:final )?(?:answer|verdict)\s*(?:is)?\s*:?\s*)?(yes|no)\b"
)
_TURNING = re.compile(
    r"\b(?:yes|no|not|never|but|however|although|though|except|unless|partly|partially|maybe|almost"
    r"|mostly|unlike|caveats?|differ\w*|opposite|invert\w*|revers\w*|contrary|contradict\w*)\b|n't\b"
)


def read_question(reply: str | None, original: str) -> str | Fault:
    r"""The changed question in a reply, or why there is none to be read.

    Args:
        reply: the reply's text, as the model gave it.
        original: the question that was to be changed; a reply may say it over before its own.

    >>> read_question('Sure! Modified question: "Who is lzy?"', "Who is lazy?")
    'Who is lzy?'
    >>> read_question("Who is lzy?\nWho is lay?", "Who is lazy?").code.value
    'several_questions'
    """
    answer = split_reasoning(reply).answer if reply else None
    if not answer or not answer.strip():
        return Fault(FaultCode.UNREADABLE, "the reply holds no answer")
    text = answer.strip()
    if (found := _from_json(text)) is not None:
        return found
    fences = _FENCE.findall(text)
    if len(fences) == 1:
        text = fences[0].strip()
        if (found := _from_json(text)) is not None:
            return found
    lines = [line for line in map(_bare, _TAG.sub("\n", text).splitlines()) if line]
    return _chosen(lines, original)


def _chosen(lines: list[str], original: str) -> str | Fault:
    labelled: list[str] = []
    plain: list[str] = []
    awaited = original_follows = False
    for line in lines:
        label = _LABEL.match(line)
        if label is None:
            if not original_follows:
                (labelled if awaited else plain).append(line)
            awaited = original_follows = False
            continue
        rest = _bare(label["rest"])
        is_original = _ORIGINAL.search(label["lead"]) is not None
        if rest and not is_original:
            labelled.append(rest)
        awaited = not rest and not is_original
        original_follows = not rest and is_original
    for found in (labelled, plain):
        questions = [line for line in found if line.endswith(QUESTION_MARKS)] or (
            found if len(found) == 1 or not original.rstrip().endswith(QUESTION_MARKS) else []
        )
        distinct = list(dict.fromkeys(questions))
        others = [line for line in distinct if not same_text(line, original)]
        if len(others) > 1:
            detail = f"the reply holds {len(others)} different questions"
            return Fault(FaultCode.SEVERAL_QUESTIONS, detail)
        if distinct:
            return (others or distinct)[0]
    return Fault(FaultCode.UNREADABLE, "the reply holds no question")


def _bare(line: str) -> str:
    """A line without bullet, markup, quotes around it and a remark behind it."""
    line = _BULLET.sub("", line.strip()[:_LONGEST]).strip()
    while True:
        before = line
        if (marked := _MARKUP.match(line)) is not None:
            line = marked[2].strip()
        if (remark := _REMARK.match(line)) is not None:
            line = remark["question"].strip()
        closing = _QUOTES.get(line[:1])
        inside = line[1:].rstrip(".")
        # 'Who is lazy, "A" or "B"?' begins with no quote; '"A" or "B"?' is not wrapped as a whole.
        if closing and inside.endswith(closing) and closing not in inside[:-1]:
            line = inside[:-1].strip()
        if line == before:
            return line


def _from_json(text: str) -> str | None:
    """The question in a reply that is JSON: a string, a list of one, or an object."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if isinstance(found, list) and len(found) == 1:
        found = found[0]
    if isinstance(found, dict):
        named = [found[key] for key in _KEYS if isinstance(found.get(key), str)]
        texts = named or [value for value in found.values() if isinstance(value, str)]
        found = texts[0] if len(texts) == 1 or named else None
    return found.strip() or None if isinstance(found, str) else None


def read_verdict(reply: str | None) -> bool | None:
    """Whether a judge says yes; None where it says neither, or both.

    >>> read_verdict("Yes."), read_verdict("**No**"), read_verdict("Yes, but the second is rarer.")
    (True, False, None)
    """
    answer = split_reasoning(reply).answer if reply else None
    if answer is None:
        return None
    said = " ".join(re.sub(r"[*_`\"“”#.!]", " ", answer).casefold().replace("’", "'").split())
    said = _TAG.sub(" ", said).strip(" '()[]‘’")
    found = _YES_OR_NO.match(said)
    if found is None:
        return None
    rest = said[found.end() :]
    if found[1] == "yes":
        return None if _TURNING.search(rest) else True
    return None if re.search(r"\byes\b", rest) else False
