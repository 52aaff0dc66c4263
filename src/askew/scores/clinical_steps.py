"""The one-prompt multi-hop reply, parted at its four headed steps."""

from __future__ import annotations

import re

_STEP = re.compile(
    r"^[\s#*>_-]{0,8}(?:\(?step\s?\(?(?P<step>[1-4])\)?|(?P<number>[1-4])[.):])(?P<rest>[^\n]*)$",
    re.IGNORECASE | re.MULTILINE,
)
_STEP_WORDS = {
    1: re.compile(r"extract|relationship|triplet", re.IGNORECASE),
    2: re.compile(r"connect|risk|link|expan|knowledge", re.IGNORECASE),
    3: re.compile(r"infer|cause", re.IGNORECASE),
    4: re.compile(r"summar|reasoning|conclu|answer", re.IGNORECASE),
}


# An object, or a triplet in brackets; "gout (a first attack)" is prose.
_CONTENT = re.compile(r"\{|[(\[](?=[^()\[\]]{0,200}(?:->|[→⇒⟶]))|\A[(\[]")
# "In summary, it is gout": no name of a step has a verb of this kind.
_SAYS = re.compile(
    r"\b(?:is|are|was|were|has|have|may|might|could|should|suggests?|likely)\b", re.I
)


def steps_of(text: str) -> dict[int, str]:
    """The parts of a reply under its headed steps, 0 = before them; empty if it has none."""
    marks: list[tuple[int, re.Match[str]]] = []
    for found in _STEP.finditer(text):
        step = int(found["step"] or found["number"])
        if found["step"] is None and not _STEP_WORDS[step].search(found["rest"][:80]):
            continue
        if not marks or step > marks[-1][0]:
            marks.append((step, found))
    # One "Step 1" is enough: the reply may have been cut off within it.
    if not marks or (len(marks) < 2 and marks[0][1]["step"] is None):
        return {}
    ends = [found.start() for _, found in marks[1:]] + [len(text)]
    parts = {
        step: f"{_beside_heading(found['rest'], step)}\n{text[found.end() : end]}"
        for (step, found), end in zip(marks, ends, strict=True)
    }
    return {0: text[: marks[0][1].start()]} | parts


def _beside_heading(rest: str, step: int) -> str:
    """What follows the step's name in its own line, the name taken off."""
    rest = rest.strip(" *_#:.)-")
    # What stands beside the name may have colons of its own: an object, "3:1" in a triplet.
    content = _CONTENT.search(rest)
    name = rest[: content.start()].strip(" *_:") if content else ""
    if content and (not name or (len(name.split()) <= 10 and _STEP_WORDS[step].search(name))):
        return rest[content.start() :]
    head, colon, value = rest.partition(":")
    if colon and len(head.split()) <= 10:
        return value.strip(" *")
    is_name = (
        len(rest.split()) <= 10
        and _STEP_WORDS[step].search(rest)
        and not _SAYS.search(rest)
        and "->" not in rest
    )
    return "" if is_name else rest
