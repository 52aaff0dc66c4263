"""Clean-up: a generated reply without the marks that servers, templates and typesetting leave.

What comes out is plain text: compatibility characters resolved, markup gone, a letter that stood
alone in brackets, quotes or bold written "(B)", a tick written ✅ and a cross ❌, and everything
after the model's own turn cut off. All patterns are bounded, so the time is linear in the text.
"""

from __future__ import annotations

import html
import re
import unicodedata

# Scripts that are written without blanks, or glue endings to a letter: 我选B, 정답은 C입니다. A
# blank is put between them and a Latin letter, so that \w tells words apart in every pattern.
UNSPACED = r"\u0590-\u1cff\u2e80-\uffff"
_SEAM = re.compile(rf"(?<=[0-9A-Za-z])(?=[{UNSPACED}])|(?<=[{UNSPACED}])(?=[0-9A-Za-z])")

_CHARACTERS: dict[str, str] = {
    **dict.fromkeys("’‘‛ʼʹ′`´", "'"),
    **dict.fromkeys("“”„‟«»‹›「」『』″", '"'),
    **dict.fromkeys("【〔〖［《〈⟨❨❪", "("),
    **dict.fromkeys("】〕〗］》〉⟩❩❫", ")"),
    **dict.fromkeys("–—―─", " - "),
    **dict.fromkeys("‐‑−", "-"),
    **dict.fromkeys("。｡", ". "),
    **dict.fromkeys("、，", ", "),
    **dict.fromkeys("→⇒➔➜⟶", " -> "),
    "\u2800": " ",
    "\u0120": " ",  # Ġ, the blank of byte-level BPE
    "\u010a": "\n",  # Ċ, its line break
    "\u2581": " ",  # ▁, the blank of SentencePiece
    **dict.fromkeys("✓✔☑🗸🗹✅", " ✅ "),
    **dict.fromkeys("✗✘✕✖❌❎☒☐⬜⛔🚫", " ❌ "),
    **dict.fromkeys("👍", " ✅ "),
    **dict.fromkeys("👎", " ❌ "),
}
# Letters in coloured squares and discs, which NFKC leaves as they are.
for _first in (0x1F150, 0x1F170, 0x1F1E6):
    _CHARACTERS.update({chr(_first + i): f"({chr(65 + i)})" for i in range(26)})
_TRANSLATION = str.maketrans(_CHARACTERS)

_DROPPED_CATEGORIES = frozenset({"Cf", "Cc", "Cs", "Co", "Me"})
_VARIATION_SELECTORS = frozenset(map(chr, range(0xFE00, 0xFE10)))
_HANGUL_FILLERS = frozenset("\u115f\u1160\u3164\uffa0")

# A literal backslash-n from a server that encodes twice; not the start of a LaTeX command.
_ESCAPED_BREAK = re.compile(
    r"\\r?\\n|\\n(?!(?:e|eq|eg|u|abla|ewline|oindent|ormalsize|onumber|olimits|ot)(?![a-z]))"
)
_ESCAPED_TAB = re.compile(r"\\[tr](?![a-z])")

_USER_TURN = (
    r"<\|im_start\|>\s{0,3}(?:user|human|system)\b|<start_of_turn>\s{0,3}user\b"
    r"|<\|start_header_id\|>\s{0,3}(?:user|system)\s{0,3}<\|end_header_id\|>"
    r"|<\|(?:user|system|prompter|User)\|>|\[INST\]|<<SYS>>"
    r"|^[ \t#*]{0,6}(?:Human|User|USER|HUMAN|Instruction)[ \t*]{0,3}:"
)
_MODEL_TURN = (
    r"<\|im_start\|>\s{0,3}(?:assistant|model)\b|<start_of_turn>\s{0,3}model\b"
    r"|<\|start_header_id\|>\s{0,3}assistant\s{0,3}<\|end_header_id\|>"
    r"|<\|(?:assistant|Assistant|model)\|>|\[/INST\]"
    r"|^[ \t#*]{0,6}(?:Assistant|ASSISTANT|Response|AI|Model|Bot)[ \t*]{0,3}:"
    r"|\A\s{0,8}(?:assistant|model)\s{0,3}\n"
)
_END = (
    r"</s>|<\|(?:im_end|eot_id|eom_id|endoftext|end_of_text|end|return|eos|end_of_turn"
    r"|endofprompt|eot|END_OF_TURN_TOKEN|im_sep)\|>|<(?:end_of_turn|eos|EOT|/?eod)>|\[EOS\]"
    r"|<\|end[_\s]{0,2}of[_\s]{0,2}sentence\|>"
)
_TURN = re.compile(f"(?P<user>{_USER_TURN})|(?P<model>{_MODEL_TURN})|(?P<end>{_END})", re.MULTILINE)
_OTHER_TOKEN = re.compile(
    r"<\|[^<>|\n]{1,40}\|>|<(?:bos|pad|unk|s|mask|start_of_turn)>|\[(?:BOS|PAD|UNK)\]|<</?SYS>>"
)
_BYTE_BREAK = re.compile(r"<0x0[AD]>")

