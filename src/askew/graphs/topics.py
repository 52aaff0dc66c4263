"""A graph of topics: who stands under whom, as flat arrays that can be mapped from disk.

A node is a topic (a Wikipedia category, a heading of the user's own). An edge leads from a child to
a parent; a search moves along it both ways, so each edge is kept at both of its ends, with the
direction beside it. Cycles, several parents and unconnected parts are normal.
"""

from __future__ import annotations

import difflib
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from askew.errors import DataError

# What the neighbour is to the node; the sum of both where each stands under the other.
PARENT = 1
CHILD = 2

MOST_NODES = np.iinfo(np.int32).max  # neighbours are kept as int32
MOST_DOMAINS = np.iinfo(np.int16).max
_COMPARED_ONE_BY_ONE = 50_000  # titles that difflib gets; at more it would take seconds
_NEAR = 0.6  # difflib's ratio from which two titles are called near, its own default


@dataclass(frozen=True, slots=True, eq=False)
class TopicGraph:
    """Topics and what lies beside them, in compressed sparse rows.

    Nodes are numbered from 0; the neighbours of node v are `neighbours[starts[v]:starts[v + 1]]`,
    ascending, each once. Graphs compare by identity; `equals` compares what is in them.
    """

    ids: NDArray[np.int64]  # shape (nodes,): the source's own ids (Wikipedia page ids), unique
    starts: NDArray[np.int64]  # shape (nodes + 1,)
    neighbours: NDArray[np.int32]  # shape (entries,): every edge at both of its ends
    direction: NDArray[np.uint8]  # shape (entries,): PARENT, CHILD or their sum
    title_bytes: NDArray[np.uint8]  # UTF-8, one title after another
    title_starts: NDArray[np.int64]  # shape (nodes + 1,)
    domain_of: NDArray[np.int16]  # shape (nodes,): index into `domains`; -1: none
    domains: tuple[str, ...] = ()

    @property
    def size(self) -> int:
        """How many topics there are."""
        return len(self.ids)

    @property
    def edges(self) -> int:
        """How many child-parent pairs there are."""
        return int(np.count_nonzero(self.direction & PARENT))

    @property
    def checksum(self) -> str:
        """The sha256 of all that is in the graph, in hexadecimal; computed at each call."""
        digest = hashlib.sha256()
        for name, array in self.arrays().items():
            digest.update(f"{name} {array.dtype.str} {array.shape}\n".encode())
            digest.update(np.ascontiguousarray(array).data)
        digest.update(json.dumps(self.domains).encode())
        return digest.hexdigest()

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The graph's arrays by their names; little-endian, as they are stored."""
        named = {one.name: getattr(self, one.name) for one in fields(self)}
        del named["domains"]
        return {
            name: array.astype(array.dtype.newbyteorder("<"), copy=False)
            for name, array in named.items()
        }

    def equals(self, other: TopicGraph) -> bool:
        """Whether both hold the same topics, in the same order, with the same edges and domains."""
        return self.domains == other.domains and all(
            np.array_equal(mine, theirs)
            for mine, theirs in zip(self.arrays().values(), other.arrays().values(), strict=True)
        )

    def title(self, node: int) -> str:
        """The topic's title, with spaces and without a namespace."""
        span = slice(int(self.title_starts[node]), int(self.title_starts[node + 1]))
        return bytes(self.title_bytes[span]).decode("utf-8")

    def titles(self) -> list[str]:
        """All titles, in the order of the nodes."""
        whole = self.title_bytes.tobytes()
        cuts = self.title_starts.tolist()
        return [whole[start:end].decode("utf-8") for start, end in pairwise(cuts)]

    def node_of(self, title: str) -> int:
        """The topic with a title.

        Underscores count as spaces, and the first letter's case does not count, as in Wikipedia;
        the title as it was given comes first.

        Raises:
            DataError: no topic or several have the title.
        """
        spaced = title.replace("_", " ").strip()
        first, rest = spaced[:1], spaced[1:]
        for form in dict.fromkeys((title, spaced, first.upper() + rest, first.lower() + rest)):
            # Half a character stands in no title, and must not turn into a "?".
            found = self._with_title(form.encode("utf-8", errors="surrogatepass"))
            if len(found) > 1:
                ids = ", ".join(str(int(self.ids[node])) for node in found[:5])
                raise DataError(
                    f"{len(found)} topics are called {form!r} (ids {ids}). Give them titles of "
                    "their own, or name the topic by its id."
                )
            if found:
                return found[0]
        near = ", ".join(repr(self.title(node)) for node in self.find(title, 5))
        mend = f"Near it: {near}." if near else "List titles with: askew boundary graph find."
        raise DataError(f"no topic is called {title!r} in this graph of {self.size:,}. {mend}")

    def find(self, text: str, limit: int = 10) -> list[int]:
        """Topics whose titles hold a text, shortest titles first, or else those spelt like it.

        Args:
            text: letters' case and underscores do not count.
            limit: at most so many.
        """
        wanted = text.replace("_", " ").strip().casefold()
        if not wanted:
            return []
        folded = [title.casefold() for title in self.titles()]
        holding = [node for node, title in enumerate(folded) if wanted in title]
        if not holding and len(folded) <= _COMPARED_ONE_BY_ONE:
            near = difflib.get_close_matches(wanted, folded, max(limit, 1), _NEAR)
            holding = [node for title in dict.fromkeys(near) for node in _all(folded, title)]
            return holding[:limit]
        whole = [not folded[node].startswith(wanted) for node in holding]
        keys = zip(whole, (len(folded[node]) for node in holding), holding, strict=True)
        return [node for _, _, node in sorted(keys)][:limit]

    def domain(self, node: int) -> str | None:
        """The domain that the topic belongs to, where the source says it."""
        index = int(self.domain_of[node])
        return None if index < 0 else self.domains[index]

    def around(self, node: int) -> NDArray[np.int32]:
        """The node's neighbours, parents and children alike."""
        return self.neighbours[self.starts[node] : self.starts[node + 1]]

    def parents(self, node: int) -> NDArray[np.int32]:
        """What the node stands under."""
        return self._of_kind(node, PARENT)

    def children(self, node: int) -> NDArray[np.int32]:
        """What stands under the node."""
        return self._of_kind(node, CHILD)

    def _of_kind(self, node: int, kind: int) -> NDArray[np.int32]:
        span = slice(int(self.starts[node]), int(self.starts[node + 1]))
        return self.neighbours[span][(self.direction[span] & kind) > 0]

    def _with_title(self, wanted: bytes) -> list[int]:
        """Nodes with exactly this title, found in the bytes without a table of titles."""
        if not wanted:
            return []
        lengths = np.diff(self.title_starts)
        candidates = np.flatnonzero(lengths == len(wanted))
        for place, byte in enumerate(wanted):  # a byte thins the candidates out by a factor of ~10
            if not len(candidates):
                break
            same = self.title_bytes[self.title_starts[candidates] + place] == byte
            candidates = candidates[same]
        return [int(node) for node in candidates]


