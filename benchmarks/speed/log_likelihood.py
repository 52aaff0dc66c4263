"""Log-likelihoods of the choices: askew's tree scorer beside lm-evaluation-harness, same weights.

Asks both about the same rows of the released FLEX benchmark, each without and with its attack, and
prints whether the likeliest choices agree, by how much the log-likelihoods differ, and the speed
of both. Exits with 1 where a likeliest choice differs or a difference reaches 1e-3.

    python benchmarks/speed/log_likelihood.py --data FOLDER_OF_FLEX

Needs lm-eval 0.4.13 beside askew[local]; it brings much with it, so best in an environment of its
own: pip install torch==2.13.0 transformers==5.24.0 lm-eval==0.4.13 'askew[local]'
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass

from askew.datasets import DataSpec, load
from askew.models import builtin
from askew.models.base import ModelSpec
from askew.models.local import LocalModel
from askew.prompts.choice import PromptFormat, render
from askew.prompts.scenarios import scenario_of
from askew.records import Call, Item, Prompt
from askew.seeds import generator

Figures = list[tuple[float, ...]]
AGREE = 1e-3


@dataclass(frozen=True)
class Timed:
    """One way's figures and what they cost."""

    figures: Figures
    seconds: float
    cpu_seconds: float


def draw(items: list[Item], rows: int, seed: int) -> list[Item]:
    """`rows` attacked items, as many of each source, by the seed."""
    by_source: defaultdict[str, list[Item]] = defaultdict(list)
    for item in items:
        if item.assigned is not None:
            by_source[item.source].append(item)
    drawn: list[Item] = []
    for source, group in sorted(by_source.items()):
        places = generator(seed, "log_likelihood", source).permutation(len(group))
        drawn += [group[place] for place in sorted(places[: rows // len(by_source)])]
    return drawn


def prompts(items: list[Item], scoring: str) -> list[Prompt]:
    """The source prompt of each item and its attacked one, in FLEX's plain form."""
    form = PromptFormat(form="flex", scoring="texts" if scoring == "texts" else "letters")
    scenarios = [(item, scenario_of(item.assigned, item)) for item in items if item.assigned]
    return [
        render(item, form, (0, 1, 2), scenario=scenario)
        for item, attack in scenarios
        for scenario in (None, attack)
    ]


def timed(work: Callable[[], Figures]) -> Timed:
    """Run `work` once, on the wall clock and on the process's."""
    wall, cpu = time.perf_counter(), time.process_time()
    figures = work()
    return Timed(figures, time.perf_counter() - wall, time.process_time() - cpu)


def with_askew(folder: str, asked: list[Prompt]) -> Timed:
    """The way `askew run` does it, tokenising included, loading not."""
    model = LocalModel(ModelSpec(name=f"local/{folder}"))

    async def run() -> Timed:
        await model.ask([Call(asked[0])])  # loads the weights
        wall, cpu = time.perf_counter(), time.process_time()
        figures: Figures = []
        for start in range(0, len(asked), model.batch):
            batch = [Call(prompt) for prompt in asked[start : start + model.batch]]
            figures += [reply.log_probabilities for reply in await model.ask(batch)]
        spent = time.perf_counter() - wall, time.process_time() - cpu
        await model.close()
        return Timed(figures, *spent)

    return asyncio.run(run())


def with_lm_eval(folder: str, asked: list[Prompt], batch_size: int) -> Timed:
    """lm-evaluation-harness's own model class on the same files, tokenising included."""
    try:
        from lm_eval.api.instance import Instance
        from lm_eval.models.huggingface import HFLM
    except ImportError:
        sys.exit("lm-eval is not installed. Install it with: pip install lm-eval==0.4.13")
    reference = HFLM(pretrained=folder, dtype="float32", device="cpu", batch_size=batch_size)
    requests = [
        Instance(request_type="loglikelihood", doc={}, arguments=(prompt.text, choice), idx=place)
        for place, prompt in enumerate(asked)
        for choice in prompt.choices
    ]

    def work() -> Figures:
        flat = [value for value, _ in reference.loglikelihood(requests, disable_tqdm=True)]
        return [tuple(flat[start : start + 3]) for start in range(0, len(flat), 3)]

    return timed(work)


def likeliest(figures: tuple[float, ...]) -> int:
    """Index of the first maximum."""
    return figures.index(max(figures))


def main() -> int:
    """Run both ways and compare; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("ASKEW_DATA"), help="folder of FLEX")
    parser.add_argument("--rows", type=int, default=300, help="rows, a third of each source")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scoring", choices=("letters", "texts"), default="letters")
    parser.add_argument("--batch-size", type=int, default=8, help="lm-eval's")
    parser.add_argument("--threads", type=int, help="torch's; default: as many as cores")
    parser.add_argument("--model", help="a model's folder; default: builtin/smollm2")
    parser.add_argument("--json", help="write the figures to this file")
    arguments = parser.parse_args()

    import torch

    if arguments.threads:
        torch.set_num_threads(arguments.threads)
    folder = arguments.model or str(builtin.install("smollm2", report=print))
    items = load(DataSpec("flex", arguments.data)).items
    asked = prompts(draw(list(items), arguments.rows, arguments.seed), arguments.scoring)
    ours = with_askew(folder, asked)
    theirs = with_lm_eval(folder, asked, arguments.batch_size)

    pairs = list(zip(ours.figures, theirs.figures, strict=True))
    other = sum(likeliest(left) != likeliest(right) for left, right in pairs)
    largest = max(abs(a - b) for left, right in pairs for a, b in zip(left, right, strict=True))
    print(f"{len(asked)} prompts ({len(asked) // 2} rows, source and attacked), {folder}")
    print(f"likeliest choice differs: {other}; largest difference: {largest:.2e}")
    for name, run in (("askew", ours), ("lm-eval", theirs)):
        print(
            f"{name:8s} {len(asked) / run.seconds:7.2f} prompts/s {run.seconds:8.1f} s "
            f"{run.cpu_seconds:8.1f} CPU-s"
        )
    print(f"CPU-seconds, lm-eval / askew: {theirs.cpu_seconds / ours.cpu_seconds:.2f}")
    if arguments.json:
        summary = {
            **vars(arguments),
            "prompts": len(asked),
            "likeliest_differs": other,
            "largest_difference": largest,
            "askew": asdict(ours),
            "lm_eval": asdict(theirs),
        }
        with open(arguments.json, "w", encoding="utf-8") as file:
            json.dump(summary, file, indent=1)
    return int(other > 0 or largest >= AGREE)


if __name__ == "__main__":
    sys.exit(main())