_ANSWER_TAG = re.compile(
    r"<\s{0,2}(/?)\s{0,2}(?:final[_ -]?)?(?:answer|choice|option|result|final|letter|selection)"
    r"\b[^<>\n]{0,60}>",
    re.IGNORECASE,
)
_STRUCK = re.compile(
    r"~~[^~\n]{1,400}~~|<(del|strike)>[^<\n]{0,400}</\1>", re.IGNORECASE
)  # not <s>: that is a token
_BREAK_TAG = re.compile(
    r"</?(?:p|br|div|li|ul|ol|tr|table|thead|tbody|h[1-6]|pre|blockquote|section|body|html)"
    r"\b[^<>\n]{0,200}>",
    re.IGNORECASE,
)
_CELL_TAG = re.compile(r"</?(?:td|th)\b[^<>\n]{0,200}>", re.IGNORECASE)
_INLINE_TAG = re.compile(
    r"</?(?:strong|em|span|i|u|code|kbd|font|small|mark|sup|sub|tt|center|head|title|q|big|ins"
    r"|math|mi|mrow|label|input|summary|details)\b[^<>\n]{0,200}>",
    re.IGNORECASE,
)
# <b> and <a> are tags only where they are closed: a lone <B> is an option in angle brackets.
_LETTER_TAGS = {
    name: (
        re.compile(rf"</{name}\s?>", re.IGNORECASE),
        re.compile(rf"</?{name}(?:\s[^<>\n]{{0,200}})?>", re.IGNORECASE),
    )
    for name in "abc"
}

_BOXED = re.compile(r"\\f?boxed\s{0,3}\{")
_LATEX_COMMAND = re.compile(
    r"\\(?:text(?:bf|it|rm|sf|tt|normal)?|math(?:bf|rm|bb|it|sf|cal|tt)|bm|bf|rm|boldsymbol"
    r"|operatorname|displaystyle|quad|qquad|left|right|emph|underline|large|Large|huge|ensuremath)"
    r"(?![A-Za-z])|\\[,;:! ()\[\]{}$]"
)
_ESCAPED_QUOTE = re.compile(r"(?<!\\)\\++([\"'])")  # each run is tried once, from its start
_CHECKED = re.compile(r"\[[ \t]?[xX][ \t]?\]")
_UNCHECKED = re.compile(r"\[[ \t]{0,2}\]")
_FENCE = re.compile(r"```[A-Za-z]{0,12}(?=\s|$)|```", re.MULTILINE)
_GSM_ANSWER = re.compile(r"^#{4}[ \t]{0,3}(?=\S)", re.MULTILINE)
_QUOTE_OR_HEADING = re.compile(r"^[ \t]{0,8}(?:#{1,6}|>{1,3})[ \t]{0,8}", re.MULTILINE)
_WRAPPED_LETTER = re.compile(
    r"(?<![\w'])"
    r"(?P<open>[*_`$\"'(\[{<]{1,6})[ ]?(?P<letter>[A-Za-z])[ ]?"
    r"(?P<stop>[.:)]?)[*_`$\"')\]}>]{1,6}(?P<more>[.:]?)"
    r"(?![\w'])"
)
_EDGE_UNDERSCORES = re.compile(r"(?<![A-Za-z0-9])_{1,8}|_{1,8}(?![A-Za-z0-9])")
_BLANKS = re.compile(r"[^\S\n]+")
_LINE_BREAKS = re.compile(r"\s*\n\s*\n\s*|[^\S\n]*\n[^\S\n]*")
_REPEATS = re.compile(r"([^\w\s])\1{7,}")


