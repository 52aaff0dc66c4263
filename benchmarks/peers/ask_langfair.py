"""The questions, asked by LangFair's generator: `ask_langfair.py URL QUESTIONS FOLDER`.

Its client is langchain-openai with its defaults; LangFair keeps nothing on disk. Prints one line of
JSON.
"""

import asyncio
import json
import sys
from collections import Counter
from importlib.metadata import version

from langchain_openai import ChatOpenAI
from langfair.generator import ResponseGenerator


async def main(url: str, questions: str) -> None:
    """Ask, and count by the responses."""
    model = ChatOpenAI(model="toy", base_url=url, api_key="none", max_tokens=16)
    prompts = [f"This is question {k}." for k in range(int(questions))]
    generator = ResponseGenerator(langchain_llm=model)
    found = await generator.generate_responses(prompts=prompts, count=1, show_progress_bars=False)
    counted: Counter[str] = Counter()
    for number, said in enumerate(found["data"]["response"]):
        text = str(said or "").strip()
        right = text == f"answer {number}"
        counted["right" if right else "empty, as an answer" if not text else "other text"] += 1
    counted["missing"] = int(questions) - sum(counted.values())
    rate = found["metadata"]["non_completion_rate"]
    note = f"non_completion_rate {rate}"
    print(json.dumps({"version": version("langfair"), "counts": counted, "note": note}))


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:3]))
