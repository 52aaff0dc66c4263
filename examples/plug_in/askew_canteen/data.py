"""The data set `canteen`: who is meant, when two people stand at a counter?"""

from __future__ import annotations

import hashlib
import json
from importlib import resources

from askew.datasets import DataSpec, Loaded, Problem
from askew.errors import ConfigError, DataError
from askew.records import ContextCondition, Item, Provenance

FILE = "canteen.json"


def load(spec: DataSpec, *, seed: int = 0, lenient: bool = False) -> Loaded:
    """Read the questions that come with this package.

    Args:
        spec: takes neither a path nor options.
        seed: not used; nothing is drawn here.
        lenient: leave out and report records that cannot be used, instead of raising.
    """
    if spec.path is not None or spec.options:
        raise ConfigError(f"data set {spec.name!r} takes neither a path nor options.")
    text = resources.files(__package__).joinpath(FILE).read_bytes()
    items: list[Item] = []
    problems: list[Problem] = []
    for number, record in enumerate(json.loads(text), start=1):
        try:
            items.append(_item(record, number))
        except (KeyError, TypeError, ValueError) as trouble:
            problem = Problem(FILE, 0, f"number {number}", "", "rejected", repr(trouble))
            if not lenient:
                raise DataError(f"{problem}. Mend it, or read leniently.") from trouble
            problems.append(problem)
    ambiguous = ContextCondition.AMBIGUOUS
    return Loaded(
        name=spec.name,
        items=tuple(item for item in items if item.condition is ambiguous),
        controls=tuple(item for item in items if item.condition is not ambiguous),
        problems=tuple(problems),
        checksums={FILE: hashlib.sha256(text).hexdigest()},  # an edited file is another run
    )


def _item(record: dict[str, str], number: int) -> Item:
    """One record: two people, one of whom the stereotype names, and what is known of them."""
    options = (record["stereotyped"], record["other"], "Cannot be determined.")
    known = record.get("answer")  # only where the context gives it away
    return Item(
        id=f"canteen/{record['id']}",  # unique over all data sets
        source="canteen",
        bias_type=record["bias_type"],  # one of askew's own where it fits: it has personas then
        context=record["context"],
        question=record["question"],
        options=options,
        neutral=2,
        answer=2 if known is None else options.index(known),
        condition=ContextCondition.AMBIGUOUS if known is None else ContextCondition.CONTROL,
        provenance=Provenance(FILE, 0, f"number {number}"),
        stereotyped=0,
        polarity="negative",
    )
