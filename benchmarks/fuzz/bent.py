"""Hypothesis strategies: good documents, bent at some places with what JSON or TOML can hold."""

from __future__ import annotations

import copy
import datetime
import json
import tomllib
from collections.abc import Iterator, Sequence
from typing import Any

from harness import text_of
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

_MOST_BENDS = 3


def _values(words: Sequence[bytes], *, of_toml: bool) -> SearchStrategy[Any]:
    """A value of any kind; JSON's have null, NaN and lone surrogates, TOML's have dates."""
    texts = st.sampled_from([text_of(word) for word in words]) if words else st.nothing()
    single: SearchStrategy[Any] = (
        st.booleans()
        | st.integers(-(2**63), 2**63 - 1)
        | st.sampled_from([0, 1, -1, 10**18])
        | st.floats()
        | st.text(max_size=12)
        | texts
    )
    if of_toml:
        single = (
            st.dates()
            | st.datetimes(timezones=st.none() | st.just(datetime.UTC))
            | st.booleans()
            | st.integers(-(2**63), 2**63 - 1)
            | st.floats()
            | st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
            | st.sampled_from(["", "starter", "target", "1", "../x", "~"])
        )
    else:
        single |= st.none() | st.text(st.characters(), max_size=6)
    return st.recursive(
        single,
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text("abc \"'.\n", max_size=4), inner, max_size=3)
        ),
        max_leaves=6,
    )


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every list or table of a document with each of its indices or keys."""
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def bent_json(
    documents: Sequence[Any],
    words: Sequence[bytes] = (),
    *,
    before: bytes = b"",
    lines: bool = False,
) -> SearchStrategy[bytes]:
    """JSON documents of some good ones, bent. `lines`: a list is written as JSON lines."""
    values = _values(words, of_toml=False)

    def written(value: Any) -> bytes:
        parts = value if lines and isinstance(value, list) else [value]
        text = "\n".join(json.dumps(one, ensure_ascii=False) for one in parts)
        return before + text.encode("utf-8", "surrogatepass")

    return _bent(documents, values).map(written)


def bent_toml(texts: Sequence[bytes], words: Sequence[bytes] = ()) -> SearchStrategy[bytes]:
    """TOML files of some good ones, bent."""
    import tomli_w

    documents = [tomllib.loads(one.decode()) for one in texts]
    values = _values(words, of_toml=True)
    return _bent(documents, values).map(lambda one: tomli_w.dumps(one).encode())


@st.composite
def _bent(draw: DrawFn, documents: Sequence[Any], values: SearchStrategy[Any]) -> Any:
    document = copy.deepcopy(draw(st.sampled_from(list(documents))))
    for _ in range(draw(st.integers(0, _MOST_BENDS))):
        places = list(_places(document))
        if not places:
            return document
        holder, key = draw(st.sampled_from(places))
        match draw(st.sampled_from(["put", "put", "drop", "again", "rename"])):
            case "put":
                holder[key] = draw(values)
            case "drop":
                del holder[key]
            case "again" if isinstance(holder, list):
                holder.append(copy.deepcopy(holder[key]))
            case "rename" if isinstance(holder, dict):
                holder[draw(st.text(max_size=6)) or key] = holder.pop(key)
            case _:
                holder[key] = [holder[key]]
    return document
