"""AgentLinkHub by hand-made queues, and the penalty of Eq. 6 by hand."""

from __future__ import annotations

import numpy as np

from askew.search.gmrl_hub import AgentLinkHub, Offer, penalised


def offer(agent: int, value: float, *, taken: bool = False, efficiency: float = 0.0) -> Offer:
    return Offer(agent, move=100 + agent, value=value, taken=taken, efficiency=efficiency)


def chosen(hub: AgentLinkHub, *offers: Offer) -> int | None:
    found = hub.choose(offers)
    return None if found is None else found.agent


def test_eq_6_takes_the_penalty_off_what_others_have_tested() -> None:
    values = np.float32([0.9, 0.8, -0.1])
    tested = np.array([True, False, True])
    np.testing.assert_allclose(penalised(values, tested, 0.25), [0.65, 0.8, -0.35], rtol=1e-6)
    np.testing.assert_array_equal(penalised(values, tested, 0.0), values)


def test_the_agent_with_the_largest_value_moves() -> None:
    assert chosen(AgentLinkHub(5), offer(0, 0.1), offer(1, 0.7), offer(2, 0.4)) == 1


def test_equal_values_go_to_the_lower_number() -> None:
    assert chosen(AgentLinkHub(5), offer(2, 0.5), offer(1, 0.5)) == 1


def test_after_its_turns_an_agent_hands_over_to_the_most_efficient_other() -> None:
    hub = AgentLinkHub(2)
    offers = (
        offer(0, 0.9, efficiency=0.9),
        offer(1, 0.5, efficiency=0.1),
        offer(2, 0.1, efficiency=0.3),
    )
    assert [chosen(hub, *offers) for _ in range(6)] == [0, 0, 2, 0, 0, 2]


def test_a_taken_move_hands_over_by_efficiency_until_one_is_free() -> None:
    hub = AgentLinkHub(5)
    offers = (
        offer(0, 0.9, taken=True),
        offer(1, 0.2, efficiency=0.1),
        offer(2, 0.3, taken=True, efficiency=0.8),
        offer(3, 0.1, efficiency=0.4),
    )
    assert chosen(hub, *offers) == 3


def test_no_move_is_left_where_all_are_taken() -> None:
    assert chosen(AgentLinkHub(5), offer(0, 0.9, taken=True), offer(1, 0.2, taken=True)) is None
    assert chosen(AgentLinkHub(5)) is None


def test_one_that_has_moved_often_goes_on_where_no_other_can() -> None:
    hub = AgentLinkHub(1)
    offers = offer(0, 0.9), offer(1, 0.5, taken=True)
    assert [chosen(hub, *offers) for _ in range(3)] == [0, 0, 0]


def test_a_single_agent_always_moves() -> None:
    hub = AgentLinkHub(2)
    assert [chosen(hub, offer(0, 0.1)) for _ in range(5)] == [0] * 5
