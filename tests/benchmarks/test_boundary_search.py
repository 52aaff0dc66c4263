"""The small form of the bench of search policies: who is better than whom."""

from __future__ import annotations

import json
import sys

import pytest

from tests.benchmarks.test_reproduce import SCRIPT

pytest.importorskip("numba", reason="the boundary search is compiled with numba")


@pytest.mark.slow
def test_the_order_of_the_policies_holds_in_the_small_form(monkeypatch, capsys):
    monkeypatch.syspath_prepend(str(SCRIPT.parent))
    monkeypatch.delenv("ASKEW_DATA", raising=False)
    monkeypatch.setattr(sys, "argv", ["boundary_search.py", "--quick", "--json"])
    import boundary_search

    assert boundary_search.main() == 0
    said = json.loads(capsys.readouterr().out)
    assert set(said["rows"]) == {"simulated", "tests that err"}
    rates: dict[str, float] = {}
    for rows in said["rows"].values():
        for one in rows:
            rates[one["policy"]] = rates.get(one["policy"], 0) + one["cover_rate"]["100"]["value"]
        learned = next(one for one in rows if one["policy"] == "learned")
        assert set(learned["against"]) == {"uniform", "neighbour_share", "ens", "bound"}
    # Six games: only what is far apart can be told.
    for guided in ("learned", "neighbour_share", "ens", "ppr"):
        for blind in ("uniform", "random_walk", "bfs", "dfs"):
            assert rates[guided] > rates[blind], (guided, blind)
    assert rates["all labels"] > rates["bound"] > rates["learned"] > 1.5 * rates["uniform"]
