from __future__ import annotations

import os
from pathlib import Path

import pytest


def _folder(variable: str, what: str) -> Path:
    folder = os.environ.get(variable)
    if not folder:
        pytest.skip(f"{variable} is not set: {what}")
    return Path(folder)


@pytest.fixture(scope="session")
def data_folder() -> Path:
    return _folder("ASKEW_DATA", "a folder with bbq/, crows_pairs/, stereoset/ and flex/")


@pytest.fixture(scope="session")
def cases_folder() -> Path:
    return _folder("ASKEW_CASES", "a folder with inputs/*_messy* files and their gold")
