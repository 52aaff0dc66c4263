"""Titles as vectors without a model: hashed words and runs of letters.

Titles that share words or parts of words lie near each other. The vectors are the same on every
machine and in every process (the hash is of the bytes; Python's own is salted), float32, of length
one, and made a stretch at a time, so that 871,854 titles need no more memory than their vectors.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from askew.graphs.topics import TopicGraph

DIMENSIONS = 64
LETTERS = (3, 4)  # lengths of the runs of letters
WORD_WEIGHT = 2.0  # of a whole word; a run of letters counts 1
STRETCH = 65_536  # titles at a time
WORDS_KEPT = 100_000  # whose places are remembered: about 60 MB
# What carries nothing of a topic: small words that stand in category names of any kind.
COMMON_WORDS = frozenset(("and", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with"))
_WORD = re.compile(r"[^\W_]+")


def hashed(titles: Sequence[str], dimensions: int = DIMENSIONS) -> NDArray[np.float32]:
    """Shape (titles, dimensions): one vector a title, of length one.

    Each word, and each run of letters in it, adds or subtracts at one place (feature hashing,
    Weinberger et al., 2009). A title without a letter or digit has a vector of zeros.

    Args:
        titles: any texts; case, accents and punctuation do not count.
        dimensions: of the vectors, at least 2.

    Raises:
        ValueError: fewer than two dimensions.

    >>> near = hashed(["Tax policy", "Tax policies", "Painting"]) @ hashed(["Tax policy"])[0]
    >>> bool(near[0] > near[1] > near[2])
    True
    """
    if dimensions < 2:
        raise ValueError(f"dimensions is {dimensions}; pass at least 2")
    vectors = np.zeros((len(titles), dimensions), np.float32)
    known: dict[str, tuple[NDArray[np.int64], NDArray[np.float32]]] = {}
    for begin in range(0, len(titles), STRETCH):
        _add_stretch(titles[begin : begin + STRETCH], vectors[begin : begin + STRETCH], known)
    return vectors


def _add_stretch(
    titles: Sequence[str],
    vectors: NDArray[np.float32],
    known: dict[str, tuple[NDArray[np.int64], NDArray[np.float32]]],
) -> None:
    """Write the titles' vectors into `vectors`; `known` keeps the places of words seen before."""
    dimensions = vectors.shape[1]
    rows: list[int] = []
    places: list[NDArray[np.int64]] = []
    weights: list[NDArray[np.float32]] = []
    for row, title in enumerate(titles):
        for word in _words(title):
            if word not in known:
                if len(known) >= WORDS_KEPT:
                    known.clear()
                known[word] = _places(word, dimensions)
            place, weight = known[word]
            rows.append(row)
            places.append(place)
            weights.append(weight)
    if places:
        at = np.repeat(np.array(rows), [len(one) for one in places])
        flat = at * dimensions + np.concatenate(places)
        summed = np.bincount(flat, weights=np.concatenate(weights), minlength=vectors.size)
        vectors += summed.reshape(vectors.shape)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors /= np.where(lengths > 0, lengths, 1)


def _words(title: str) -> Iterable[str]:
    """Lower-case words without accents; small words only where there is nothing else."""
    plain = unicodedata.normalize("NFKD", title).casefold()
    plain = "".join(one for one in plain if not unicodedata.combining(one))
    words = _WORD.findall(plain)
    return [one for one in words if one not in COMMON_WORDS] or words


def _places(word: str, dimensions: int) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Where a word and its runs of letters fall, and with what sign and weight."""
    marked = f"<{word}>"
    parts = [marked]
    parts += [
        marked[at : at + length]
        for length in LETTERS
        for at in range(len(marked) - length + 1)
        if length < len(marked)
    ]
    codes = np.array([crc32(part.encode("utf-8", "surrogatepass")) for part in parts], np.int64)
    signs = np.where(codes & 1, 1, -1).astype(np.float32)
    # A long word has many runs; together they count about as much as the word.
    weights = np.full(len(parts), WORD_WEIGHT / max(len(parts) - 1, 1), np.float32)
    weights[0] = WORD_WEIGHT
    return (codes >> 1) % dimensions, signs * np.sqrt(weights)


class LazyTitles:
    """The hashed vectors of a graph's titles, each made when it is first asked for.

    A game on a large graph looks at a few thousand topics: it need not wait for all vectors, nor
    hold them.

    Args:
        graph: the topics.
        dimensions: of the vectors.
    """

    def __init__(self, graph: TopicGraph, dimensions: int = DIMENSIONS) -> None:
        self.graph = graph
        self.dimensions = dimensions
        self._made: dict[int, NDArray[np.float32]] = {}

    def of(self, nodes: NDArray[np.integer]) -> NDArray[np.float32]:
        """Shape (nodes, dimensions): the vectors of some topics."""
        missing = [node for node in nodes.tolist() if node not in self._made]
        if missing:
            fresh = hashed([self.graph.title(node) for node in missing], self.dimensions)
            self._made.update(zip(missing, fresh, strict=True))
        vectors = np.empty((len(nodes), self.dimensions), np.float32)
        for row, node in enumerate(nodes.tolist()):
            vectors[row] = self._made[node]
        return vectors
