"""Log-likelihoods of the choices: askew beside lm-evaluation-harness and a plain loop.

Asks all three about the same rows of the released FLEX benchmark (Competing Objectives in askew's
wording), each row without and with its attack, with the same weights in float32. Prints whether the
likeliest choices agree, by how much log-likelihoods differ, seconds, CPU-seconds and peak memory of
each, the ratios for each category of attack, how many tokens each computes, how far askew is from
the least that the matrix products of the distinct tokens take at the measured rate, and how its
time grows with the rows. Exits with 1 where a likeliest choice differs or a figure by 1e-3.

    python benchmarks/speed/log_likelihood.py --data FOLDER_OF_FLEX             # an hour or more
    python benchmarks/speed/log_likelihood.py --data FOLDER_OF_FLEX --rows 60   # a fifth of it

Each way runs in a process of its own, one after the other. Loading is not counted, tokenising is.
lm-eval runs each category by itself, at the batch size that was fastest on a few rows; its whole is
their sum, as it shares nothing between prompts. Needs lm-eval 0.4.13 beside askew[local]; it brings
much with it, so best in an environment of its own:
pip install torch==2.13.0 transformers==5.24.0 lm-eval==0.4.13 'askew[local]'
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from askew.audits.flex import WINDOW
from askew.datasets import DataSpec, load
from askew.models import builtin
from askew.models.base import ModelSpec
from askew.models.local import LocalModel
from askew.models.trie import TokenQuestion
from askew.prompts.choice import PromptFormat, render
from askew.prompts.scenarios import scenario_of
from askew.records import Call, Item, Prompt
from askew.seeds import generator

AGREE = 1e-3
LM_EVAL_BATCHES = (1, 4, 8, 16)
EVERYTHING = "all"


@dataclass(frozen=True)
class Timed:
    """One way's figures for one set of prompts, and what they cost."""

    figures: list[list[float]]
    seconds: float
    cpu_seconds: float
    tokens: int | None = None  # that went through the network
    rates: list[float] = field(default_factory=list)  # FLOP/s of matrix products in between
    peak_bytes: int = 0  # of the process so far


@dataclass(frozen=True)
class Job:
    """What a process of its own is to do."""

    way: str  # "askew", "lm-eval", "loop"
    folder: str
    prompts: list[tuple[str, list[str]]]
    sets: dict[str, list[int]]  # name -> places in `prompts`
    batch_size: int
    threads: int


# What is asked


