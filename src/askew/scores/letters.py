"""Option letters in running text, told from the article A, initials, grades and idioms."""

from __future__ import annotations

import re
from dataclasses import dataclass

from askew.scores.clean import UNSPACED

# Cyrillic and Greek letters that look like A and C. В is left out: it looks like B and is the third
# letter of the Russian alphabet, so nobody can say which of two options it means.
LOOKALIKES = dict(zip("АаΑαСсϹϲΒ", "AaAaCcCcB", strict=True))

# Words that may follow a letter that is an option; any other word makes "A" an article.
_LINKS = (
    "because|since|as|so|for|and|or|but|due|given|based|if|while|though|although|not|then|it is"
    "|in my|i think|i'd say|here|instead|too|please|only|weil|da|denn|und|oder|aber|car|parce|et|ou"
    "|mais|porque|pues|ya que|pero|y|perché|perche|poiché|ma|pois|mas|потому|так как|но|и|или|bo"
    "|ponieważ|lub|omdat|want"
)
AFTER_LETTER = rf"(?=\s{{0,2}}(?:$|[^\s\w'(]|\s\(|\n)|\s(?:{_LINKS})\b|\s[{UNSPACED}])"

# Things that are named by letters: "vitamin C", "plan B", "Grade-A".
_NAMED_BY_LETTER = (
    "vitamins?|plan|grades?|type|class|hepatitis|points?|section|part|appendix|exhibit|schedule"
    "|figure|fig|table|group|team|block|building|room|gate|terminal|line|note|key of|flat|person"
    "|patient|mr|mrs|ms|dr|player|side|size|cup|row|column|bus|route|zone|band|list|tier|series"
    "|generation|gen|middle initial|exit|wing|unit|level|straight|an|a|programming in|company"
    "|model|version|cell|character|speaker|driver|candidate|employee|student|suspect"
)
_IDIOM_BEFORE = re.compile(
    rf"(?<!\w)(?:{_NAMED_BY_LETTER})\s\Z|\w-\Z|\w[/&]\Z|(?<!\w)[A-Z](?:\.\s?|\sto\s)\Z",
    re.IGNORECASE,
)
_IDIOM_AFTER = re.compile(r"-\w|[+#%]|[/&]\w|\.\w|\.\s?[A-Z]\.|\sto\s[A-Z](?!\w)|'\w")
_LETTER = re.compile(
    r"(?<!\w)(?:(?P<wrapped>\([ ]?[A-Za-z][ ]?\))|(?P<bare>[A-Z])"
    r"|(?:(?<=option )|(?<=choice )|(?<=letter )|(?<=answer ))(?P<named>[a-z]))(?!\w)"
)
_NEGATION = (
    r"not|cannot|\w{1,8}n't|never|neither|nor|without|except|excluding|eliminat\w{1,4}"
    r"|rul(?:e|es|ed|ing) out|instead of|rather than|unlike|against|reject\w{0,3}|dismiss\w{0,3}"
    r"|nicht|kein\w{0,2}|weder|pas|ni|non|não|nem|no es|no sea|не|nie"
)
_NEGATED_BEFORE = re.compile(
    rf"(?:(?<!\w)(?:{_NEGATION})\s|(?:不是|不选|不選|非)\s?)"
    rf"(?:(?!(?:but|so|hence|therefore|thus|then|sondern|mais|sino|ma"
    rf"|но)\s)[\w'(]{{1,15}}\)?\s){{0,5}}"
    rf"(?:\([A-Z]\)|[A-Z])?(?:\s?(?:or|nor|and)\s)?\Z",
    re.IGNORECASE,
)
# "A is tempting", "B says that": the letter is talked about, not chosen.
_TALKED_ABOUT = re.compile(
    r"\)?\s?(?:is|was|are|were|isn't|wasn't|can't|cannot|could|would|might|may|must|does|doesn't"
    r"|did|didn't|has|seems?|looks?|sounds?|says?|mentions?|claims?|states?|implies|assumes?"
    r"|refers?"
    r"|describes?|ist|wäre|est|es|è|é|não|nicht|не|が|は|은|는|이|가|是|不)(?![A-Za-z])"
    r"|\s?❌|[\"')]{0,2}\?",
    re.IGNORECASE,
)
_JOINED = re.compile(
    r"\s?(?:,|/|&|,?\s(?:or|and|nor)|oder|und|et|ou|o|y|e|и|или)\s?", re.IGNORECASE
)
_WINDOW = 80


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter that stands for an option, on offer or not."""

    letter: str  # in capitals
    start: int
    end: int


def negated(text: str, start: int) -> bool:
    """Whether what stands at `start` is ruled out by the words before it.

    >>> negated("It can't be A.", 12), negated("I'm not sure, but A", 18)
    (True, False)
    """
    return bool(_NEGATED_BEFORE.search(text[max(0, start - _WINDOW) : start]))


def mentioned_letters(text: str) -> list[Letter]:
    """The letters that a text chooses in passing, in order; D and above come too.

    >>> [found.letter for found in mentioned_letters("As a rule, from A to Z, plan B fails: C.")]
    ['C']
    >>> mentioned_letters("A or B would be a guess.")
    []
    """
    kept: list[Letter] = []
    for found in _LETTER.finditer(text):
        letter = Letter(found[0].strip("() ").upper(), found.start(), found.end())
        if not found["wrapped"] and not _stands_for_option(text, found, letter.letter):
            continue
        if _TALKED_ABOUT.match(text, letter.end):
            _drop_joined(kept, text, letter.start)
        elif not negated(text, letter.start):
            kept.append(letter)
    return kept


def _drop_joined(kept: list[Letter], text: str, start: int) -> None:
    """Drop the letters joined to the one at `start`: what is said of it is said of them."""
    while kept and _JOINED.fullmatch(text, kept[-1].end, start):
        start = kept.pop().start


def _stands_for_option(text: str, found: re.Match[str], letter: str) -> bool:
    before = text[max(0, found.start() - 20) : found.start()]
    if _IDIOM_BEFORE.search(before) or _IDIOM_AFTER.match(text, found.end()):
        return False
    if letter == "I":
        return False
    return (letter != "A" and not found["named"]) or bool(_AFTER.match(text, found.end()))


_AFTER = re.compile(AFTER_LETTER, re.IGNORECASE | re.MULTILINE)


def followed_as_option(text: str, end: int) -> bool:
    """Whether what follows at `end` lets a bare letter before it be an option, not a word.

    >>> followed_as_option("A because he said so", 1), followed_as_option("A phone is a device", 1)
    (True, False)
    """
    return bool(_AFTER.match(text, end)) and not _IDIOM_AFTER.match(text, end)
