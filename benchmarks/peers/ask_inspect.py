"""The questions, asked by Inspect AI with its own defaults: `ask_inspect.py URL QUESTIONS FOLDER`.

It runs in an environment that may have no askew; prints one line of JSON. `eval_set` goes on with a
folder that holds logs already, as its documentation has it.
"""

import json
import os
import sys
from collections import Counter

import inspect_ai
from inspect_ai import Task, eval_set
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.log import list_eval_logs, read_eval_log
from inspect_ai.scorer import exact
from inspect_ai.solver import generate


def main(url: str, questions: str, folder: str) -> None:
    """Ask, and count by what the log says of each sample."""
    os.environ |= {"TOY_BASE_URL": url, "TOY_API_KEY": "none", "INSPECT_DISPLAY": "none"}
    samples = [
        Sample(id=k, input=f"This is question {k}.", target=f"answer {k}")
        for k in range(int(questions))
    ]
    task = Task(dataset=MemoryDataset(samples), solver=generate(), scorer=exact(), name="faults")
    eval_set(task, model="openai-api/toy/toy", log_dir=folder, display="none", max_tokens=16)
    newest = max(list_eval_logs(folder), key=lambda log: log.mtime or 0)
    log = read_eval_log(newest.name)
    counted: Counter[str] = Counter()
    for sample in log.samples or []:
        if sample.error is not None or not sample.scores:
            counted["error"] += 1
            continue
        (score,) = sample.scores.values()
        text = sample.output.completion.strip()
        right = score.value == "C"
        counted[
            "right" if right else "empty, as wrong" if not text else "other text, as wrong"
        ] += 1
    counted["missing"] = int(questions) - sum(counted.values())
    print(json.dumps({"version": inspect_ai.__version__, "counts": counted, "note": log.status}))


if __name__ == "__main__":
    main(*sys.argv[1:])
