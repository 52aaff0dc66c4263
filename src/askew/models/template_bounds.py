"""A chat template, which is a program from a model's folder, run so that it comes to an end.

transformers renders templates in Jinja's sandbox: they reach no file and no attribute that is not
theirs. They may still loop a billion times or write `'x' * 10**10`. Here the same environment has
a meter: each pass of a loop, each call and each text made is counted, before it is made where one
step could fill the memory.
"""

from __future__ import annotations

import functools
import re
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import jinja2
from jinja2 import nodes
from jinja2.exceptions import SecurityError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.visitor import NodeTransformer

MOST_SECONDS = 10.0  # of this thread's processor time for one prompt
MOST_CHARACTERS = 1 << 26  # in all texts that are made on the way, for a short prompt
_LONGEST_SOURCE = 1 << 18  # characters; the longest template in the field has some 30,000
_LARGEST_NUMBER = 1_000_000  # a width or a count; a position may be larger and is no argument
_MOST_BITS = 4096  # of a whole number
_DEEPEST_INDENT = 64
_ENTRY = 8  # bytes of a list's entry, counted as characters
# What makes more text than it is given, as a method of a text or a filter.
_GROWING = {"center", "expandtabs", "indent", "ljust", "rjust", "translate", "zfill"}
_GROWING |= {"format", "format_map", "join", "replace"}
# Filters whose time is not bounded by the text's length, and which no chat template needs.
_LEFT_OUT = ("striptags", "urlize", "wordwrap")
_WIDTH = re.compile(r"\d{7}")
_NESTED_WIDTH = re.compile(r"\{[^{}]*\{|%[^a-z%]*\*")  # "{:{}}", "%*d": an argument is the width
_MOST_PASSES = 100_000  # of a generator: what the sandbox's `range` gives


class _Meter:
    """What one rendering has used."""

    def __init__(self, room: int) -> None:
        self.left = room  # characters
        self.steps = 0
        self.began = time.thread_time()

    def step(self) -> None:
        """Count a pass of a loop or a call."""
        self.steps += 1
        if self.steps % 64 == 0 and time.thread_time() - self.began > MOST_SECONDS:
            raise SecurityError(f"it has run for {MOST_SECONDS:g} seconds without an end")

    def take(self, length: int) -> None:
        """Count a text or a list that is made, or about to be."""
        self.left -= length
        if self.left < 0:
            raise SecurityError(f"it makes more than {MOST_CHARACTERS:,} characters of text")

    def took(self, made: Any) -> Any:
        """Count what was made, and hand it on."""
        if isinstance(made, str):
            self.take(len(made))
        elif isinstance(made, list | tuple):
            self.take(_ENTRY * len(made))
        return made


class BoundedEnvironment(ImmutableSandboxedEnvironment):
    """Jinja's sandbox with a meter on everything that takes time or room."""

    intercepted_binops = frozenset(("+", "-", "*", "/", "//", "%", "**"))
    meter = _Meter(0)

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """An operation of two values, held against the meter first."""
        self.meter.step()
        if operator == "*":
            lengths = [len(one) for one in (left, right) if isinstance(one, str | list | tuple)]
            counts = [one for one in (left, right) if isinstance(one, int)]
            if lengths and counts:
                self.meter.take(_ENTRY * lengths[0] * max(counts[0], 0))
        if operator in ("*", "**") and isinstance(left, int) and isinstance(right, int):
            more = right.bit_length() if operator == "*" else left.bit_length() * abs(right)
            if left.bit_length() + more > _MOST_BITS:
                raise SecurityError(f"it makes a number of more than {_MOST_BITS} bits")
        if operator == "%" and isinstance(left, str):
            self._check_growth(left, "format", [right])
        return self.meter.took(super().call_binop(context, operator, left, right))

    # As in Jinja, so that a template's own arguments may be called `self` or `context`.
    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:
        """A call, held against the meter first."""
        __self.meter.step()
        method = getattr(__obj, "__wrapped__", __obj)  # the sandbox wraps `format`
        name = getattr(method, "__name__", "")
        __self._check_growth(getattr(method, "__self__", None), name, [*args, *kwargs.values()])
        return __self.meter.took(super().call(__context, __obj, *args, **kwargs))

    def tick(self) -> str:
        """Called at each pass of a loop and of a macro."""
        self.meter.step()
        return ""

    def joined(self, *parts: Any) -> str:
        """`a ~ b`, counted."""
        texts = [str(part) for part in parts]
        self.meter.take(sum(map(len, texts)))
        return "".join(texts)

    def _check_growth(self, value: Any, name: str, given: list[Any]) -> None:
        numbers, texts = [0], [""]
        _flat(given, numbers, texts)
        if max(map(abs, numbers)) > _LARGEST_NUMBER:
            raise SecurityError(f"it calls {name or 'a macro'} with {max(map(abs, numbers)):,}")
        if name not in _GROWING:
            return
        if name == "join":
            parts = value if isinstance(value, list | tuple) else next(iter(given), ())
            count = len(parts) if isinstance(parts, list | tuple | str) else _MOST_PASSES
            between = value if isinstance(value, str) else texts[-1]
            made = count * len(between)
        elif not isinstance(value, str):
            return
        elif name == "replace" and len(texts) == 3:
            made = value.count(texts[1]) * len(texts[2])
        elif name in ("format", "format_map"):
            made = 0
            wide = [value] if not _NESTED_WIDTH.search(value) else [value, *texts]
            if any(map(_WIDTH.search, wide)):
                raise SecurityError("it formats a text to a width of millions")
        else:
            made = len(value) * max(*map(len, texts), *map(abs, numbers))
        if made > self.meter.left:  # not taken: what comes out is counted when it is there
            raise SecurityError(f"it makes more than {MOST_CHARACTERS:,} characters with {name}")


