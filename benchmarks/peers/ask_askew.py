"""The questions, asked by askew: `ask_askew.py URL QUESTIONS FOLDER`; prints one line of JSON.

Started again on the same folder it goes on where it stopped, as `askew run` does.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from importlib.metadata import version
from pathlib import Path

from askew.models.base import ModelSpec
from askew.models.ledger import Ledger
from askew.models.registry import load_model
from askew.models.runner import Runner
from askew.records import Call, Finish, Message, Prompt, Reply, Sampling


def outcome(reply: Reply | None, number: int) -> str:
    """What one answer counts as: an audit keeps these apart."""
    if reply is None:
        return "unknown"
    if reply.finish is Finish.ERROR:
        return "error"
    text = (reply.text or "").strip()
    return "right" if text == f"answer {number}" else "empty" if not text else "other text"


async def main(url: str, questions: int, folder: Path) -> None:
    """Ask, and count."""
    folder.mkdir(parents=True, exist_ok=True)
    model = load_model(ModelSpec(name="openai/toy", base_url=url, timeout_seconds=20))
    calls = [
        Call(Prompt(messages=(Message("user", f"This is question {k}."),)), Sampling(max_tokens=16))
        for k in range(questions)
    ]
    with Ledger.open(folder / "run.sqlite") as ledger:
        answers = await Runner(ledger).ask(model, calls)
    await model.close()
    counted = Counter(outcome(reply, k) for k, reply in enumerate(answers.replies))
    said = {"version": version("askew"), "counts": counted, "note": answers.message}
    print(json.dumps(said))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])))
