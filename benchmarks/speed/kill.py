"""Measure: a 2,000-call run killed with `kill -9` at 20 random moments.

Prints, for `--unknown retry` and `--unknown skip`: what was unknown after each kill, how many
prompts the server saw twice, and how many of those had not been listed as unknown before (0 is the
promise). Exits with 1 if the promise is broken.

    python benchmarks/speed/kill.py [--calls 2000] [--kills 20] [--seed 0] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))  # for tests.models
from tests.models.killing import Killed, answer_to, run_with_kills


def summary(killed: Killed) -> dict[str, object]:
    """The figures, and whether the promise held."""
    wrong = [p for p, text in killed.replies.items() if text not in (None, answer_to(p))]
    most = max(killed.unknown_after_kill, default=0)
    return {
        "calls": killed.calls,
        "kills": len(killed.unknown_after_kill),
        "concurrency": killed.concurrency,
        "unknown after a kill, most": most,
        "unknown in all": sum(killed.unknown_after_kill),
        "prompts repeated": killed.repeats,
        "repeated without being listed": len(killed.unlisted_repeats),
        "budget exceeded": len(killed.overspent),
        "calls budgeted": killed.budget,
        "calls spent": killed.spent,
        "missing at the end": killed.missing,
        "replies that differ from an undisturbed run": len(wrong),
        "promise held": not (killed.unlisted_repeats or killed.overspent or wrong)
        and most <= killed.concurrency
        and killed.repeats <= killed.concurrency * len(killed.unknown_after_kill),
    }


def main(arguments: list[str]) -> int:
    """Run both policies and print their figures."""
    parser = argparse.ArgumentParser(description="Kill a run at random moments.")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    figures = {}
    for unknown in ("retry", "skip"):
        with tempfile.TemporaryDirectory() as folder:
            killed = run_with_kills(
                Path(folder),
                calls=options.calls,
                kills=options.kills,
                unknown=unknown,
                seed=options.seed,
            )
        figures[unknown] = summary(killed)
        print(f"--unknown {unknown}")
        for name, value in figures[unknown].items():
            print(f"  {name:45} {value}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    return 0 if all(one["promise held"] for one in figures.values()) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
