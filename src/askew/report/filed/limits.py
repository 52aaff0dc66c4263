"""What figures cannot say, what askew is not, how it measures: from `limits.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any

from askew.report.filed.records import Limit
from askew.report.which_audit import Audit

ANY = "any"


@cache
def _data() -> dict[str, Any]:
    text = files("askew.report.filed").joinpath("limits.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def limits(*audits: str) -> list[Limit]:
    """The limits of audits, and those of every run; of all where none is named."""
    wanted = {*audits, ANY} if audits else None
    return [
        Limit(one["id"], one["audit"], one["from"], one["says"])
        for one in _data()["limit"]
        if wanted is None or one["audit"] in wanted
    ]


def limit_ids(audit: Audit) -> list[str]:
    """The ids of what every figure of an audit is limited by."""
    return [one.id for one in limits(audit)]


def not_this() -> list[str]:
    """What askew is not, in sentences."""
    return [str(one["says"]) for one in _data()["not"]]


def methods(audit: Audit) -> list[str]:
    """How an audit measures, in short, each with its source behind it."""
    return [
        f"{one['says']} ({one['source']})" for one in _data()["method"] if one["audit"] == audit
    ]
