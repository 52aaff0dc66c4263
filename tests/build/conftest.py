"""The packaged model, where a build is tried on a real one."""

from tests.models.conftest import builtin_model, torch

__all__ = ["builtin_model", "torch"]
