"""Measure: a topic graph of Wikipedia's size, built, kept, opened and searched.

The graph is synthetic, of the size that GMRL-BD (arXiv 2604.05483, §4.1) names: 871,854 topics and
4,983,336 edges, titles of some 15 bytes. Opening is measured in a process of its own and by the
clock, all else in CPU seconds.

    python benchmarks/speed/topic_graph.py [--nodes 871854] [--edges 4983336] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import math
import mmap
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from askew.graphs.topic_storage import open_graph, save_graph
from askew.graphs.topic_subgraph import below, cycles, depth_from, largest_part
from askew.graphs.topics import TopicGraph, build_graph

NODES, EDGES = 871_854, 4_983_336
# What the graph may take: the project's own bounds.
MOST_SECONDS, MOST_MEGABYTES = 1.0, 120.0
MEGABYTE = 1_000_000


def synthetic(nodes: int, edges: int) -> TopicGraph:
    """Children under earlier topics, hubs among them; a tenth of the edges lead anywhere."""
    random = np.random.default_rng(0)
    drawn = edges + edges // 20 + 100
    child = random.integers(1, nodes, drawn)
    parent = (child * random.random(drawn) ** 2).astype(np.int64)
    anywhere = random.random(drawn) < 0.1
    parent[anywhere] = random.integers(0, nodes, int(anywhere.sum()))
    key = np.unique(child * nodes + parent)
    key = random.permutation(key[key // nodes != key % nodes])[:edges]
    titles = [f"Topic of {number * 7919 % 1_000_003}" for number in range(nodes)]
    return build_graph(titles, key // nodes, key % nodes, ids=np.arange(nodes) * 3 + 10)


def timed(act: Callable[[], object]) -> float:
    """CPU seconds of one go."""
    start = time.process_time()
    act()
    return time.process_time() - start


def resident() -> float:
    """Memory of this process, mapped pages that were read included, in MB; NaN but on Linux."""
    # Not getrusage: a child's peak there begins with that of the process that started it.
    statm = Path("/proc/self/statm")
    pages = float(statm.read_text().split()[1]) if statm.is_file() else math.nan
    return pages * mmap.PAGESIZE / MEGABYTE


def opened(folder: Path) -> dict[str, float]:
    """What opening costs: the figures of a fresh process."""
    before = resident()
    start = time.perf_counter()
    graph = open_graph(folder).graph
    seconds = time.perf_counter() - start
    memory = resident() - before
    title = graph.title(graph.size // 2)
    return {
        "open_seconds": seconds,
        "open_megabytes": memory,
        "verified_open_cpu_seconds": timed(lambda: open_graph(folder, verify=True)),
        "node_of_cpu_seconds": timed(lambda: graph.node_of(title)),
        "depth_cpu_seconds": timed(lambda: depth_from(graph, [0])),
        "below_to_depth_3_cpu_seconds": timed(lambda: below(graph, [0], 3)),
        "largest_part_cpu_seconds": timed(lambda: largest_part(graph)),
        "cycles_cpu_seconds": timed(lambda: cycles(graph)),
    }


def main() -> int:
    """Measure and print; 1 where the graph is larger or slower to open than it may be."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--nodes", type=int, default=NODES)
    parser.add_argument("--edges", type=int, default=EDGES)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--opened", type=Path, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.opened:
        print(json.dumps(opened(arguments.opened)))
        return 0
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "graph"
        start = time.process_time()
        graph = synthetic(arguments.nodes, arguments.edges)
        figures: dict[str, float] = {"nodes": graph.size, "edges": graph.edges}
        figures["draw_and_build_cpu_seconds"] = time.process_time() - start
        figures["save_cpu_seconds"] = timed(lambda: save_graph(graph, folder, source="synthetic"))
        sizes = {path.name: path.stat().st_size for path in folder.iterdir()}
        figures["megabytes"] = sum(sizes.values()) / MEGABYTE
        figures["edges_megabytes"] = (
            sum(sizes[f"{name}.npy"] for name in ("starts", "neighbours", "direction")) / MEGABYTE
        )
        child = [sys.executable, __file__, "--opened", str(folder)]
        figures |= json.loads(subprocess.run(child, check=True, capture_output=True).stdout)
    for name, value in figures.items():
        print(f"{name.replace('_', ' '):28} {value:12,.3f}")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=1) + "\n")
    small = figures["megabytes"] < MOST_MEGABYTES
    return 0 if small and figures["open_seconds"] < MOST_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main())
