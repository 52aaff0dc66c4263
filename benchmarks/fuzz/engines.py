"""Three ways of making inputs: coverage-guided (atheris), structured (Hypothesis), and plain.

- `atheris`: libFuzzer over askew's own bytecode, which keeps every input that reaches new code.
- `hypothesis`: whole inputs from the target's strategy, for formats that bytes alone hardly reach.
- `plain`: seeds and corpus, cut, spliced and peppered with the target's words. It needs no package
  and no process of its own: the share of the tests, and machines without atheris.
"""

from __future__ import annotations

import itertools
import random
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from harness import Target

# What breaks readers of text in general: control characters, other scripts' digits and spaces,
# bidirectional marks, lone surrogates, huge and odd numbers, escapes, brackets.
HARD = tuple(
    text.encode("utf-8", "surrogatepass")
    for text in (
        "\0",
        "\r",
        "\x1b[2J",
        "\x85",
        "\u2028",
        "\u202e",
        "\u200b",
        "\u00ad",
        "\ufeff",
        "\ud800",
        "İ",  # its lower case is two characters
        "ß",
        "ſ",
        "K",
        "ﬁ",
        "²",
        "٣",
        "①",
        "𝟘",
        "e\u0301",
        "👩🏽‍⚕️",
        "NaN",
        "Infinity",
        "-0",
        "1e999",
        "9" * 400,
        "0x1F",
        "1_000",
        "null",
        "true",
        "{}",
        "[]",
        '"',
        "\\",
        "\\u0000",
        "\\ud800",
        "`" * 3,
        "<",
        "&#0;",
        "%00",
        "%zz",
        "../",
        "=cmd|",
        " ",
        "\t",
        "\n",
        "\n\n",
    )
)
# How often a piece is written again: most inputs stay short, so that a million take minutes.
REPEATED = (1,) * 16 + (2,) * 8 + (3,) * 4 + (10,) * 2 + (50, 400)

Give = Callable[[bytes], object]


def plain(target: Target, corpus: Sequence[bytes], seed: int) -> Iterator[bytes]:
    """The corpus as it is, then changed copies of it without end; the same for the same seed."""
    yield from corpus
    draw = random.Random(f"{target.name} {seed}")
    pool = list(corpus) or [b""]
    # Short ones more often, by what they cost: a fault that took 8,000 bytes is no better a start.
    weights = list(itertools.accumulate(1 / (len(data) + 64) for data in pool))
    words = [*target.words, *HARD]
    while True:
        data = bytearray(draw.choices(pool, cum_weights=weights)[0])
        for _ in range(draw.choice((1, 1, 1, 2, 2, 4, 8))):
            _change(data, draw, pool, words)
        yield bytes(data[: target.longest])


def _change(
    data: bytearray, draw: random.Random, pool: Sequence[bytes], words: Sequence[bytes]
) -> None:
    """One change in place: a word, a byte, a cut, a repeat, or a piece of another input."""
    start = draw.randrange(len(data) + 1)
    end = min(len(data), start + draw.choice((1, 2, 4, 16, 64)))
    kind = draw.randrange(8)
    if kind <= 2:
        data[start : draw.choice((start, end))] = draw.choice(words)
    elif kind == 3:
        data[start:end] = b""
    elif kind == 4:
        data[start:start] = data[start:end] * draw.choice(REPEATED)
    elif kind == 5:
        other = draw.choice(pool)
        begin = draw.randrange(len(other) + 1)
        data[start:end] = other[begin : begin + draw.choice((4, 32, 256))]
    elif kind == 6:
        data[start : start + 1] = bytes([draw.randrange(256)])
    else:
        data[start:start] = draw.choice(words) * draw.choice(REPEATED)


def run_plain(
    target: Target, corpus: Sequence[bytes], give: Give, *, count: int, seconds: float, seed: int
) -> None:
    """Give at most `count` plain inputs, for at most so many seconds."""
    end = time.monotonic() + seconds
    for place, data in enumerate(plain(target, corpus, seed)):
        if place >= count or time.monotonic() > end:
            return
        give(data)


def run_hypothesis(
    target: Target, give: Give, *, count: int, seconds: float, seed: int, batch: int = 1000
) -> None:
    """Give at most `count` inputs of the target's strategy, in batches of other seeds each."""
    import hypothesis

    if target.strategy is None:
        raise ValueError(f"fuzz target {target.name!r} has no Hypothesis strategy")
    strategy = target.strategy()
    end = time.monotonic() + seconds
    given = 0
    while given < count and time.monotonic() < end:

        @hypothesis.seed(seed)
        @hypothesis.settings(
            max_examples=min(batch, count - given),
            database=None,
            deadline=None,
            phases=[hypothesis.Phase.generate],
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        @hypothesis.given(strategy)
        def run(data: bytes) -> None:
            nonlocal given
            if given < count and time.monotonic() < end:
                given += 1
                give(data)

        before = given
        run()
        if given == before:  # a strategy whose few values have all been seen
            return
        seed += 1


def run_atheris(
    target: Target,
    give: Give,
    *,
    count: int,
    seconds: float,
    seed: int,
    folders: Sequence[Path],
    options: Sequence[str] = (),
) -> None:
    """Hand the process over to libFuzzer: it ends the process itself when it is done.

    libFuzzer writes what it keeps to the first of the folders, and reads all; `options` are more
    of its own, e.g. `-merge=1`.
    """
    import atheris

    words = folders[0].parent / "words.dict"
    words.write_bytes(
        b"".join(
            b'"' + b"".join(b"\\x%02x" % byte for byte in word[:60]) + b'"\n'
            for word in dict.fromkeys([*target.words, *HARD])
        )
    )
    atheris.Setup(
        [
            "askew-fuzz",
            *map(str, folders),
            f"-runs={count}",
            f"-max_total_time={max(1, int(seconds))}",
            f"-max_len={target.longest}",
            f"-seed={seed % 2**31 or 1}",
            f"-dict={words}",
            f"-artifact_prefix={folders[0].parent}/",
            # Time and memory are watched by the harness, which goes on after a fault.
            f"-timeout={10**6}",  # 0 would not mean never: atheris then ends a slow input at once
            "-rss_limit_mb=0",
            "-detect_leaks=0",
            "-reload=0",
            "-print_final_stats=1",
            *options,
        ],
        lambda data: give(bytes(data)) and None,
    )
    atheris.Fuzz()
