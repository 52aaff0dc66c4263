"""A trained GMRL-BD's weights as the compiled walks take them; torch is not needed to play."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from askew.search.gmrl_rows import Tables, Towers


def project(weights: dict[str, NDArray[np.float32]], h0: NDArray[np.float32]) -> Tables:
    """`GmrlNetwork.project` in numpy, from the weights of `GmrlNetwork.arrays`."""
    other = h0 @ weights["neighbour"]
    return Tables(
        other=np.ascontiguousarray(other, np.float32),
        own=np.ascontiguousarray(h0 @ weights["own"] + weights["bias"], np.float32),
        attends=np.ascontiguousarray((other @ weights["attends"])[:, 0], np.float32),
        attended=np.ascontiguousarray((other @ weights["attended"])[:, 0], np.float32),
    )


def towers(weights: dict[str, NDArray[np.float32]]) -> Towers:
    """The two towers of Q as the compiled walks take them."""
    return Towers(*(np.ascontiguousarray(weights[name], np.float32) for name in Towers._fields))
