"""The Model protocol: a batch of calls in, as many replies out, in order; and what can go wrong.

A provider answers the calls that it is handed, once. Trying again, waiting, budgets and the
record of what was asked belong to `ledger` and `runner`, so that every provider gets them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Flag, auto
from typing import Protocol, runtime_checkable

from askew.errors import ModelError
from askew.records import Call, Reply


class Ability(Flag):
    """What a provider can do."""

    REPLY = auto()  # generate an answer
    CHOICE_LOG_PROBABILITIES = auto()  # score given continuations of a prompt


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSpec:
    """A model as the user names it, with the settings that its provider reads.

    `options` holds what only one provider knows, e.g. the field mapping of an `http/` application.
    """

    name: str  # "provider/model"
    base_url: str | None = field(default=None, repr=False)  # may hold a password
    api_key_env: str | None = None  # the name of an environment variable, never the key itself
    api_key_keyring: str | None = None  # "service/user" of the system's keyring
    revision: str | None = None
    dtype: str | None = None
    adapter: str | None = None  # a LoRA folder
    timeout_seconds: float = 120.0
    options: Mapping[str, object] = field(default_factory=dict)

    @property
    def provider(self) -> str:
        """The part of the name before the first slash."""
        return self.name.partition("/")[0]

    @property
    def model(self) -> str:
        """The part of the name after the first slash."""
        return self.name.partition("/")[2]


@runtime_checkable
class Model(Protocol):
    """Whatever can be asked.

    Attributes:
        name: "provider/model", as the user wrote it.
        abilities: what `ask` may be called with.
        batch: how many calls one `ask` takes at most; an endpoint takes 1.
        parallel: how many `ask` may be under way at once at the start; 1 for weights in this
            process.
        remote: whether the text of a call leaves this machine.
        paid: whether asking twice can cost twice. Unknown calls of an unpaid model are simply
            asked again.
    """

    name: str
    abilities: Ability
    batch: int
    parallel: int
    remote: bool
    paid: bool

    def identity(self) -> Mapping[str, object]:
        """Everything besides the call that can change the answer, as JSON values.

        Provider, model, revision, weights checksum and dtype, base URL without userinfo and
        query, the chat template's hash. Never a secret.
        """
        ...

    def tokens(self, call: Call) -> int:
        """An upper bound on the prompt's tokens, for reserving a budget before sending."""
        ...

    async def ask(self, calls: Sequence[Call]) -> Sequence[Reply]:
        """Answer `calls`, in order.

        Raises:
            RateLimited, ServerFault: the same calls may be sent again later.
            Fatal: no call will get through; the run has to stop.
        """
        ...

    async def close(self) -> None:
        """Give back connections and memory."""
        ...


class RateLimited(ModelError):
    """The server asks to slow down; `wait_seconds` is its own word, None if it gave none."""

    def __init__(self, message: str, wait_seconds: float | None = None) -> None:
        super().__init__(message)
        self.wait_seconds = wait_seconds


class ServerFault(ModelError):
    """The server failed in a way that may pass: 5xx, a cut body, a dropped connection, a timeout.

    `sent` says whether the request may have reached the server. `answered` says that the server
    itself said that it failed (a 5xx, an error in the body), so that the outcome is known; a
    request that was sent and not answered may have been billed, and its outcome is unknown.
    `billed` says that it may have been billed although it is known that there is no answer: a 200
    that holds none. `wait_seconds` is the server's own word on when to come back, None if it gave
    none.
    """

    def __init__(
        self,
        message: str,
        *,
        sent: bool = True,
        answered: bool = False,
        billed: bool = False,
        wait_seconds: float | None = None,
    ) -> None:
        super().__init__(message)
        self.sent = sent
        self.answered = answered
        self.billed = billed
        self.wait_seconds = wait_seconds


class Fatal(ModelError):
    """Nothing will get through until the user mends something: key, address, quota, model name."""
