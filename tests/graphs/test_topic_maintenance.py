"""Categories that keep an encyclopedia in order are known by name and by what they stand under."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from askew.graphs.starter_topics import starter_graph
from askew.graphs.topic_maintenance import RULES, is_maintenance, maintenance_nodes
from tests.graphs.topic_graphs import graph_of, graphs

LAW = settings(deadline=None, max_examples=60)  # other work may share the cores

BY_RULE = {
    "namespace": ["Template:Infobox", "Wikipedia talk:Policy"],
    "wikipedia": ["Wikipedia_maintenance", "All Wikipedia articles written in British English"],
    "wikipedians": ["Wikipedians by interest", "User en-3", "Userboxes"],
    "wikiproject": ["WikiProject Politics", "Members of WikiProject Trains"],
    "articles": ["Articles_with_short_description", "All stub articles", "Good articles"],
    "pages": ["Pages using infobox without image", "All pages needing cleanup"],
    "cs1": ["CS1_errors:_dates", "CS1"],
    "use_dates": ["Use_dmy_dates_from_May_2012", "Use British English"],
    "monthly": ["NPOV disputes from March 2021"],
    "assessment": ["FA-Class Politics articles", "Law articles by quality"],
    "tracking": ["Tracking categories", "Hidden categories"],
    "container": ["Container_categories"],
    "stub": ["Politics stubs", "Stub categories"],
    "redirect": ["Redirects from moves", "Category redirects", "Unprintworthy redirects"],
    "disambiguation": ["Disambiguation pages", "Set index articles"],
    "template": ["Templates by topic", "Navigational templates"],
    "categories": ["Categories by country", "Empty categories"],
    "wikidata": ["Coordinates on Wikidata", "Short description matches Wikidata"],
    "commons": ["Commons category link is locally defined"],
    "portal": ["Politics portal", "Portals by topic"],
}
TOPICS = [
    "Wikipedia",
    "Articles of Confederation",
    "Articles of faith",
    "Use of force",
    "Working-class culture",
    "Upper-class women",
    "URL redirection",
    "Category theory",
    "Categories (Aristotle)",
    "Tracking devices",
    "Container ports",
    "Web portals",
    "Ticket stub collecting",
    "Emigrants from Norway",
    "Templars",
    "Users of drugs",
    "Pages (servants)",
    "Creative Commons",
    "",
]


@pytest.mark.parametrize("rule", RULES)
def test_each_rule_finds_its_own(rule):
    for title in BY_RULE[rule]:
        assert is_maintenance(title) == rule, title
        assert is_maintenance(title.replace(" ", "_")) == rule


@pytest.mark.parametrize("title", TOPICS)
def test_a_topic_with_a_like_name_is_kept(title):
    assert is_maintenance(title) is None


def test_no_topic_of_the_starter_graph_is_maintenance():
    assert not maintenance_nodes(starter_graph()).nodes.any()


@LAW
@given(st.text(max_size=20))
def test_any_title_has_a_rule_or_none(title):
    assert is_maintenance(title) in (None, *RULES)


def found(graph, **options):
    nodes = maintenance_nodes(graph, **options)
    assert sum(nodes.counts.values()) == nodes.nodes.sum()
    return {graph.title(node) for node in nodes.nodes.nonzero()[0]}, dict(nodes.counts)


def test_what_stands_under_maintenance_alone_goes_with_it():
    graph = graph_of(
        "Tracking categories > Topics",
        "Dead links > Tracking categories",
        "Very dead links > Dead links",
        "Economy > Topics",
        "Economy > Wikipedia vital topics",
        "Trade > Economy",
    )
    titles, counts = found(graph)
    assert titles == {
        "Tracking categories",
        "Dead links",
        "Very dead links",
        "Wikipedia vital topics",
    }
    assert counts == {
        "tracking": 1,
        "wikipedia": 1,
        "member_of_tracking": 1,
        "under_maintenance": 1,
    }


def test_a_soft_redirect_goes_though_it_stands_under_topics_too():
    graph = graph_of(
        "Labor > Economy",
        "Labor > Wikipedia soft redirected categories",
        "Labour > Economy",
    )
    assert found(graph)[0] == {"Labor", "Wikipedia soft redirected categories"}


def test_members_of_container_categories_are_kept_unless_asked():
    graph = graph_of(
        "Politics by country > Container categories",
        "Politics by country > Politics",
        "Politics of Peru > Politics by country",
    )
    assert found(graph)[0] == {"Container categories"}
    assert found(graph, drop_containers=True)[0] == {"Container categories", "Politics by country"}


def test_a_cycle_of_topics_is_not_taken_for_maintenance():
    assert found(graph_of("a > b", "b > a", "a > Wikipedia x"))[0] == {"Wikipedia x"}


@LAW
@given(graphs())
def test_finding_maintenance_ends_on_any_graph(graph):
    assert len(maintenance_nodes(graph).nodes) == graph.size
