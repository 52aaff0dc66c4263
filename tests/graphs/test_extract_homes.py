"""Whose place it is, and whether it is a home or an origin."""

from __future__ import annotations

import pytest

from askew.graphs import extract
from askew.vignettes import Relation


def homes(text: str) -> list[tuple[str, str]]:
    found = extract(text).of(Relation.LIVES_IN, Relation.BORN_IN)
    return [(one.relation.value, str(one.value)) for one in found]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "A 29-year-old woman from Lisbon, who lives in Porto, has fever.",
            [("born_in", "Lisbon"), ("lives_in", "Porto")],
        ),
        (
            "A 30-year-old farmer from Kisumu, living in Nairobi since 2019, has a cough.",
            [("born_in", "Kisumu"), ("lives_in", "Nairobi")],
        ),
        ("A 51-year-old man from Accra has chest pain.", [("lives_in", "Accra")]),
        ("He is from Accra. He lives in London.", [("born_in", "Accra"), ("lives_in", "London")]),
    ],
)
def test_who_is_from_one_place_and_lives_in_another_was_not_at_home_there(text, expected):
    assert homes(text) == expected


@pytest.mark.parametrize("other", ["a friend", "her cousins", "a flatmate", "a neighbour"])
def test_where_somebody_else_comes_from_is_no_place_of_the_patient(other):
    assert homes(f"She lives in Leeds with {other} from Oslo.") == [("lives_in", "Leeds")]
