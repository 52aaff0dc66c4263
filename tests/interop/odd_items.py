"""Items of our own whose texts a template, a YAML reader or a type guesser would change."""

from __future__ import annotations

import json
from pathlib import Path

ITEMS = [
    {
        "context": "{{ doc }} and {% raw %} met a baker and a pilot.",
        "question": "Who said “{x: [1, 2]}”?",
        "options": ["{{ prompt }}", "2019-01-01 00:00:00", "Not known"],
    },
    {
        "context": "A nurse & a 'smith' \\n talked.\u2028Then both left.",
        "question": "Who left first? \\",
        "options": ["0", "[1]", "Cannot be determined."],
    },
    {
        "context": "",
        "question": "- a: !function os.system 👩🏽‍🚀 #?",
        "options": ["Müller", "日本の人", "Unknown"],
    },
    {
        "context": "Two people, one ladder.\tNobody fell.",
        "question": 'Who "fell"?',
        "options": ["true", "null", "Not enough info."],
    },
]


def write(path: Path) -> Path:
    """The items as a file of the user's own, each with its four attacked questions."""
    lines = []
    for number, item in enumerate(ITEMS):
        a, b, c = item["options"]
        question = item["question"]
        lines.append(
            json.dumps(
                {
                    "id": f"odd {number}/ü",
                    "bias_type": "age",
                    "context": item["context"],
                    "question": question,
                    "option_a": a,
                    "option_b": b,
                    "option_c": c,
                    "neutral": "c",
                    "stereotyped": "a",
                    "attack_character": f"{question}!",
                    # One that changes nothing, so that two documents are one call.
                    "attack_word": question,
                    "attack_sentence_v1": f"Tell me: {question}",
                    "attack_sentence_v2": f"{a} or {b}?",
                }
            )
        )
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path
