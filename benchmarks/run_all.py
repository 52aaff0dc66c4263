"""Run the benchmarks that can run here, and the self-test; says why the others are left out.

    python benchmarks/run_all.py [--quick] [--audit boundary] [--data FOLDER_OF_FLEX]
        [--peer-python peer/bin/python]

Exits with 1 if a benchmark fails or does not hold what it promises.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Benchmark:
    """A script with its arguments; `missing` says what it needs and does not find."""

    script: str  # from this folder
    arguments: tuple[str, ...]
    missing: str | None = None
    audit: str = ""  # whose it is alone


def benchmarks(options: argparse.Namespace) -> Iterator[Benchmark]:
    """What there is to run, small where `--quick` is given."""
    calls = ["--calls", "500", "--concurrency", "20"] if options.quick else []
    if options.peer_python:
        calls += ["--peer-python", options.peer_python]
        calls += ["--peer-calls", "200"] if options.quick else []
    yield Benchmark("speed/calls.py", tuple(calls))
    yield Benchmark("speed/kill.py", ("--calls", "200", "--kills", "3") if options.quick else ())
    rows = ("--rows", "30") if options.quick else ()
    yield Benchmark(
        "speed/log_likelihood.py", ("--data", options.data or "", *rows), _no_peer(options.data)
    )
    yield Benchmark("speed/extract.py", ("--repeats", "1") if options.quick else (), _no_spacy())
    yield Benchmark("reproduce/clinical_selftest.py", ("--studies", "100") if options.quick else ())
    for script, arguments in _boundary(quick=options.quick):
        yield Benchmark(script, arguments, _no_numba(), "boundary")


def _boundary(*, quick: bool) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Scripts of the boundary search, each with its arguments."""
    short = ("--quick",) if quick else ()
    yield "reproduce/boundary_search.py", short
    yield "reproduce/gmrl.py", short
    yield "reproduce/boundary_clustering.py", ("--games", "20") if quick else ()
    if not quick:
        yield "reproduce/boundary_real.py", ()  # trains three models
    yield "speed/boundary_environment.py", ("--quick",) if quick else ()
    yield "speed/boundary_scale.py", ("--graphs", "1", "--starts", "1") if quick else ()
    yield "speed/topic_graph.py", ()
    yield "speed/dump.py", ("--megabytes", "20") if quick else ("--megabytes", "1000")


def _no_numba() -> str | None:
    return None if find_spec("numba") else "numba is not installed: pip install 'askew[boundary]'"


def _no_spacy() -> str | None:
    return None if find_spec("spacy") else "spacy is not installed: pip install 'askew[clinical]'"


def _no_peer(data: str | None) -> str | None:
    for package in ("torch", "transformers", "lm_eval"):
        if find_spec(package) is None:
            return f"{package} is not installed; the head of the script says how to install it"
    if not data:
        return "no data: name a folder that holds FLEX with --data or ASKEW_DATA"
    return None


def main() -> int:
    """Run them one after the other; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="less work, for a first look")
    parser.add_argument("--data", default=os.environ.get("ASKEW_DATA"), help="folder of FLEX")
    parser.add_argument("--peer-python", help="a Python that has inspect-ai and openai")
    failed = []
    parser.add_argument("--audit", default="", help="boundary: the benchmarks of that audit alone")
    options = parser.parse_args()
    for one in benchmarks(options):
        if options.audit not in ("", one.audit):
            continue
        print(f"\n== {one.script} {' '.join(one.arguments)}".rstrip(), flush=True)
        if one.missing:
            print(f"left out: {one.missing}")
            continue
        done = subprocess.run([sys.executable, HERE / one.script, *one.arguments], check=False)
        if done.returncode:
            failed.append(one.script)
    if failed:
        print(f"\nfailed: {', '.join(failed)}")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
