"""The part of calls.py that runs in Inspect AI's own environment, which has no askew.

    python peer_inspect.py generate|multiple_choice CONCURRENCY LOG_DIR < prompts.json

with TOY_BASE_URL and TOY_API_KEY set; prints one line of JSON.
"""

import json
import sys
import time

import inspect_ai
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.scorer import choice, match
from inspect_ai.solver import generate, multiple_choice


def main(solver: str, concurrency: str, log_dir: str) -> None:
    """Run one eval over the prompts and say what it took."""
    prompts = json.load(sys.stdin)
    if solver == "generate":
        samples = [Sample(input=prompt, target="B") for prompt in prompts]
        task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=match())
    else:
        options = ["The nurse", "Cannot be determined", "The carpenter"]
        samples = [Sample(input=prompt, choices=options, target="B") for prompt in prompts]
        task = Task(dataset=MemoryDataset(samples), solver=multiple_choice(), scorer=choice())
    wall, cpu = time.perf_counter(), time.process_time()
    (log,) = eval(
        task,
        model="openai-api/toy/toy",
        display="none",
        log_dir=log_dir,
        log_realtime=False,  # its fastest way
        max_connections=int(concurrency),
        max_samples=int(concurrency),
        max_tokens=16,
    )
    figures = {
        "version": inspect_ai.__version__,
        "seconds": time.perf_counter() - wall,
        "cpu_seconds": time.process_time() - cpu,
    }
    if log.status != "success":
        sys.exit(f"the eval ended as {log.status}: {log.error}")
    print(json.dumps(figures))


if __name__ == "__main__":
    main(*sys.argv[1:])