def draw(items: Sequence[Item], rows: int, seed: int) -> list[Item]:
    """`rows` attacked items, as many of each source, by the seed; more rows hold the fewer."""
    by_source: defaultdict[str, list[Item]] = defaultdict(list)
    for item in items:
        if item.assigned is not None:
            by_source[item.source].append(item)
    drawn: list[Item] = []
    for source, group in sorted(by_source.items()):
        places = generator(seed, "log_likelihood", source).permutation(len(group))
        drawn += [group[place] for place in sorted(places[: rows // len(by_source)])]
    return drawn


def prompts(items: Sequence[Item], scoring: str) -> list[Prompt]:
    """The source prompt of each item and its attacked one, in FLEX's plain form."""
    form = PromptFormat(form="flex", scoring="texts" if scoring == "texts" else "letters")
    scenarios = [(item, scenario_of(item.assigned, item)) for item in items if item.assigned]
    return [
        render(item, form, (0, 1, 2), scenario=scenario)
        for item, attack in scenarios
        for scenario in (None, attack)
    ]


def category(item: Item) -> str:
    """The category of the item's attack."""
    return "" if item.assigned is None else str(item.assigned.category.value)


# The three ways, each in its own process


def with_askew(job: Job, places: Sequence[int]) -> Timed:
    """As `askew run` does it, in its order and batches."""
    import torch

    model = LocalModel(ModelSpec(name=f"local/{job.folder}"))
    order = sorted(range(len(places)), key=lambda n: (n // WINDOW, job.prompts[places[n]][0]))
    calls = [Call(Prompt(text=text, choices=tuple(choices))) for text, choices in job.prompts]
    tokens = 0

    def count(module: Any, inputs: Any, keywords: Mapping[str, Any]) -> None:
        nonlocal tokens
        tokens += keywords["input_ids"].numel()

    async def run() -> Timed:
        await model.ask([calls[places[0]]])  # loads the weights
        model._loaded.network.register_forward_pre_hook(count, with_kwargs=True)
        if model._loaded.tree is not None:
            model._loaded.tree.forget()  # the first call's figures
        figures: list[list[float]] = [[] for _ in places]
        seconds = cpu_seconds = 0.0
        rates = [matmul_rate(model._loaded.network)]
        for start in range(0, len(order), model.batch):
            batch = order[start : start + model.batch]
            wall, cpu = time.perf_counter(), time.process_time()
            replies = await model.ask([calls[places[place]] for place in batch])
            seconds += time.perf_counter() - wall
            cpu_seconds += time.process_time() - cpu
            for place, reply in zip(batch, replies, strict=True):
                figures[place] = list(reply.log_probabilities)
            rates.append(matmul_rate(model._loaded.network))
        await model.close()
        return Timed(figures, seconds, cpu_seconds, tokens, rates)

    torch.set_num_threads(job.threads)
    return asyncio.run(run())


def with_lm_eval(job: Job, places: Sequence[int]) -> Timed:
    """lm-evaluation-harness's own model class on the same files."""
    try:
        from lm_eval.api.instance import Instance
        from lm_eval.models.huggingface import HFLM
    except ImportError:
        sys.exit("lm-eval is not installed. Install it with: pip install lm-eval==0.4.13")
    reference = HFLM(
        pretrained=job.folder, dtype="float32", device="cpu", batch_size=job.batch_size
    )
    asked = [job.prompts[place] for place in places]
    requests = [
        Instance(request_type="loglikelihood", doc={}, arguments=(text, choice), idx=number)
        for number, (text, choices) in enumerate(asked)
        for choice in choices
    ]

    def work() -> list[list[float]]:
        flat = iter(reference.loglikelihood(requests, disable_tqdm=True))
        return [[next(flat)[0] for _ in choices] for _, choices in asked]

    return timed(work)


def with_loop(job: Job, places: Sequence[int]) -> Timed:
    """Whole sequences by length, padded, a batch at a time; the head at the wanted places only."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(job.folder)
    network = transformers.AutoModelForCausalLM.from_pretrained(job.folder).eval()

    def work() -> list[list[float]]:
        figures = [[0.0] * len(job.prompts[place][1]) for place in places]
        whole = []
        for number, place in enumerate(places):
            text, choices = job.prompts[place]
            start = len(tokenizer.encode(text))
            for choice, end in enumerate(choices):
                whole.append((tokenizer.encode(text + end), start, number, choice))
        whole.sort(key=lambda one: -len(one[0]))
        for first in range(0, len(whole), job.batch_size):
            batch = whole[first : first + job.batch_size]
            width = len(batch[0][0]) - 1
            ids = [ids[:-1] + [0] * (width - len(ids) + 1) for ids, *_ in batch]
            seen = [[1] * (len(ids) - 1) + [0] * (width - len(ids) + 1) for ids, *_ in batch]
            hidden = network.model(
                torch.tensor(ids), attention_mask=torch.tensor(seen), use_cache=False
            ).last_hidden_state
            for row, (ids, start, number, choice) in enumerate(batch):
                logits = network.lm_head(hidden[row, start - 1 : len(ids) - 1])
                values = logits.log_softmax(-1)[range(len(ids) - start), ids[start:]]
                figures[number][choice] = float(values.sum())
        return figures

    with torch.inference_mode():
        return timed(work)


def timed(work: Callable[[], list[list[float]]]) -> Timed:
    """Run `work` once, on the wall clock and on the process's."""
    wall, cpu = time.perf_counter(), time.process_time()
    figures = work()
    return Timed(figures, time.perf_counter() - wall, time.process_time() - cpu)


def matmul_rate(network: Any, seconds: float = 0.5) -> float:
    """FLOP in a CPU-second of the network's own matrix products, without anything in between."""
    import torch

    weights = [
        module.weight
        for module in network.get_decoder().layers[0].modules()
        if isinstance(module, torch.nn.Linear)
    ]
    inputs = [torch.randn(768, weight.shape[1]) for weight in weights]
    flop = 2.0 * 768 * sum(weight.numel() for weight in weights)
    rounds, start = 0, time.process_time()
    with torch.inference_mode():
        while time.process_time() - start < seconds:
            for weight, rows in zip(weights, inputs, strict=True):
                torch.nn.functional.linear(rows, weight)
            rounds += 1
    return float(rounds * flop / (time.process_time() - start))


WAYS: dict[str, Callable[[Job, Sequence[int]], Timed]] = {
    "askew": with_askew,
    "lm-eval": with_lm_eval,
    "loop": with_loop,
}


def work_off(path: Path) -> None:
    """What the process of its own does: read a job, write its answers beside it."""
    import torch

    job = Job(**json.loads(path.read_text()))
    torch.set_num_threads(job.threads)
    answers = {}
    for name, places in job.sets.items():
        answers[name] = asdict(WAYS[job.way](job, places))
        # Kilobytes on Linux.
        answers[name]["peak_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        print(f"  {job.way} {name}: {answers[name]['cpu_seconds']:.1f} CPU-s", file=sys.stderr)
    path.with_suffix(".out").write_text(json.dumps(answers))


def apart(job: Job) -> dict[str, Timed]:
    """Do a job in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "job.json"
        path.write_text(json.dumps(asdict(job)))
        environment = {**os.environ, "OMP_NUM_THREADS": str(job.threads)}
        ended = subprocess.run(
            [sys.executable, __file__, "--job", str(path)], env=environment, check=False
        )
        if ended.returncode:
            sys.exit(f"{job.way} failed, see above.")
        answers = json.loads(path.with_suffix(".out").read_text())
    return {name: Timed(**answer) for name, answer in answers.items()}


# What it comes to


@dataclass(frozen=True)
class Tokens:
    """Counts over a set of prompts; the last token of a choice is never fed in."""

    distinct: int  # nodes of the tree of all sequences
    lm_eval: int  # whole sequences, one for each distinct one; padding not counted
    distributions: int  # distinct places whose next-token distribution is asked for

    @classmethod
    def of(cls, questions: Sequence[TokenQuestion]) -> Tokens:
        """Count."""
        nodes: set[tuple[int, ...]] = set()
        wanted: set[tuple[int, ...]] = set()
        whole: set[tuple[int, ...]] = set()
        for question in questions:
            for continuation in question.continuations:
                path = (*question.prompt, *continuation[:-1])
                whole.add(path)
                nodes.update(path[:end] for end in range(1, len(path) + 1))
                wanted.update(path[:end] for end in range(len(question.prompt), len(path) + 1))
        return cls(len(nodes), sum(map(len, whole)), len(wanted))


def flop(tokens: Tokens, folder: str) -> float:
    """FLOP of the matrix products with the weights; attention itself is not counted."""
    import torch
    import transformers

    config = transformers.AutoConfig.from_pretrained(folder)
    with torch.device("meta"):
        network = transformers.AutoModelForCausalLM.from_config(config)
    linear = [each for each in network.modules() if isinstance(each, torch.nn.Linear)]
    head = network.get_output_embeddings().weight.numel()
    body = sum(each.weight.numel() for each in linear) - head
    return float(2 * (body * tokens.distinct + head * tokens.distributions))


def compare(left: Timed, right: Timed) -> tuple[int, float]:
    """How many likeliest choices differ, and the largest difference of two figures."""
    pairs = list(zip(left.figures, right.figures, strict=True))
    other = sum(a.index(max(a)) != b.index(max(b)) for a, b in pairs)
    return other, max(abs(x - y) for a, b in pairs for x, y in zip(a, b, strict=True))


def together(parts: Mapping[str, Timed], sets: Mapping[str, Sequence[int]], count: int) -> Timed:
    """The parts as if they had been one run."""
    figures: list[list[float]] = [[] for _ in range(count)]
    for name, part in parts.items():
        for place, row in zip(sets[name], part.figures, strict=True):
            figures[place] = row
    return Timed(
        figures,
        sum(part.seconds for part in parts.values()),
        sum(part.cpu_seconds for part in parts.values()),
        peak_bytes=max(part.peak_bytes for part in parts.values()),
    )


def best_batch(job: Job, rows: int) -> int:
    """lm-eval's fastest batch size on the first prompts of each category, by CPU-seconds."""
    some = [place for places in job.sets.values() for place in places[: 2 * max(1, rows // 3)]]
    spent = {}
    for size in LM_EVAL_BATCHES:
        one = Job(job.way, job.folder, job.prompts, {f"batch {size}": some}, size, job.threads)
        spent[size] = apart(one)[f"batch {size}"].cpu_seconds
    shown = ", ".join(f"{size}: {seconds:.1f}" for size, seconds in spent.items())
    print(f"lm-eval on {len(some)} prompts, CPU-s by batch size: {shown}")
    return min(spent, key=lambda size: spent[size])


def measure(scoring: str, arguments: argparse.Namespace, folder: str) -> dict[str, Any]:
    """One scoring by all three ways, printed; the figures for a file."""
    items = draw(load(DataSpec("flex", arguments.data)).items, arguments.rows, arguments.seed)
    asked = prompts(items, scoring)
    plain = [(prompt.text or "", list(prompt.choices)) for prompt in asked]
    mix = Counter(category(item) for item in items)
    of_category = {
        name: [n for n in range(len(asked)) if category(items[n // 2]) == name] for name in mix
    }
    print(f"\n== {scoring}: {len(asked)} prompts, {len(items)} rows, source and attacked ==")
    print("rows: " + ", ".join(f"{count} {name}" for name, count in mix.items()))
    lm_eval = Job("lm-eval", folder, plain, of_category, 1, arguments.threads)
    size = arguments.batch_size or best_batch(lm_eval, arguments.tune_rows)
    print(f"batch size of lm-eval and of the loop: {size}")
    whole = {EVERYTHING: list(range(len(asked)))}
    smaller = {
        f"{share} of the rows": smaller_set(items, arguments, share) for share in ("1/4", "1/2")
    }
    ours = apart(Job("askew", folder, plain, whole, 1, arguments.threads))
    ours |= apart(Job("askew", folder, plain, of_category | smaller, 1, arguments.threads))
    parts = apart(Job("lm-eval", folder, plain, of_category, size, arguments.threads))
    theirs = together(parts, of_category, len(asked))
    loop = apart(Job("loop", folder, plain, whole, size, arguments.threads))[EVERYTHING]
    run = ours[EVERYTHING]

    print(f"{'':8s} {'CPU-s':>8s} {'wall s':>8s} {'prompts/CPU-s':>14s} {'peak MB':>8s}")
    for name, way in (("askew", run), ("loop", loop), ("lm-eval", theirs)):
        print(
            f"{name:8s} {way.cpu_seconds:8.1f} {way.seconds:8.1f} "
            f"{len(asked) / way.cpu_seconds:14.2f} {way.peak_bytes / 1e6:8.0f}"
        )
    ratios = {name: part.cpu_seconds / ours[name].cpu_seconds for name, part in parts.items()}
    ratio = theirs.cpu_seconds / run.cpu_seconds
    print(f"CPU-seconds, lm-eval / askew: {ratio:.2f}; wall: {theirs.seconds / run.seconds:.2f}")
    print(f"CPU-seconds, loop / askew: {loop.cpu_seconds / run.cpu_seconds:.2f}")
    for name, value in ratios.items():
        print(f"  rows of {name} alone: lm-eval / askew {value:.2f}")
    differs = {name: compare(run, way) for name, way in (("lm-eval", theirs), ("loop", loop))}
    for name, (other, largest) in differs.items():
        print(f"likeliest choice differs from {name}'s: {other}; largest difference {largest:.1e}")

    reader = LocalModel(ModelSpec(name=f"local/{folder}"))._reader
    tokens = Tokens.of([reader.prepare(prompt).tokens for prompt in asked])
    computed = run.tokens or 0
    print(
        f"tokens: {tokens.distinct:,} distinct; lm-eval computes {tokens.lm_eval:,} "
        f"({tokens.lm_eval / tokens.distinct:.2f} times), askew {computed:,} "
        f"({computed / tokens.distinct:.3f} times, {1 - computed / tokens.lm_eval:.1%} saved)"
    )
    mean, best = sum(run.rates) / len(run.rates), max(run.rates)
    work = flop(tokens, folder)
    print(
        f"limit: {work / 1e12:.2f} TFLOP of the distinct tokens at {mean / 1e9:.1f} GFLOP a CPU-s "
        f"= {work / mean:.1f} CPU-s; askew reaches {work / mean / run.cpu_seconds:.0%} of it "
        f"({work / best / run.cpu_seconds:.0%} at the best rate seen, {best / 1e9:.1f})"
    )
    print("askew's time by rows:")
    for name, places in (smaller | whole).items():
        used = ours[name].cpu_seconds
        print(
            f"  {len(places):5d} prompts {used:7.1f} CPU-s, {1000 * used / len(places):.0f} ms each"
        )
    return {
        "scoring": scoring,
        "rows": dict(mix),
        "batch_size": size,
        "ratio": ratio,
        "ratios": ratios,
        "differs": differs,
        "tokens": {**asdict(tokens), "askew": computed},
        "limit_share": work / mean / run.cpu_seconds,
        "askew": {name: asdict(one) for name, one in ours.items()},
        "lm_eval": {name: asdict(one) for name, one in parts.items()},
        "loop": asdict(loop),
    }


def smaller_set(items: Sequence[Item], arguments: argparse.Namespace, share: str) -> list[int]:
    """The places of the prompts that a draw of fewer rows would hold."""
    rows = arguments.rows * int(share[0]) // int(share[-1])
    kept = {item.id for item in draw(items, rows, arguments.seed)}
    return [n for n in range(2 * len(items)) if items[n // 2].id in kept]


def main() -> int:
    """Run all ways and compare; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", default=os.environ.get("ASKEW_DATA"), help="folder of FLEX")
    parser.add_argument("--rows", type=int, default=300, help="rows, a third of each source")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--scoring", choices=("letters", "texts", "both"), default="both")
    parser.add_argument("--batch-size", type=int, help="lm-eval's; default: the best of some")
    parser.add_argument("--tune-rows", type=int, default=12, help="rows that it is found on")
    parser.add_argument("--threads", type=int, default=1, help="torch's")
    parser.add_argument("--model", help="a model's folder; default: builtin/smollm2")
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--job", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.job:
        work_off(arguments.job)
        return 0

    folder = arguments.model or str(builtin.install("smollm2", report=print))
    scorings = ("letters", "texts") if arguments.scoring == "both" else (arguments.scoring,)
    found = [measure(scoring, arguments, folder) for scoring in scorings]
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(found, indent=1))
    off = [pair for each in found for pair in each["differs"].values()]
    return int(any(other or largest >= AGREE for other, largest in off))


if __name__ == "__main__":
    sys.exit(main())
