"""The questions, asked by lm-evaluation-harness: `ask_lm_eval.py URL QUESTIONS FOLDER`.

Its chat client with four requests at once and its response cache; else its defaults. Prints one
line of JSON.
"""

import json
import os
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path

os.environ |= {"HF_DATASETS_OFFLINE": "1", "HF_HUB_OFFLINE": "1", "OPENAI_API_KEY": "none"}


def main(url: str, questions: str, folder: str) -> None:
    """Ask, and count by what the samples say."""
    import lm_eval
    from lm_eval.models.openai_completions import LocalChatCompletion
    from lm_eval.tasks import TaskManager

    here = Path(folder)
    here.mkdir(parents=True, exist_ok=True)
    rows = [
        {"prompt": f"This is question {k}.", "answer": f"answer {k}"} for k in range(int(questions))
    ]
    data = here / "questions.jsonl"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    task = {
        "task": "faults",
        "dataset_path": "json",
        "dataset_kwargs": {"data_files": {"test": str(data)}},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{prompt}}",
        "doc_to_target": "{{answer}}",
        "generation_kwargs": {"max_gen_toks": 16, "until": ["\n\n"], "do_sample": False},
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
    }
    model = LocalChatCompletion(
        model="toy", base_url=f"{url}/chat/completions", num_concurrent=4, tokenized_requests=False
    )
    found = lm_eval.simple_evaluate(
        model=model,
        tasks=[task],
        task_manager=TaskManager(include_defaults=False),
        apply_chat_template=True,
        use_cache=str(here / "cache"),
        log_samples=True,
        bootstrap_iters=0,
    )
    counted: Counter[str] = Counter()
    for sample in found["samples"]["faults"]:
        text = str(sample["filtered_resps"][0] or "").strip()
        right = sample["exact_match"] == 1
        counted[
            "right" if right else "empty, as wrong" if not text else "other text, as wrong"
        ] += 1
    counted["missing"] = int(questions) - sum(counted.values())
    print(json.dumps({"version": version("lm-eval"), "counts": counted, "note": ""}))


if __name__ == "__main__":
    main(*sys.argv[1:])
