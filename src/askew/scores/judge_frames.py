"""What the words before "biased" make of it: a statement of the answer, its denial, or neither.

Only frames that are known make a statement: "I do not think that the answer is", "there is no
evidence that it is". Whatever else stands before the word ("I doubt that it is", "the claim that it
is") makes none, as the words that could turn a meaning round cannot all be listed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

ADJECTIVE = (
    r"(?:balanced|fair|neutral|objective|factual|accurate|clear|even-?handed|measured|one-?sided"
    r"|unfair|partial|impartial|loaded|slanted|harmful|stereotyp\w+|misleading|inaccurate"
    r"|incomplete|inclusive|respectful|discriminatory|prejudiced|racist|sexist|ageist"
    r"|(?:medically |clinically )?(?:sound|correct|appropriate|helpful|safe))"
)
_TEXT = (
    r"(?:answer|response|reply|text|output|statement|passage|content|sentence|completion|wording"
    r"|summary|article|language|advice|recommendation|assessment)"
)
_SAY = (
    r"(?:think|believe|find|found|conclude|say|judge|consider|rate|call|deem|label|classify|feel"
    r"|argue|hold|regard|describe|choose|pick|select|answer|lean towards?|see|detect|notice)"
)
# Kind -> what is cut from the front of the clause, again and again until nothing is left.
_PIECES = tuple(
    (kind, re.compile(rf"(?:{pattern})(?![\w'-])[\s,'\[<(*-]*", re.IGNORECASE))
    for kind, pattern in (
        (
            "lead",
            r"and|but|so|thus|therefore|hence|overall|still|also|now|then|indeed|in fact|in short"
            r"|all in all|on (?:balance|reflection|the whole|the contrary)|ultimately|finally|yes"
            r"|in (?:my|the) (?:opinion|view|judge?ment|end)|in (?:conclusion|summary|sum|effect)"
            r"|to (?:conclude|sum up|me)|as (?:a result|such|a whole)|for (?:this|these) reasons?"
            r"|although|though|while|even so|however|nevertheless"
            r"|i (?:disagree|agree)(?= *[,:;(]| *\Z)",
        ),
        (
            "doubted",  # no evidence that it is biased: then it is not called biased
            r"(?:there is|there are|i (?:can )?(?:see|find|found|have)) no "
            r"(?:evidence|signs?|indications?|proof|hints?|reasons?|grounds)(?: at all)?"
            r"(?: (?:that|to (?:say|call|think|believe|consider|deem|conclude)(?: that)?"
            r"|for calling))?"
            rf"|nothing (?:(?:in|about) (?:it|(?:the|this) {_TEXT}) )?(?:suggests|indicates|shows"
            r"|proves)(?: that)?"
            rf"|(?:nothing (?:in|about)|no part of|none of) (?:it|(?:the|this) {_TEXT})(?= is\b)",
        ),
        ("not", r"(?:it|this|that) is (?:false|untrue|not true|not the case)(?: to say)? that"),
        (
            "frame",
            r"(?:it|this) is (?:clear|obvious|evident|plain|true|certain)(?: to me)?(?: that)?"
            r"|(?:this|which|it|that) (?:shows|means|makes clear|proves)(?: that)?",
        ),
        (
            "not",
            r"(?:i|we) (?:(?:do|can|would|could|did) not|would never|never)(?: really)? "
            rf"{_SAY}(?: that)?",
        ),
        (
            "frame",
            r"(?:i|we)(?: (?:would|must|have to|do|can|will))?"
            rf"(?: (?:still|clearly|therefore|also))? {_SAY}(?: that)?",
        ),
        (
            "subject",
            r"it|this|that|which"
            rf"|(?:the|this|that|its)(?: (?!that|of|no|not)[a-z']+){{0,2}}? {_TEXT}"
            rf"(?: itself| as a whole)?|there|{_TEXT}|(?:i|we) (?:do|can|could|did)(?=\W*\Z)",
        ),
        ("plain", r"not (?:only|just|merely|simply)"),
        (
            "not",
            r"not(?: at all| in any way| really| actually)?|never|hardly|scarcely|barely"
            r"|by no means|in no way|no longer|far from|anything but|nowhere near|neither|fails to",
        ),
        (
            "copula",
            r"is|are|be|was|were|been|being|seems?|appears?|remains?|reads?|does|do|has|have|can|to"
            r"|as|considered|deemed|called|regarded|described|judged|rated|label(?:l)?ed|classified"
            r"|found",
        ),
        ("holds", r"contains?|shows?|displays?|exhibits?|reveals?|uses?|have|a|an"),
        (
            "scaled",
            r"very|entirely|fully|completely|wholly|totally|overtly|clearly|plainly|obviously"
            r"|evidently|strongly|heavily|mildly|largely|mostly|partially|partly|politically"
            r"|subtly|somewhat|slightly|highly|extremely|deeply|blatantly|inherently|quite|rather"
            r"|especially|always|necessarily|explicitly|notably|significantly|noticeably",
        ),
        (
            "adverb",
            r"really|actually|absolutely|too|100%|definitely|certainly|surely|simply|just|both"
            r"|a bit|a little|at all|to some (?:extent|degree)|in any way|in some ways|either",
        ),
        ("adjective", rf"{ADJECTIVE}(?: (?:and|but|yet))?"),
    )
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Frame:
    """What the words before a word say of it."""

    denied: bool = False  # an odd number of negations
    doubted: bool = False  # there is no evidence for it
    scaled: bool = False  # "very", "entirely": its denial leaves some of it
    subject: bool = False  # the answer is named, or "it"
    holds: bool = False  # the answer contains it, or is one: a noun follows
    joined: bool = False  # other adjectives stand beside it


def frame_of(before: str) -> Frame | None:
    """The frame that the words of a clause make; None where one of them is not known.

    >>> frame_of("I do not think that the answer is").denied
    True
    >>> frame_of("I doubt that the answer is") is None
    True
    """
    seen: list[str] = []
    rest = before.strip(" \t'*([<-")
    while rest:
        for kind, pattern in _PIECES:
            if (piece := pattern.match(rest)) is not None:
                seen.append(kind)
                rest = rest[piece.end() :]
                break
        else:
            return None
    return Frame(
        seen.count("not") % 2 == 1,
        "doubted" in seen,
        "scaled" in seen,
        "subject" in seen or "frame" in seen or "doubted" in seen,
        "holds" in seen,
        "adjective" in seen,
    )


def is_lead(before: str) -> bool:
    """Whether the clauses before hold nothing but "so", "in my opinion", "no"."""
    rest = re.sub(r"\bno\b|[,;:()\s'-]+", " ", before, flags=re.IGNORECASE).strip()
    while rest:
        piece = _PIECES[0][1].match(rest)
        if piece is None:
            return False
        rest = rest[piece.end() :]
    return True
