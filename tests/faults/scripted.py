"""A real endpoint whose every answer is known beforehand, and the commands that ask it.

What it says depends on what it is asked alone, so that a run that was killed can be compared with
one that was left alone, and each reply of a ledger with what was said.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from askew.models.ledgerfile import CallRecord
from askew.records import Call
from tests.audits import scripted_clinic, scripted_leanings
from tests.build.planted import by_hash
from tests.models.servers import Answer, FaultServer, Seen, chat_body

AT_ONCE = 4  # calls under way at most
DELAY = 0.02  # seconds that an answer takes
KINDS = ("flex", "clinical", "boundary", "audit", "build")

_TABLES = {
    "flex": 'items = 8\ncontrols = 2\nscoring = "reply"\nprompt = "chat"\n',
    "clinical": (
        'vignettes = 2\nattributes = ["gender"]\narms = ["original", "each"]\n'
        'answers = ["direct"]\nreplicates = 2\nembedder = "none"\n'
        'levels = { gender = ["male", "female"] }\n'
    ),
    "boundary": (
        'domains = ["economy"]\npolicy = "neighbour_share"\nqueries = 8\nquestions = 2\n'
        'vectors = "hashed"\nslant = "any"\nslant_by = "words"\n'
    ),
}


def says(shown: str) -> str:
    """The answer to what is shown."""
    if "Case:" in shown:
        return scripted_clinic.even(shown)
    if "(A)" in shown or "A)" in shown:
        seen = Seen("POST", "/", {}, {}, {"messages": [{"role": "user", "content": shown}]})
        body = by_hash(seen).body
        assert isinstance(body, dict)
        return str(body["choices"][0]["message"]["content"])
    return scripted_leanings.target(shown)


def shown_in(body: Mapping[str, object]) -> str:
    """All that a request shows."""
    messages = body["messages"]
    assert isinstance(messages, list)
    return "\n".join(one["content"] for one in messages)


def shown_by(call: Call) -> str:
    """All that a call of a ledger shows."""
    if call.prompt.text is not None:
        return call.prompt.text
    return "\n".join(one.content for one in call.prompt.messages)


def reply(seen: Seen) -> Answer:
    """The answer, as it goes over the wire."""
    return Answer(chat_body(says(shown_in(seen.body))), delay=DELAY)


def asked_for(server: FaultServer, start: int = 0) -> Counter[str]:
    """How often the server was shown what, since its `start`-th request."""
    return Counter(shown_in(one.body) for one in server.seen[start:])


def is_right(record: CallRecord) -> bool:
    """Whether a call holds what the server said to it, or nothing."""
    return record.reply is None or record.reply.text == says(shown_by(record.call))


@dataclass(frozen=True, slots=True)
class Work:
    """What is started again and again: a command, and the folder that it makes."""

    kind: str
    arguments: tuple[str, ...]
    out: Path

    @property
    def ledger(self) -> Path:
        """The ledger of the folder."""
        return self.out / "run.sqlite"

    def figures(self) -> dict[str, object]:
        """What the work has come to, without what tells of its course."""
        name = "build.json" if self.kind == "build" else "estimates.json"
        found = json.loads((self.out / name).read_text(encoding="utf-8"))
        return {key: value for key, value in found.items() if key not in ("calls", "askew")}


def work(kind: str, url: str, folder: Path, *, unknown: str = "retry") -> Work:
    """A command of one kind; its run file, where it takes one, is written into the folder."""
    out = folder / "out"
    common = ("--yes", "--unknown", unknown, "--concurrency", str(AT_ONCE), "--out", str(out))
    endpoint = ("--model", "openai/toy", "--base-url", url)
    if kind == "build":
        less = ("--items", "3", "--set", "build.controls=0", "--set", "models.target.max_tokens=8")
        return Work(kind, ("flex", "build", *endpoint, *less, *common), out)
    if kind == "audit":
        changes = [
            f"--set={audit}.{line}"
            for audit, table in _TABLES.items()
            for line in table.splitlines()
        ]
        return Work(kind, ("audit", *endpoint, "--preset", "quick", *changes, *common), out)
    file = folder / f"{kind}.toml"
    file.write_text(
        f'unknown = "{unknown}"\nout = {json.dumps(str(out))}\n\n'
        f'[models.target]\nname = "openai/toy"\nbase_url = "{url}"\nconcurrency = {AT_ONCE}\n\n'
        f"[{kind}]\n{_TABLES[kind]}",
        encoding="utf-8",
    )
    return Work(kind, ("run", str(file), "--yes"), out)
