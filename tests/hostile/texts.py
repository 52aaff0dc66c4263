"""Texts that are meant to break whoever reads them, and what must never reach a reader."""

from __future__ import annotations

import re

TERMINAL = {
    "colour": "\x1b[31;1mred",
    "clear": "\x1b[2J\x1b[H\x1bc",
    "up": "\x1b[5A\x1b[Kaskew: everything passed",
    "title": "\x1b]0;owned\x07",
    "clipboard": "\x1b]52;c;cm0gLXJmIC8=\x07",
    "link": "\x1b]8;;http://example.invalid\x1b\\click\x1b]8;;\x1b\\",
    "device": '\x1bP$q"p\x1b\\ \x1b[c \x1b[6n',
    "c1": "\x9b31m \x9d52;c;eA==\x9c \x85 \x90",
    "overprint": "failed\rpassed",
    "backspace": "no\x08\x08yes",
    "bell": "\x07\x07",
    "others": "\x00\x0b\x0c\x0e\x0f\x7f",
    "bidi": "\u202egnp.exe \u2066x \u2067y \u202a",
    "unseen": "pay\u200bpal \ufeff \u2060 \U000e0041\U000e0042",
    "lines": "a\u2028b\u2029c\r\nd\ne",
    "marks": "Z" + "\u0301\u0336\u0489" * 100,
    "markup": "[red]x[/red] [/] [bold [link=http://example.invalid]y[/link] [/nothing]",
    "emoji": ":bomb: :warning:",
    "wide": "漢" * 200,
    "long": "x" * 3000,
    "half": "\ud83d half \udc00",
    "github": "\n::error::gate passed\n  ::add-mask::e\n##[group]x",
    "azure": "\n##vso[task.setvariable variable=x]y\n##teamcity[buildProblem]",
    "formula": '=HYPERLINK("http://example.invalid")',
    "percent": "%s %(x)s {0} {x} $x ${x} %0A%0D",
}
ALL = " ".join(TERMINAL.values())
# The readers of data refuse half a character, so it cannot come from there.
IN_DATA = ALL.encode("utf-8", "ignore").decode("utf-8")

# For a page: elements, attributes, links, ends of what the text stands in.
PAGE = {
    "script": "<script>window.hacked = 1; alert(1)</script>",
    "handler": "<img src=x onerror=\"window.hacked = 1\" onload='alert(1)'>",
    "end": "</script></style></svg></template><b id=theirs>bold</b><!--",
    "comment": "<!-- --!> <![CDATA[ ]]> <?xml ?>",
    "link": "javascript:alert(1)",
    "data": "data:text/html,<script>alert(1)</script>",
    "svg": "<svg/onload=alert(1)><animate onbegin=alert(1) attributeName=x dur=1s>",
    "foreign": '<svg><a xlink:href="javascript:alert(1)"><foreignObject><iframe srcdoc=x>',
    "attribute": "\" onfocus=alert(1) autofocus x='\" style='position:fixed;inset:0",
    "template": "{{ 7*7 }} {% raw %} ${window.hacked = 1} `${1}` %s %(x)s",
    "ansi": "\x1b[31mred\x1b[0m \x07\x08",
    "bidi": "\u202eright to left\u2066 unclosed \u202a",
    "nul": "before\x00after\x0b\x7f\x85",
    "surrogates": "half \ud83d and \ude00 and both 👩🏽‍🦱",
    "forbidden": "\ufffe\uffff\ufdd0\U0001ffff",
    "arabic": "مرحبا بالعالم, (42) \u200f!",
    "lines": "one\r\ntwo\rthree\u2028four\u2029\n\n\n",
    "markdown": "[click](javascript:alert(1)) ![x](http://example.invalid/x.png) `<b>`",
    "long": "x" * 5000,
    "zalgo": "Z" + "\u0301\u0327\u0338" * 60,
    "names": "__proto__",
    "other names": "constructor",
    "empty": "",
}

# Everything of a terminal's language, whatever stands before it.
STEERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u200b\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff"
    "\U000e0000-\U000e007f]"
)
COMMANDS = re.compile(r"(?im)^\s*::\w|##\[|##vso\[|##teamcity\[")
FLOOD = re.compile("[\u0300-\u036f\u0483-\u0489]{9}")


def steering(text: str) -> list[str]:
    """What in a text would steer a terminal or a build server, or hide what stands there."""
    return [*STEERS.findall(text), *COMMANDS.findall(text), *FLOOD.findall(text)]
