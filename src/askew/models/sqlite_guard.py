"""A SQLite file from somebody else: what is refused before the first row of it is read.

A database may hold code: views that compute without end, triggers that run when a row is written,
virtual tables. askew makes plain tables and indexes, so anything else was put there by others.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

from askew.errors import RunError, shortened

_LONGEST_VALUE = 1 << 28  # bytes of one cell; a reply of a model has some thousand
_FOREIGN = """
SELECT type, name FROM sqlite_master
WHERE type NOT IN ('table', 'index') OR sql LIKE 'CREATE VIRTUAL%'
LIMIT 1
"""
Given = ParamSpec("Given")
Made = TypeVar("Made")


def refuse_foreign(database: sqlite3.Connection, path: Path) -> None:
    """See that a file holds tables only, and that no cell fills the memory.

    Args:
        database: just opened.
        path: of its file.

    Raises:
        RunError: it holds a view, a trigger or a virtual table.
        sqlite3.DatabaseError: it is no database, or damaged.
    """
    database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST_VALUE)
    database.execute("PRAGMA trusted_schema = OFF")  # functions with effects stay out of indexes
    database.execute("PRAGMA cell_size_check = ON")
    found = database.execute(_FOREIGN).fetchone()
    if found is not None:
        kind, name = (shortened(str(part), 80) for part in found)
        raise RunError(
            f"{path} holds the {kind} {name!r} beside plain tables. askew makes none, and it could "
            "run as the file is read. Get the run folder again from where it was made."
        )


def decoded(what: str, make: Callable[Given, Made], *args: Given.args, **kw: Given.kwargs) -> Made:
    """What `make` makes of a row's values.

    Args:
        what: the row, for the message: "question 3".
        make: raises anything where the values are not what askew writes.
        args: of `make`.
        kw: of `make`.

    Raises:
        sqlite3.DatabaseError: they are not; whoever reads a file turns it into a `RunError`.
    """
    try:
        return make(*args, **kw)
    except Exception as trouble:  # a stranger's values; what they break is as various
        raise sqlite3.DatabaseError(
            f"{shortened(what, 100)} is not as askew writes it: {type(trouble).__name__}: "
            f"{shortened(str(trouble))}"
        ) from trouble
