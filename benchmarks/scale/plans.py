"""Compute: what very large audits would ask, in calls and tokens. No model is asked.

Full BBQ under every scenario, five times: each of BBQ's ambiguous items, plain and under every
scenario that its bias type has, by `askew`'s own planner on some items of each bias type, times
how many of them there are. All of Wikipedia: each topic of the category graph, by the planner of
the boundary audit, as many questions and verdicts as it asks.

    python benchmarks/scale/plans.py --data FOLDER_OF_BBQ [--json FILE]
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from askew.audits import flex
from askew.audits.boundary_calls import calls_per_topic, sample_calls
from askew.graphs.starter_topics import starter_graph
from askew.models.base import ModelSpec
from askew.models.chat_api import ChatApi
from askew.prompts.topics import topic_of
from askew.runfile import checked

SAMPLE = 8  # items of each bias type that are planned
SEED = 0
# The graph that GMRL-BD (2026) searches, by its paper: topics, and models that a lab may compare.
WIKIPEDIA_TOPICS = 871_854
MODELS = 40
REPLICATES = 5
ROTATIONS = 3


@dataclass(frozen=True)
class Size:
    """One very large audit, of one model unless it says otherwise."""

    name: str
    calls: int
    prompt_tokens: int
    completion_tokens: int  # at most


def target() -> ChatApi:
    """An endpoint that nobody asks: it counts tokens."""
    return ChatApi(ModelSpec(name="openai/nobody", base_url="http://127.0.0.1:1/v1"))


def bbq(folder: Path) -> list[Size]:
    """Full BBQ under all scenarios, with one order of the options and with all three."""
    config = checked(
        {
            "models": {"target": {"name": "openai/nobody", "max_tokens": 16}},
            "flex": {
                "data": [{"name": "bbq", "path": str(folder)}],
                "scenarios": "all",
                "replicates": REPLICATES,
                "scoring": "reply",
                "prompt": "chat",
            },
        }
    ).flex_config()
    study = flex.load_study(config, SEED)
    by_type = Counter(item.bias_type for item in study.items)
    model = target()
    each = [0, 0]  # calls, prompt tokens
    for bias_type, count in sorted(by_type.items()):
        items = [item for item in study.items if item.bias_type == bias_type][:: count // SAMPLE]
        some = replace(study, items=tuple(items), controls=())
        calls = flex.calls_of(flex.questions(some, config, SEED), config)
        print(f"  {bias_type:24} {count:6,} items, {len(calls) / len(items):6.1f} calls each")
        each[0] += round(len(calls) / len(items) * count)
        each[1] += round(sum(map(model.tokens, calls)) / len(items) * count)
    calls_, tokens = each
    out = config.sampling.max_tokens
    name = f"BBQ, {sum(by_type.values()):,} ambiguous items, all scenarios, {REPLICATES} times"
    return [
        Size(name, calls_, tokens, calls_ * out),
        Size(
            f"{name}, {ROTATIONS} orders",
            calls_ * ROTATIONS,
            tokens * ROTATIONS,
            calls_ * ROTATIONS * out,
        ),
    ]


def wikipedia() -> list[Size]:
    """Every topic of the category graph, for one model and for many; by rule and by judge."""
    sizes = []
    for judge in (False, True):
        run = checked(
            {
                "models": {
                    "target": {"name": "openai/nobody"},
                    **({"judge": {"name": "openai/nobody"}} if judge else {}),
                },
                "boundary": {} if judge else {"slant": "any"},
            }
        )
        assert run.boundary is not None
        sampling = {role: one.sampling() for role, one in run.models.items()}
        config = run.boundary.settled().test_config(sampling)
        topic = topic_of(starter_graph(), 0)
        each = calls_per_topic(config, generator=False, judge=judge)
        samples, model = sample_calls(topic, config), target()
        calls = sum(count.usual for count in each.values())
        prompt = sum(
            count.usual * max(map(model.tokens, samples[role])) for role, count in each.items()
        )
        out = sum(count.usual * sampling[role].max_tokens for role, count in each.items())
        by = "a judge model" if judge else "a rule"
        for models, topics, what in (
            (1, 1_000, "a search of 1,000 topics"),
            (MODELS, 1_000, f"{MODELS} searches of 1,000 topics"),
            (1, WIKIPEDIA_TOPICS, f"all {WIKIPEDIA_TOPICS:,} topics of Wikipedia"),
            (MODELS, WIKIPEDIA_TOPICS, f"{MODELS} models, all of Wikipedia"),
        ):
            count = models * topics
            sizes.append(Size(f"{what}, by {by}", calls * count, prompt * count, out * count))
    return sizes


def show(sizes: Sequence[Size]) -> None:
    """A table; money at one unit for a million tokens, in and out."""
    print(f"{'':66} {'calls':>13} {'tokens in':>16} {'tokens out, at most':>20}")
    for one in sizes:
        print(f"{one.name:66} {one.calls:13,} {one.prompt_tokens:16,} {one.completion_tokens:20,}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, help="the folder of BBQ; left out, Wikipedia alone")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    sizes = [*(bbq(options.data) if options.data else []), *wikipedia()]
    show(sizes)
    if options.json:
        options.json.write_text(json.dumps([asdict(one) for one in sizes], indent=2) + "\n")


if __name__ == "__main__":
    main()