def bounded(source: str, like: jinja2.Environment) -> jinja2.Template:
    """A template that is rendered by `render` alone.

    Args:
        source: of the template.
        like: the environment whose filters, functions and settings it has.

    Raises:
        jinja2.TemplateError: it is no template, too long, or nested too deeply.
    """
    if len(source) > _LONGEST_SOURCE:
        raise jinja2.TemplateError(f"it has more than {_LONGEST_SOURCE:,} characters")
    environment = BoundedEnvironment(
        trim_blocks=like.trim_blocks,
        lstrip_blocks=like.lstrip_blocks,
        keep_trailing_newline=like.keep_trailing_newline,
        extensions=[type(one) for one in like.extensions.values()],
        optimized=False,  # what can be worked out beforehand would be, without the meter
    )
    environment.filters = {
        name: _metered(environment, name, make)
        for name, make in like.filters.items()
        if name not in _LEFT_OUT
    }
    environment.tests.update(like.tests)
    environment.globals.update(like.globals)
    environment.globals.pop("lipsum", None)
    try:
        return environment.from_string(_Marked().visit(environment.parse(source)))
    except (RecursionError, SyntaxError, MemoryError, ValueError) as trouble:
        raise jinja2.TemplateError(f"it cannot be compiled: {trouble}") from trouble


def render(template: jinja2.Template, values: Mapping[str, Any], given: int) -> str:
    """What the template makes of the values.

    Args:
        template: of `bounded`.
        values: what it may name.
        given: characters of the messages; a long prompt has more room.

    Raises:
        jinja2.TemplateError: it refuses them, goes on without an end, or makes too much text.
    """
    environment = template.environment
    assert isinstance(environment, BoundedEnvironment)
    environment.meter = _Meter(MOST_CHARACTERS + 1000 * given)
    pieces = []
    try:
        for piece in template.generate(dict(values)):
            environment.meter.take(len(piece))
            pieces.append(piece)
    except (RecursionError, MemoryError) as trouble:
        raise jinja2.TemplateError(f"it calls itself without an end ({trouble})") from trouble
    return "".join(pieces)


class _Marked(NodeTransformer):
    """Puts the meter into a template's loops, macros and `~`."""

    def visit_For(self, node: nodes.For) -> nodes.Node:
        return self._ticking(node)

    def visit_Macro(self, node: nodes.Macro) -> nodes.Node:
        return self._ticking(node)

    def visit_CallBlock(self, node: nodes.CallBlock) -> nodes.Node:
        return self._ticking(node)

    def _ticking(self, node: Any) -> nodes.Node:
        self.generic_visit(node)
        node.body.insert(0, nodes.ExprStmt(_called("tick", [], node.lineno), lineno=node.lineno))
        made: nodes.Node = node
        return made

    def visit_Concat(self, node: nodes.Concat) -> nodes.Node:
        self.generic_visit(node)
        return _called("joined", node.nodes, node.lineno)


def _called(name: str, arguments: list[nodes.Expr], line: int) -> nodes.Call:
    # An attribute of the environment: no template can put a function of its own in its place.
    return nodes.Call(
        nodes.EnvironmentAttribute(name, lineno=line), arguments, [], None, None, lineno=line
    )


def _metered(
    environment: BoundedEnvironment, name: str, make: Callable[..., Any]
) -> Callable[..., Any]:
    """A filter that is held against the meter first."""
    skipped = 1 if hasattr(make, "jinja_pass_arg") else 0

    @functools.wraps(make)
    def filtered(*args: Any, **kwargs: Any) -> Any:
        environment.meter.step()
        value, *given = args[skipped:] or (None,)
        given += kwargs.values()
        if name == "tojson" and any(
            isinstance(one, int) and one > _DEEPEST_INDENT for one in given
        ):
            raise SecurityError(f"it indents JSON by more than {_DEEPEST_INDENT}")
        environment._check_growth(value, name, given)
        return environment.meter.took(make(*args, **kwargs))

    return filtered


def _flat(values: Iterable[Any], numbers: list[int], texts: list[str]) -> None:
    """The whole numbers and texts among values, two lists or tables deep."""
    for value in values:
        if isinstance(value, int):
            numbers.append(value)
        elif isinstance(value, str):
            texts.append(value)
        elif isinstance(value, list | tuple | dict):
            inside = [*value.values()] if isinstance(value, dict) else value
            for one in inside:
                if isinstance(one, int):
                    numbers.append(one)
                elif isinstance(one, str):
                    texts.append(one)
