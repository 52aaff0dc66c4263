r"""The last thing that all output passes: a stream that lets no text steer whoever reads it.

What is printed is cleaned where it is put together (`terminal.echo`, `terminal.console`). This is
the one place behind all of it, for what nobody thought of: exception texts and tracebacks,
warnings, log lines of other packages, a file's name in an error of the option parser.

What is stopped is written as JSON would escape it, so that JSON on the standard output says the
same as before, and everything else shows what was there.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from askew.report.words import FLOOD, STEERING

# Colours, which typer's own help and errors are written in. Nothing else of a terminal's language.
_COLOUR = re.compile(r"\x1b\[[0-9;]{0,20}m")
# What a build server takes for a command: GitHub and Azure where a line begins so, or anywhere in
# it; TeamCity. JSON has no line that begins with a colon, and escapes the sign in a string.
_LINE_COMMAND = re.compile(r"(?m)^((?:[^\S\n]|\x1b\[[0-9;?]{0,20}[A-Za-z])*):(?=:)")
_COMMAND = re.compile(r"#(?=#(?:\[|vso\[|teamcity\[))", re.IGNORECASE)


def harmless(text: str, *, colours: bool = False) -> str:
    r"""The text with whatever steers a terminal or a build server written as JSON escapes it.

    Args:
        text: as it would be written.
        colours: whether sequences that set a colour are let through.

    >>> harmless("a\x1b[2Jb\n::error::c ##[group]")
    'a\\u001b[2Jb\n\\u003a:error::c \\u0023#[group]'
    >>> harmless("\x1b[1mbold", colours=True)
    '\x1b[1mbold'
    """
    if STEERING.search(text) is not None:
        kept = iter(_COLOUR.findall(text) if colours else ())
        parts = _COLOUR.split(text) if colours else [text]
        text = "".join(STEERING.sub(_sign_escaped, part) + next(kept, "") for part in parts)
    if not text.isascii():
        text = FLOOD.sub(lambda flood: flood[1] + _escaped(flood[2]), text)
    return line_commands_parted(text)


def line_commands_parted(text: str) -> str:
    r"""The text with no line that a build server takes for a command.

    >>> line_commands_parted(" ::add-mask::a\n##vso[task.setvariable]b :: ##")
    ' \\u003a:add-mask::a\n\\u0023#vso[task.setvariable]b :: ##'
    """
    return _COMMAND.sub(_sign_escaped, _LINE_COMMAND.sub(r"\1\\u003a", text))


def _sign_escaped(sign: re.Match[str]) -> str:
    return _escaped(sign[0])


def _escaped(text: str) -> str:
    units = text.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


class Guarded:
    """A text stream in front of another; everything but writing is the other's."""

    def __init__(self, stream: TextIO) -> None:
        self.unguarded = stream

    def write(self, text: str) -> int:
        """Write the text, harmless; a progress line of another package may begin at the margin."""
        # "\r\n" ends a line of CSV; "\r" before a whole text is how a bar is drawn anew.
        start = 1 if text[:1] == "\r" else 0
        rest = text[start:].replace("\r\n", "\n")
        self.unguarded.write(text[:start] + harmless(rest, colours=self.unguarded.isatty()))
        return len(text)

    def writelines(self, lines: list[str]) -> None:
        """Write each."""
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.unguarded, name)


@contextmanager
def guarded() -> Iterator[None]:
    """Both streams of this process guarded, for as long as a command runs."""
    before = sys.stdout, sys.stderr
    # A program that was started without a terminal may have neither.
    sys.stdout, sys.stderr = (one if one is None else Guarded(one) for one in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def unguarded(stream: TextIO) -> TextIO:
    """The stream itself, for one who has cleaned what is written, or means to steer."""
    return stream.unguarded if isinstance(stream, Guarded) else stream
