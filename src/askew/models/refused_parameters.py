"""Parameters that a server refuses: how to ask it instead, learnt from its own words. Pure.

Newer models want `max_completion_tokens` for `max_tokens`, know one temperature only, or have a
chat template without a system turn. What is learnt holds for all later calls, and each reply says
how its call was changed, as a run without temperature 0 is no longer repeatable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from askew.models.conversation import as_dicts
from askew.models.server_errors import ServerError
from askew.records import Call, Message

OMITTABLE = ("temperature", "top_p", "seed", "stop")
MOST_ALTERNATIVES = 20  # OpenAI's maximum for top_logprobs; vLLM's default as well

_REFUSED = re.compile(
    r"unsupported|not (yet )?(support|permit|allow|available|enabled)|only the default"
    r"|unrecognized|unrecognised|unknown|unexpected|extra (inputs|fields)|deprecated"
    r"|cannot be (used|specified|set)|(does not|doesn't|don't) (support|allow|accept)",
    re.IGNORECASE,
)
_REFUSED_CODES = frozenset({"unsupported_parameter", "unsupported_value", "unknown_parameter"})
_SYSTEM_ROLE = re.compile(
    r"(system|developer)\W+(role|message|instruction|prompt)|\brole\W+(system|developer)"
    r"|does not support '(system|developer)'",
    re.IGNORECASE,
)
_ALTERNATION = re.compile(r"roles? must alternate", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])\d{1,3}(?![\w.]*\d)")


@dataclass(frozen=True, slots=True)
class Manner:
    """How a server wants to be asked."""

    omitted: frozenset[str] = frozenset()
    renamed_max_tokens: bool = False
    alternatives: int = MOST_ALTERNATIVES  # top_logprobs
    folded_system: bool = False

    def merged(self, other: Manner) -> Manner:
        """What either has learnt; calls that are under way together learn apart."""
        return Manner(
            omitted=self.omitted | other.omitted,
            renamed_max_tokens=self.renamed_max_tokens or other.renamed_max_tokens,
            alternatives=min(self.alternatives, other.alternatives),
            folded_system=self.folded_system or other.folded_system,
        )

    def parameters(self, call: Call, max_tokens: int) -> dict[str, object]:
        """The sampling parameters of a request."""
        sampling = call.sampling
        wanted = {
            "max_completion_tokens" if self.renamed_max_tokens else "max_tokens": max_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
            "seed": sampling.seed,
            "stop": list(sampling.stop) or None,
        }
        return {
            name: value
            for name, value in wanted.items()
            if value is not None and name not in self.omitted
        }

    def messages(self, messages: Sequence[Message]) -> list[dict[str, str]]:
        """The messages of a request; system text goes before the first user text if it has to."""
        if not self.folded_system:
            return as_dicts(messages)
        system = [message.content for message in messages if message.role == "system"]
        rest = [message for message in messages if message.role != "system"]
        if not rest or rest[0].role != "user":
            rest.insert(0, Message("user", ""))
        first = "\n\n".join(filter(None, [*system, rest[0].content]))
        return as_dicts([Message("user", first), *rest[1:]])

    def notes(self, call: Call) -> tuple[str, ...]:
        """How a request for `call` differs from what was asked for."""
        changed = {
            "temperature": call.sampling.temperature is not None,
            "top_p": call.sampling.top_p is not None,
            "seed": call.sampling.seed is not None,
            "stop": bool(call.sampling.stop),
        }
        notes = [
            f"{name} left out: the server refused it"
            for name in OMITTABLE
            if name in self.omitted and changed[name]
        ]
        if self.renamed_max_tokens:
            notes.append("max_tokens sent as max_completion_tokens")
        if self.folded_system and any(message.role == "system" for message in call.prompt.messages):
            notes.append("system text put before the first user text: the server refused the role")
        if call.prompt.choices and self.alternatives < MOST_ALTERNATIVES:
            notes.append(f"{self.alternatives} alternatives a token: the server gives no more")
        return tuple(notes)

    def learn(self, error: ServerError, sent: Mapping[str, object]) -> Manner | None:
        """How to ask after the server has refused a request with `error`.

        Args:
            error: of a reply with status 400, 403, 404 or 422, or an error within one of 200.
            sent: the request's body.

        Returns:
            None where the refusal is not understood, or has been heeded already.
        """
        if not self.folded_system and _has_system(sent) and _refuses_system(error):
            return replace(self, folded_system=True)
        name = refused_parameter(error, sent)
        if name == "max_tokens":
            # "max_tokens is too large" is no refusal of the name.
            renames = "max_completion_tokens" in error.message or error.codes & _REFUSED_CODES
            return replace(self, renamed_max_tokens=True) if renames else None
        if name == "top_logprobs" and self.alternatives == MOST_ALTERNATIVES:
            return replace(self, alternatives=_smaller_number(error.message, self.alternatives))
        if name is not None and name in OMITTABLE and _is_refusal(error):
            return replace(self, omitted=self.omitted | {name})
        return None


def refused_parameter(error: ServerError, sent: Mapping[str, object]) -> str | None:
    """The field of the request that `error` is about: as the server says, or as its words name.

    >>> refused_parameter(ServerError(400, "Unknown field 'seed'"), {"model": "m", "seed": 1})
    'seed'
    """
    if error.parameter is not None and error.parameter in sent:
        return error.parameter
    named = [
        (place.start(), name)
        for name in (*OMITTABLE, "max_tokens", "top_logprobs", "logprobs", "echo")
        if name in sent and (place := re.search(rf"(?<!\w){name}(?!\w)", error.message))
    ]
    return min(named)[1] if named else None


def refuses_log_probabilities(error: ServerError, sent: Mapping[str, object]) -> bool:
    """Whether the request failed because the server gives no log-probabilities, or no echo."""
    return refused_parameter(error, sent) in ("logprobs", "top_logprobs", "echo")


def _is_refusal(error: ServerError) -> bool:
    return bool(error.codes & _REFUSED_CODES or _REFUSED.search(error.message))


def _refuses_system(error: ServerError) -> bool:
    """Whether it is the system turn that the chat template cannot take."""
    if _ALTERNATION.search(error.message):  # older templates count it as one turn too many
        return True
    return bool(_SYSTEM_ROLE.search(error.message)) and _is_refusal(error)


def _has_system(sent: Mapping[str, object]) -> bool:
    messages = sent.get("messages")
    return isinstance(messages, list) and any(entry["role"] == "system" for entry in messages)


def _smaller_number(message: str, asked: int) -> int:
    """The maximum that the server names; 5, which all are known to give, where it names none."""
    numbers = [int(found) for found in _NUMBER.findall(message)]
    return max((number for number in numbers if 0 < number < asked), default=5)