@dataclass(frozen=True, slots=True)
class ImportedGraph:
    """A graph as an importer read it, with what it left out and why."""

    graph: TopicGraph
    counts: Mapping[str, int]  # "categories", "self_loops", "red_links": what was kept and dropped
    notes: tuple[str, ...] = ()  # what a reader should know, a sentence each


def build_graph(
    titles: Sequence[str],
    children: NDArray[np.integer[Any]] | Sequence[int],
    parents: NDArray[np.integer[Any]] | Sequence[int],
    *,
    ids: NDArray[np.integer[Any]] | Sequence[int] | None = None,
    domains: Sequence[str | None] | None = None,
) -> TopicGraph:
    """A graph from its titles and child-parent pairs; self-loops and repeats are left out.

    Args:
        titles: one a node.
        children: shape (edges,): node numbers.
        parents: shape (edges,): node numbers; parents[k] is what children[k] stands under.
        ids: the source's own ids; default: the node numbers.
        domains: one a node; None where a node has none.

    Raises:
        DataError: lengths that do not fit, an edge to a node that is not there, an id that stands
            twice, a title that is no text, more nodes or domains than the arrays can number.
    """
    size = len(titles)
    if size > MOST_NODES:
        raise DataError(f"{size:,} topics; a graph has at most {MOST_NODES:,}. Take a part of it.")
    child, parent = _whole_numbers("children", children), _whole_numbers("parents", parents)
    if child.shape != parent.shape:
        raise DataError(
            f"children has {len(child)} entries, parents {len(parent)}; give each edge both ends."
        )
    for name, ends in (("children", child), ("parents", parent)):
        outside = np.flatnonzero((ends < 0) | (ends >= size))
        if len(outside):
            edge = int(outside[0])
            raise DataError(
                f"{name}[{edge}] is {int(ends[edge])}, expected a node from 0 to {size - 1}. "
                "Number the nodes by their place in titles."
            )
    starts, neighbours, direction = _rows(size, child, parent)
    title_bytes, title_starts = _encoded(titles)
    domain_of, names = _domains(domains, size)
    return TopicGraph(
        ids=_ids(ids, size),
        starts=starts,
        neighbours=neighbours,
        direction=direction,
        title_bytes=title_bytes,
        title_starts=title_starts,
        domain_of=domain_of,
        domains=names,
    )


