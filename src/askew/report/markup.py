"""JSON's values as Markdown and YAML in which nothing that others wrote is read as markup."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from askew.records import Estimate
from askew.report.words import (
    UNDEFINED,
    clean,
    label,
    percent,
    points,
    points_range,
    share_with_interval,
)

NOT_MEASURED = "not measured"
# What starts markup anywhere, and the dots and colons that make addresses of their neighbours.
_MARKUP = re.compile(r"[\\`*_\[\]<>&|#~@!{}^$]|(?<=[A-Za-z])[.:](?=[A-Za-z/])")
# A key that needs no quotes: no word that some reader of YAML takes for a truth value or nothing.
_PLAIN_KEY = re.compile(r"(?!(?:y|n|yes|no|on|off|true|false|null)$)[a-z][a-z0-9_-]*")
_BEGINNING = re.compile(r"^(\d*)([-+=.)])")


def code(text: str) -> str:
    r"""A text that nobody here wrote, in a code span that it cannot end; safe in a table's cell.

    >>> code("a`b|c <b>")
    '``a`b\\|c <b>``'
    """
    line = one_line(text).replace("|", "\\|") or UNDEFINED
    runs = {len(run) for run in "".join(c if c == "`" else " " for c in line).split()}
    fence = "`" * next(size for size in range(1, len(runs) + 2) if size not in runs)
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"


def prose(text: str) -> str:
    r"""A text in which others may have written, as running text without markup, on one line.

    A number or a dash at its beginning starts no list, an address in it is no link.

    >>> prose("*a* <b>c</b> [d](https://e.org) & 95 % (1–2)")
    '\\*a\\* \\<b\\>c\\</b\\> \\[d\\](https\\://e\\.org) \\& 95 % (1–2)'
    """
    line = _MARKUP.sub(r"\\\g<0>", one_line(text))
    return _BEGINNING.sub(r"\1\\\2", line)


def one_line(text: str) -> str:
    """A text on one line, without what steers a terminal."""
    return " ".join(clean(text).split())


def name(word: str) -> str:
    """A name of askew's own in words, any other as it is, inert."""
    shown = label(word)
    return shown if shown != word else code(word)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table: the first column to the left, figures to the right. Cells must be inert."""
    lines = [list(head), ["---", *["---:" for _ in head[1:]]], *map(list, rows)]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def bullets(lines: Iterable[str], none: str = "") -> str:
    """A list of lines, which must be inert; `none` where there is none."""
    return "\n".join(f"- {line}" for line in lines) or none


def at(value: object, *keys: str) -> Any:
    """What stands at a path of nested objects; None where a part of it is missing."""
    for key in keys:
        if not isinstance(value, Mapping):
            return None
        value = value.get(key)
    return value


def mapping(value: object) -> Mapping[str, Any]:
    """The object, or an empty one where there is none."""
    return value if isinstance(value, Mapping) else {}


def texts(value: object) -> list[str]:
    """The texts of a list."""
    return [text for text in value if isinstance(text, str)] if isinstance(value, list) else []


def count(value: object) -> str:
    """A whole number, or a dash."""
    return f"{value:,}" if isinstance(value, int) else UNDEFINED


def said(value: object) -> str:
    """A setting as it was given."""
    return NOT_MEASURED if value is None else one_line(str(value))


def share(value: object) -> str:
    """An estimate of a share with its interval and size."""
    estimate = _estimate(value)
    if estimate is None:
        return NOT_MEASURED
    if not estimate.defined:
        return f"{UNDEFINED} ({code(estimate.note)})" if estimate.note else UNDEFINED
    if math.isnan(estimate.lower) or math.isnan(estimate.upper):
        return f"{percent(estimate.value)} (no interval)"
    return f"{share_with_interval(estimate)}, n = {estimate.n:,}"


def change(value: object) -> str:
    """An estimate of a difference of shares, in points, with its interval."""
    estimate = _estimate(value)
    if estimate is None:
        return NOT_MEASURED
    if not estimate.defined:
        return UNDEFINED
    return f"{points(estimate.value)} ({points_range(estimate.lower, estimate.upper)})"


def yaml_text(text: str) -> str:
    """A text as YAML's double-quoted scalar, which JSON's strings are."""
    return json.dumps(one_line(text), ensure_ascii=False)


def yaml_list(key: str, values: Sequence[str]) -> list[str]:
    """The lines of a list; none where it is empty."""
    return [f"{key}:", *(f"- {yaml_text(value)}" for value in values)] if values else []


def front_matter(metadata: Mapping[str, object]) -> str:
    """YAML between two lines of dashes: mappings and lists as blocks, texts in double quotes.

    Empty lists and None are left out. Numbers have six decimals at most, and no exponent, which
    YAML 1.1 would read as a text.

    >>> print(front_matter({"a": [1, "x: y"], "b": {"c": 0.25, "no": True}, "d": []}))
    ---
    a:
    - 1
    - "x: y"
    b:
      c: 0.25
      "no": true
    ---
    """
    full = _without_empty(metadata)
    return "\n".join(["---", *(_yaml_lines(full) if isinstance(full, Mapping) else []), "---"])


def _without_empty(value: object) -> object:
    """The value without None, empty lists and empty mappings at any depth; None where it is one."""
    if isinstance(value, Mapping):
        kept = {
            key: one for key, part in value.items() if (one := _without_empty(part)) is not None
        }
        return kept or None
    if isinstance(value, list | tuple):
        return [one for part in value if (one := _without_empty(part)) is not None] or None
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _yaml_lines(value: Mapping[str, object] | list[object]) -> list[str]:
    if isinstance(value, Mapping):
        entries = [(f"{_yaml_key(str(key))}:", one) for key, one in value.items()]
    else:
        entries = [("-", one) for one in value]
    lines = []
    for head, one in entries:
        if isinstance(one, Mapping | list):
            below = _yaml_lines(one)
            if head == "-":
                lines += [f"- {below[0]}", *(f"  {line}" for line in below[1:])]
            else:
                step = "  " if isinstance(one, Mapping) else ""
                lines += [head, *(step + line for line in below)]
        else:
            lines.append(f"{head} {_yaml_scalar(one)}")
    return lines


def _yaml_key(key: str) -> str:
    return key if _PLAIN_KEY.fullmatch(key) else yaml_text(key)


def _yaml_scalar(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        shown = f"{value:.6f}".rstrip("0")
        return f"{shown}0" if shown.endswith(".") else shown
    return yaml_text(str(value))


def _estimate(value: object) -> Estimate | None:
    """The estimate that JSON holds; None where it is none."""
    if not isinstance(value, Mapping) or "value" not in value:
        return None
    middle, lower, upper = (
        float(number) if isinstance(number := value.get(key), int | float) else math.nan
        for key in ("value", "lower", "upper")
    )
    size = value.get("n")
    size = size if isinstance(size, int) else 0
    note = str(value.get("note") or "")
    return Estimate(middle, lower, upper, size, 1.0, str(value.get("method", "")), note=note)
