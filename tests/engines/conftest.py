"""Tiny local models, as the tests of the models make them."""

from __future__ import annotations

from tests.models.conftest import make_network, make_tokenizer, tiny_folder, torch

__all__ = ["make_network", "make_tokenizer", "tiny_folder", "torch"]