def _rows(
    size: int, child: NDArray[np.int64], parent: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.uint8]]:
    apart = child != parent
    child, parent = child[apart], parent[apart]
    # Each edge at both ends: the child's entry says PARENT, the parent's says CHILD.
    key = np.concatenate([child * size + parent, parent * size + child])
    kind = np.repeat(np.array([PARENT, CHILD], np.uint8), len(child))
    order = np.argsort(key, kind="stable")
    key, kind = key[order], kind[order]
    first = np.ones(len(key), bool)
    first[1:] = key[1:] != key[:-1]
    places = np.flatnonzero(first)
    direction = np.bitwise_or.reduceat(kind, places) if len(key) else kind
    key = key[places]
    starts = np.zeros(size + 1, np.int64)
    if size:
        np.cumsum(np.bincount(key // size, minlength=size), out=starts[1:])
    return starts, (key % max(size, 1)).astype(np.int32), direction.astype(np.uint8)


def _encoded(titles: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    encoded = []
    for node, title in enumerate(titles):
        if not isinstance(title, str):
            raise DataError(f"titles[{node}] is {title!r}, expected text. Name the topic.")
        try:
            encoded.append(title.encode("utf-8"))
        except UnicodeEncodeError as error:
            raise DataError(
                f"titles[{node}] is {title!r}, which holds half a character. Read it as UTF-8."
            ) from error
    starts = np.zeros(len(encoded) + 1, np.int64)
    np.cumsum([len(one) for one in encoded], out=starts[1:])
    return np.frombuffer(b"".join(encoded), np.uint8), starts


def _ids(ids: NDArray[np.integer[Any]] | Sequence[int] | None, size: int) -> NDArray[np.int64]:
    if ids is None:
        return np.arange(size, dtype=np.int64)
    whole = _whole_numbers("ids", ids)
    if len(whole) != size:
        raise DataError(f"{len(whole)} ids for {size} titles; give each topic one.")
    ordered = np.sort(whole)
    again = np.flatnonzero(ordered[1:] == ordered[:-1])
    if len(again):
        raise DataError(f"id {int(ordered[again[0]])} stands twice; each topic needs its own.")
    return whole


def _domains(
    domains: Sequence[str | None] | None, size: int
) -> tuple[NDArray[np.int16], tuple[str, ...]]:
    if domains is None:
        return np.full(size, -1, np.int16), ()
    if len(domains) != size:
        raise DataError(f"{len(domains)} domains for {size} titles; give each topic one, or None.")
    names = tuple(dict.fromkeys(one for one in domains if one is not None))
    if len(names) > MOST_DOMAINS:
        raise DataError(
            f"{len(names):,} domains; a graph has at most {MOST_DOMAINS:,}. Use broader ones."
        )
    place: dict[str | None, int] = {name: index for index, name in enumerate(names)}
    return np.array([place.get(one, -1) for one in domains], np.int16), names


def _whole_numbers(name: str, values: NDArray[Any] | Sequence[int]) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise DataError(f"{name} has {array.ndim} dimensions, expected one. Give a flat list.")
    if len(array) and array.dtype.kind not in "iu":  # an empty list is read as floats
        raise DataError(f"{name} holds {array.dtype}, expected whole numbers of 64 bits.")
    if array.dtype.kind == "u" and len(array) and int(array.max()) > np.iinfo(np.int64).max:
        raise DataError(f"{name} holds {int(array.max())}, expected whole numbers of 64 bits.")
    return array.astype(np.int64)


def _all(titles: list[str], wanted: str) -> list[int]:
    return [node for node, title in enumerate(titles) if title == wanted]
