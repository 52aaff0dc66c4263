"""What a worker and the owner of the ledger say to one another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from askew.models.budget import Cost, Limits
from askew.models.ledgerfile import State
from askew.models.ledgerowner import Reserved


class Kind(StrEnum):
    """What the owner has to say to a worker."""

    GRANTED = "granted"
    WAIT = "wait"  # nothing at present; ask again
    DONE = "done"  # nothing more will come
    REFUSED = "refused"  # the budget is spent
    FORGOTTEN = "forgotten"  # the owner has started anew and is not told of the work yet: ask again
    GONE = "gone"  # the worker was given up; what it holds is others' now
    FULL = "full"  # the disk is full: nothing was written


class Item(NamedTuple):
    """A call to be sent, as the one who lends the ledger names it."""

    id: int
    role: str
    bound: Cost  # the most that one attempt may cost
    attempts: int  # how often it was sent before this work began


class LeasedCall(NamedTuple):
    """A call that a worker may send."""

    id: int
    attempts: int  # how often it was sent so far
    request: str  # `callkey.request_json`
    bound: Cost


@dataclass(frozen=True, slots=True)
class Terms:
    """A piece of work: calls to send, and on what terms."""

    items: Sequence[Item]  # in order
    limits: Limits
    asks_unknown: bool  # whether a call in doubt is asked again
    max_deaths: int = 5  # workers that may die over a call before it counts as failed
    shard: int = 256


@dataclass(frozen=True, slots=True)
class Lease:
    """The answer to a worker that asks for calls."""

    kind: Kind
    calls: Sequence[LeasedCall] = ()
    message: str = ""


@dataclass(frozen=True, slots=True)
class Exchanged:
    """The answer to a worker that tells results and wants to send."""

    kind: Kind
    reserved: Reserved = field(default_factory=Reserved)
    under_way: bool = False  # whether an attempt may still give back some of the budget
    message: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """How far a piece of work has come."""

    known: bool  # False: the owner has started anew; `begin` it again
    done: bool = False  # nothing is left to send or to settle
    tally: Mapping[State, int] = field(default_factory=dict)
    spent: Mapping[str, Cost] = field(default_factory=dict)  # by role
    leased: int = 0
    full: str = ""  # why nothing can be written any more
