"""What all tests of faults share: processes that start at once, and a run that was left alone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.killed import left_alone
from tests.faults.scripted import reply, work
from tests.faults.starting import Starter
from tests.models.servers import FaultServer


@pytest.fixture(scope="session")
def starter() -> Iterator[Starter]:
    with Starter() as made:
        yield made


@pytest.fixture(scope="session")
def server() -> Iterator[FaultServer]:
    with FaultServer(reply) as made:
        yield made


@pytest.fixture(scope="session")
def alone(tmp_path_factory, starter, server) -> tuple[dict[str, Any], int]:
    """What a FLEX run comes to that nobody disturbs: its figures, and how many requests."""
    place: Path = tmp_path_factory.mktemp("alone")
    return left_alone(work("flex", server.url, place), starter, server)
