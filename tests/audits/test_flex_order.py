"""The order in which FLEX's calls are sent: common beginnings together, pairs not torn apart."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from askew.audits.flex import ENDPOINT_WINDOW, WINDOW, _by_shared_beginning
from askew.models.local import LocalModel
from askew.records import Call, Message, Prompt

TEXTS = st.lists(st.text("ab", max_size=4), max_size=30)


@given(TEXTS, st.integers(1, 9))
def test_every_call_is_sent_once_within_its_window_sorted_by_its_beginning(texts, window):
    calls = [Call(Prompt(text=text)) for text in texts]
    order = _by_shared_beginning(calls, window)
    assert sorted(order) == list(range(len(calls)))
    assert [place // window for place in order] == sorted(place // window for place in order)
    for start in range(0, len(order), window):
        sent = [texts[place] for place in order[start : start + window]]
        assert sent == sorted(sent)


def test_where_a_run_stops_only_the_pairs_of_one_window_are_incomplete():
    """Sources sort before attacked questions here: the worst case."""
    calls = [Call(Prompt(text=f"{kind}{item}")) for item in range(400) for kind in "AZ"]
    for window in (WINDOW, ENDPOINT_WINDOW):
        order = _by_shared_beginning(calls, window)
        for stop in range(0, len(order), 50):
            items = [place // 2 for place in order[:stop]]
            torn = sum(items.count(item) == 1 for item in set(items))
            assert torn <= window // 2


def test_messages_sort_by_all_that_stands_in_them():
    def call(system, user):
        return Call(Prompt(messages=(Message("system", system), Message("user", user))))

    calls = [call("b", "1"), call("a", "2"), call("b", "0"), call("a", "1")]
    assert _by_shared_beginning(calls, 4) == [3, 1, 2, 0]


def test_a_window_is_whole_batches_of_the_local_scorer():
    assert WINDOW % LocalModel.batch == 0
