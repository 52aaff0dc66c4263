"""GMRL-BD's settings: the paper's where it gives one, and Table 2 as changes to them."""

from __future__ import annotations

import pytest

from askew.errors import ConfigError
from askew.search.gmrl_settings import (
    ATTENTION,
    MEAN,
    NO_NEIGHBOURS,
    VARIANTS,
    GmrlSettings,
    changed,
    literal_settings,
    settings_from,
    variant_settings,
)


def test_the_papers_numbers_are_the_defaults() -> None:
    settings = GmrlSettings()
    assert (settings.episodes, settings.tries, settings.max_steps) == (600, 200, 2_000)
    assert settings.discount == 0.97
    assert (settings.epsilon_start, settings.epsilon_decay) == (1.0, 0.994)


def test_epsilon_falls_by_its_rate_down_to_its_floor() -> None:
    settings = GmrlSettings()
    assert settings.epsilon(0) == 1.0
    assert settings.epsilon(100) == pytest.approx(0.994**100)
    assert settings.epsilon(267) > 0.2 == settings.epsilon(268) == settings.epsilon(599)


def test_table_2_has_its_eight_rows() -> None:
    assert len(VARIANTS) == 8
    assert {name: variant_settings(name).aggregate for name in list(VARIANTS)[:4]} == {
        "full": ATTENTION,
        "without_sage": ATTENTION,
        "without_attention": MEAN,
        "without_both": NO_NEIGHBOURS,
    }
    assert variant_settings("graph_attention_q").q_attends
    assert not variant_settings("uniform_actions").trained
    penalty = variant_settings("without_explored_penalty")
    assert penalty.reward_test == penalty.overlap_penalty == 0


def test_the_literal_form_leaks_ends_at_a_hit_and_restarts() -> None:
    settings = literal_settings()
    assert (settings.regime, settings.try_queries, settings.restarts) == ("leaky", None, True)


def test_settings_come_back_from_their_plain_form() -> None:
    settings = variant_settings("without_sage", agents=3, try_queries=None)
    assert settings_from(settings.plain()) == settings


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("episodes", 0),
        ("tries", 1.5),
        ("agents", True),
        ("discount", 1.1),
        ("discount", float("nan")),
        ("epsilon_floor", -0.1),
        ("learning_rate", "fast"),
        ("discount", True),
        ("try_queries", 1),
        ("try_queries", "100"),
        ("sage", "false"),
        ("restarts", 1),
        ("variant", "without_sge"),
        ("regime", "open"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_by_its_name(name: str, value: object) -> None:
    with pytest.raises(ConfigError, match=name):
        changed(GmrlSettings(), **{name: value})


def test_unknown_names_are_answered_with_the_known_ones() -> None:
    with pytest.raises(ConfigError, match=r"Known: .*tries"):
        variant_settings(attempts=3)
    with pytest.raises(ConfigError, match=r"Known: .*without_sage"):
        variant_settings("without_sge")
