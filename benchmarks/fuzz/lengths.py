"""Time against length: readers of text on long runs of one fragment.

    python benchmarks/fuzz/lengths.py [--target NAME …] [--length 64000] [--limit 2]

For each target, each of its words and of the signs that texts commonly repeat is written again and
again, up to `--length` characters, behind nothing and behind one of its seeds. Printed is what
takes longer than a tenth of `--limit` seconds, with how often longer than half the text. Exits with
1 where something takes longer than the limit.
"""

from __future__ import annotations

import argparse
import contextlib
import signal
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from harness import Target, TookTooLong, registry, watched
from regexes import RUNS


def seconds(target: Target, data: bytes, limit: float) -> float:
    """Processor time of one input; the limit where it takes longer."""
    begun = time.process_time()
    try:
        signal.setitimer(signal.ITIMER_PROF, limit)
        with contextlib.suppress(Exception):  # laws are not what is looked at here
            target.function(data)
    except TookTooLong:
        return limit
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return time.process_time() - begun


def longest(target: Target, length: int, limit: float) -> list[tuple[float, float, bytes, bytes]]:
    """What took long: seconds, growth on doubling, prefix and fragment; the slowest first."""
    found = []
    fragments = dict.fromkeys([*target.words, *(run.encode() for run in RUNS), *target.seeds])
    with watched(limit):
        for prefix in ("", *target.seeds[:2]):
            start = prefix if isinstance(prefix, bytes) else b"\0"
            for fragment in fragments:
                times: list[float] = []
                for size in (length // 16, length // 2, length):
                    data = start + fragment * (size // len(fragment))
                    times.append(seconds(target, data, limit))
                    if times[-1] < limit / 200 and len(times) < 2:
                        break
                    if times[-1] >= limit:
                        break
                if times[-1] >= limit / 10:
                    growth = times[-1] / max(times[-2], 1e-9) if len(times) > 1 else float("inf")
                    found.append((times[-1], growth, start, fragment))
    return sorted(found, key=lambda one: -one[0])


def main() -> int:
    """Try all readers of text."""
    parser = argparse.ArgumentParser(description="Time against length of askew's readers.")
    parser.add_argument("--target", action="append")
    parser.add_argument("--length", type=int, default=64_000)
    parser.add_argument("--limit", type=float, default=2.0)
    options = parser.parse_args()
    bad = 0
    for name, target in registry().items():
        if name not in (options.target or registry()):
            continue
        found = longest(target, options.length, options.limit)
        bad += sum(one[0] >= options.limit for one in found)
        for took, growth, prefix, fragment in found[:12]:
            print(f"{name:20} {took:7.3f} s  x{growth:4.1f}  {prefix[:24]!r} {fragment[:60]!r}")
        print(f"{name:20} {len(found)} of them slow", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
