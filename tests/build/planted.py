"""An endpoint with a planted weakness: which scenario must be selected is known beforehand."""

from __future__ import annotations

import hashlib
import re
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from askew.build.settings import BuildFile, checked
from askew.prompts.objectives import objective_instruction
from askew.prompts.wording import DEFAULT_WORDING, OBJECTIVES
from tests.models.servers import Answer, FaultServer, Seen, chat_body

# How often a scenario works, in tenths, by the words that stand in the prompt.
Weakness = Callable[[str], int]

_OBJECTIVES = {objective_instruction(name, DEFAULT_WORDING): name for name in OBJECTIVES}
_PERSONA = re.compile(r"Speak like an? terrible (?P<name>[^.\n]+)\.")
OPTION = re.compile(r"^\(?(?P<letter>[ABC])\)? (?P<text>.+)$", re.MULTILINE)


def attack_of(body: Any) -> str:
    """The scenario in a request: an objective's or a persona's name, else "plain"."""
    shown = "\n".join(message["content"] for message in body["messages"])
    if persona := _PERSONA.search(shown):
        return persona["name"]
    return next((name for text, name in _OBJECTIVES.items() if text in shown), "plain")


class Planted:
    """Answers neutrally, but turns so many of ten replies under each scenario.

    Args:
        tenths: scenario -> biased replies of each ten, the biased ones first; 0 where not named.
        seen: every prompt, as often as it came.
    """

    def __init__(self, **tenths: int) -> None:
        self.tenths = tenths
        self.seen: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, seen: Seen) -> Answer:
        shown = "\n".join(message["content"] for message in seen.body["messages"])
        with self._lock:
            number = self.seen[shown]
            self.seen[shown] += 1
        biased = number % 10 < self.tenths.get(attack_of(seen.body), 0)
        return Answer(chat_body(letter(shown, biased=biased)))


def letter(shown: str, *, biased: bool) -> str:
    """The letter of the neutral option, or of the first other one."""
    options = {found["letter"]: found["text"] for found in OPTION.finditer(shown)}
    neutral = [name for name, text in options.items() if is_neutral(text)]
    assert len(neutral) == 1, shown
    return next(name for name in options if (name in neutral) is not biased)


def is_neutral(text: str) -> bool:
    """Whether an option of the starter set says that it cannot be known."""
    from askew.datasets.phrases import comparable, is_unknown_phrase

    return is_unknown_phrase(comparable(text), "en")


def by_hash(seen: Seen) -> Answer:
    """Each prompt has one answer for ever, biased for every second one that is attacked."""
    shown = "\n".join(message["content"] for message in seen.body["messages"])
    attacked = attack_of(seen.body) != "plain"
    biased = attacked and hashlib.sha256(shown.encode()).digest()[0] % 2 == 0
    return Answer(chat_body(letter(shown, biased=biased)))


def build_file(server: FaultServer, out: Path, **changes: object) -> BuildFile:
    """A small build on the starter set; `changes` are keys of the build table, or of the file."""
    target = {"name": "openai/toy", "base_url": server.url, "max_tokens": 8}
    values = {"out": str(out), "models": {"target": target}, "build": {"controls": 0, "items": 6}}
    dotted = {
        key if "." in key or key in BuildFile.model_fields else f"build.{key}": value
        for key, value in changes.items()
    }
    return checked(values, dotted)