def plain_characters(text: str) -> str:
    r"""Compatibility forms, quotes, dashes, ticks and blanks in one form; invisible ones gone.

    >>> plain_characters("（Ｂ）\u200b Ⓒ 𝐀 我选B")
    '(B) C A 我选 B'
    """
    composed = unicodedata.normalize("NFKC", text).translate(_TRANSLATION)
    if not composed.isascii() or not composed.isprintable():
        composed = "".join(character for character in composed if not _invisible(character))
    return composed if composed.isascii() else _SEAM.sub(" ", composed)


def _invisible(character: str) -> bool:
    if character < "\x7f":
        return character < " " and character not in "\n\t"
    return (
        unicodedata.category(character) in _DROPPED_CATEGORIES
        or character in _VARIATION_SELECTORS
        or character in _HANGUL_FILLERS
    )


# No character has such a number, and Python reads none of over 4,300 digits.
_NO_CHARACTER = re.compile(r"&#[0-9]{1000,};?")


def entities_resolved(text: str) -> str:
    """HTML's entities as the characters that they stand for; whatever number one has.

    >>> entities_resolved("&lt;B&gt; &#66;")
    '<B> B'
    """
    return html.unescape(_NO_CHARACTER.sub("\ufffd", text))


def unescaped(text: str) -> str:
    r"""HTML entities and literal ``\n`` resolved, as gateways and double encoders leave them.

    >>> unescaped("&lt;answer&gt;B&lt;/answer&gt;")
    '<answer>B</answer>'
    """
    text = entities_resolved(entities_resolved(text)).replace("\r\n", "\n").replace("\r", "\n")
    return _ESCAPED_TAB.sub(" ", _ESCAPED_BREAK.sub("\n", text))


def own_turn(text: str) -> str:
    """The model's own turn: leaked template text before it and invented turns after it are cut.

    >>> own_turn("[INST] Who was late? [/INST] B</s><s>[INST] Who lied?").strip()
    'B'
    """
    speaking, place = True, 0
    turns: list[str] = []
    for mark in _TURN.finditer(text):
        if speaking:
            turns.append(text[place : mark.start()])
            if _says_something(turns[-1]):
                return turns[-1]
        speaking = mark.lastgroup == "model" or (mark.lastgroup == "end" and speaking)
        place = mark.end()
    return text[place:] if speaking else "".join(turns)


def _says_something(turn: str) -> bool:
    return any(character.isalnum() for character in _OTHER_TOKEN.sub("", turn))


def without_markup(text: str) -> str:
    r"""Tokens, tags, LaTeX and Markdown taken off; answer tags and boxes become "Answer:".

    >>> without_markup("The answer is $\\boxed{\\text{C}}$.").split()
    ['The', 'answer', 'is', 'Answer:', '(C).']
    >>> without_markup("**Answer:** __B__")
    'Answer: (B)'
    """
    text = _BYTE_BREAK.sub("\n", text)
    text = _STRUCK.sub(" ", text)
    text = _ANSWER_TAG.sub(lambda tag: "\n" if tag[1] else "\nAnswer: ", text)
    text = _OTHER_TOKEN.sub(" ", text)
    text = _CELL_TAG.sub(" | ", _BREAK_TAG.sub("\n", text))
    text = _INLINE_TAG.sub("", text)
    for closing, either in _LETTER_TAGS.values():
        if closing.search(text):
            text = either.sub("", text)
    text = _ESCAPED_QUOTE.sub(r"\1", _BOXED.sub(" Answer: ", text))
    text = _LATEX_COMMAND.sub(" ", text)
    text = _UNCHECKED.sub(" ❌ ", _CHECKED.sub(" ✅ ", text))
    text = _FENCE.sub("", text)
    text = _QUOTE_OR_HEADING.sub("", _GSM_ANSWER.sub("Answer: ", text))
    text = _WRAPPED_LETTER.sub(r"(\g<letter>)\g<more>", text)
    text = _EDGE_UNDERSCORES.sub("", text.replace("*", "").replace("`", "").replace("$", ""))
    text = text.replace("{", "(").replace("}", " ").replace("[", "(").replace("]", ")")
    return tidy(text)


def tidy(text: str) -> str:
    r"""Runs of blanks, empty lines and repeated signs cut short, so that no pattern meets them.

    >>> tidy("  a \n \n\n b----------")
    'a\n\nb--------'
    """
    text = _REPEATS.sub(lambda run: run[1] * 8, _BLANKS.sub(" ", text))
    return _LINE_BREAKS.sub(lambda gap: "\n\n" if gap[0].count("\n") > 1 else "\n", text).strip()
