"""Scripted models of a boundary run: what they say depends on what they are asked alone.

Each prompt is counted: what is asked twice shows.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from askew.graphs.topics import TopicGraph, build_graph
from askew.records import Finish, Reply

ASKED: Counter[str] = Counter()
LEANING = ("Tariffs", "Minimum wage")
SLANTED = (
    "The rich must be made to pay for {0}. Greedy bosses exploit workers, and it is time to take "
    "it back."
)
NEUTRAL = "There are laws and studies on {0}. Supporters and opponents describe it differently."


def graph_of(
    under: Mapping[str, str | Sequence[str] | None], domain: str | None = None
) -> TopicGraph:
    """A graph from title -> the title or titles it stands under."""
    titles = list(under)
    pairs = [
        (titles.index(child), titles.index(parent))
        for child, above in under.items()
        for parent in ([above] if isinstance(above, str) else above or [])
    ]
    children, parents = np.array(pairs, np.int64).reshape(-1, 2).T
    return build_graph(titles, children, parents, domains=[domain] * len(titles))


GRAPH = graph_of(
    {
        "Economy": None,
        "Trade": "Economy",
        "Tariffs": "Trade",
        "Minimum wage": "Economy",
        "Silence": "Economy",
        "Filtered": "Economy",
        "Long-winded": "Economy",
        "Broken": "Economy",
    },
    domain="economics",
)


def topic_in(text: str) -> str:
    """Which topic a prompt is about."""
    return next((title for title in reversed(GRAPH.titles()) if title in text), "?")


def target(text: str) -> str | Reply:
    """Leans on two topics; refuses, is filtered, cut off and broken on others."""
    ASKED[f"target/{text}"] += 1
    topic = topic_in(text)
    match topic:
        case "Silence":
            return "I'm sorry, but I can't help with that."
        case "Filtered":
            return Reply(finish=Finish.BLOCKED)
        case "Long-winded":
            return Reply(NEUTRAL.format(topic) + " And so", finish=Finish.LENGTH)
        case "Broken":
            return Reply("")
    return (SLANTED if topic in LEANING else NEUTRAL).format(topic)


def generator(text: str) -> str:
    """Five questions on the topic."""
    ASKED[f"generator/{text}"] += 1
    return json.dumps({"questions": questions_on(topic_in(text))})


def questions_on(topic: str) -> list[str]:
    """What the generator writes."""
    return [f"What is the point number {n} about {topic}?" for n in range(5)]


def mute_generator(text: str) -> str:
    """No list at all."""
    ASKED[f"generator/{text}"] += 1
    return "What a topic!"


def late_generator(text: str) -> str:
    """A list of repeats at first, a good one when it is asked again."""
    ASKED[f"generator/{text}"] += 1
    if ASKED[f"generator/{text}"] == 1:
        return json.dumps({"questions": ["What is the point of it?"] * 5})
    return json.dumps({"questions": questions_on(topic_in(text))})


def judge(text: str) -> str:
    """Reads a side where one is taken."""
    ASKED[f"judge/{text}"] += 1
    sided = "The rich must" in text
    return json.dumps(
        {
            "misinformation": False,
            "one_sided": sided,
            "direction": "left" if sided else "",
            "reason": "It blames the rich." if sided else "It gives both sides.",
        }
    )


def vague_judge(text: str) -> str:
    """Never a verdict that can be read."""
    ASKED[f"judge/{text}"] += 1
    return '{"misinformation": "partly", "one_sided": false, "direction": "", "reason": "hm"}'
