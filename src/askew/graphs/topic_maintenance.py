"""Which categories are maintenance and no topics: by name, and by what they stand under.

Wikipedia marks many of them as hidden (`page_props`), though not all. The rules are those of the
English Wikipedia; another language's names match none of them, and only its hidden mark helps.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from askew.graphs.topics import TopicGraph

# Rule -> texts of which a title must hold one (a quick look, as regexes are slow on millions of
# titles), and the pattern that then decides. The first rule that matches gives its name. Titles
# have spaces for underscores here.
_RULES: dict[str, tuple[tuple[str, ...], str]] = {
    "namespace": (
        (":",),
        r"^(Wikipedia|Template|User|Portal|File|Draft|Module|MediaWiki|Help)( talk)?:",
    ),
    "wikipedia": (("Wikipedia ",), r"^(All )?Wikipedia ."),
    "wikipedians": (
        ("Wikipedians", "User"),
        r"^Wikipedians\b|^User [a-z]{2,3}(-[0-5N])?$|^Userbox",
    ),
    "wikiproject": (("WikiProject",), r"\bWikiProject\b"),
    # "Articles of Confederation" and "Articles of faith" are topics.
    "articles": (
        ("rticles",),
        r"^Articles (?!of )|^All .*\barticles\b|^(Good|Featured|Former featured) articles\b",
    ),
    "pages": (
        ("ages ",),
        r"^(All )?[Pp]ages (using|with|without|containing|where|that|needing|missing|including|"
        r"incorrectly|calling|transcluding|not|actively|linking|automatically|displaying|tagged|"
        r"citing|to)\b|^Noindexed pages",
    ),
    "cs1": (("CS1",), r"^CS1\b"),
    "use_dates": (("Use ",), r"^Use (?!of ).*\b(dates|English|spelling)\b"),
    "monthly": (
        (" from ",),
        r" from (January|February|March|April|May|June|July|August|September|October|November|"
        r"December) \d{4}$",
    ),
    "assessment": (
        ("-Class ", "-importance ", "-priority ", "s by ", "Unassessed"),
        r"^(FA|FL|FM|A|GA|B|C|Start|Stub|List|NA|Template|Category|Disambig|File|Portal|Redirect|"
        r"Project|Book|Draft|Future|Current|Top|High|Mid|Low|Bottom|Unknown|Unassessed)-"
        r"(Class|importance|priority) |\b(articles|pages) by (quality|importance|priority)\b|"
        r"^Unassessed .* articles$",
    ),
    "tracking": (
        ("racking categor", "Hidden categor"),
        r"\b[Tt]racking categor(y|ies)\b|^Hidden categories\b",
    ),
    "container": (("ontainer categor",), r"\b[Cc]ontainer categor(y|ies)\b"),
    "stub": (
        ("stub", "Stub"),
        r"( |-)stubs$|^Stubs\b|\b[Ss]tub categor(y|ies)\b|\b[Ss]tub message templates\b",
    ),
    "redirect": (
        ("edirect",),
        r"\b[Rr]edirects\b|\b[Rr]edirected categor(y|ies)\b|\b[Cc]ategory redirects?\b|"
        r"\b[Rr]edirect categor(y|ies)\b",
    ),
    "disambiguation": (
        ("isambiguation", "Set index"),
        r"\b[Dd]isambiguation (pages|categories)\b|^Set index articles\b",
    ),
    "template": (
        ("emplate",),
        r"^Templates?( |$)| templates$|\b[Ii]nfobox templates\b|^Webarchive template",
    ),
    # "Categories (Aristotle)" is a topic, as is "Category theory".
    "categories": (
        ("Categor", "categor"),
        r"^Categories (?!\()|^Empty categories\b|"
        r"^Category (needing|needs|requiring|with|maintenance)\b",
    ),
    "wikidata": (
        (" Wikidata", "Short description"),
        r" (on|from|to|as|than|in|with) Wikidata$|^Short description\b",
    ),
    "commons": (("Commons",), r"^Commons (category|categories|link|archive)\b"),
    "portal": (("ortal",), r" portal$|^Portals\b"),
}
_PATTERNS = [(name, re.compile(rule)) for name, (_, rule) in _RULES.items()]
_NEEDLE = re.compile("|".join(re.escape(one) for needles, _ in _RULES.values() for one in needles))
RULES: tuple[str, ...] = tuple(_RULES)
_HELD = "under_maintenance"  # every parent is maintenance
_MEMBER = "member_of_"  # stands directly under one of these, whatever else it stands under
_MEMBERS_GO = {
    "Wikipedia soft redirected categories": "redirect",
    "Redirect categories": "redirect",
    "Tracking categories": "tracking",
    "Hidden categories": "hidden",
    "Stub categories": "stub",
    "Template categories": "template",
}
_CONTAINERS = "Container categories"


def is_maintenance(title: str) -> str | None:
    """The rule by which a category's title marks it as maintenance; None for a topic.

    Args:
        title: without "Category:"; with spaces or underscores.

    >>> is_maintenance("CS1_errors:_dates"), is_maintenance("Articles of Confederation")
    ('cs1', None)
    """
    spaced = title.replace("_", " ").strip()
    if not _NEEDLE.search(spaced):
        return None
    for name, pattern in _PATTERNS:
        if pattern.search(spaced):
            return name
    return None


@dataclass(frozen=True, slots=True)
class Maintenance:
    """Which nodes of a graph are maintenance, and how many each rule found."""

    nodes: NDArray[np.bool_]  # shape (nodes,)
    counts: Mapping[str, int]  # rule -> nodes; each node under the first rule that found it


def maintenance_nodes(graph: TopicGraph, *, drop_containers: bool = False) -> Maintenance:
    """The maintenance categories of a graph, by name and then by what they stand under.

    A category directly under "Tracking categories" and its like is one, and so is every category
    that has parents and all of whose parents are maintenance. One maintenance parent among others
    proves nothing: a topic is often filed under a list of things to mend.

    Args:
        graph: with its maintenance categories still in it, else their members cannot be known.
        drop_containers: drop what stands directly under "Container categories" too. Such
            categories ("Politics by country") have no articles but hold the graph together.
    """
    found = np.zeros(graph.size, bool)
    counts: Counter[str] = Counter()
    fresh: list[int] = []
    by_members: list[tuple[int, str]] = []
    containers: list[int] = []
    for node, title in enumerate(graph.titles()):
        if rule := is_maintenance(title):
            found[node] = True
            counts[rule] += 1
            fresh.append(node)
        spaced = title.replace("_", " ")
        if spaced in _MEMBERS_GO:
            by_members.append((node, _MEMBERS_GO[spaced]))
        elif spaced == _CONTAINERS and drop_containers:
            containers.append(node)
    for node, rule in by_members:
        for child in graph.children(node):
            if not found[child]:
                found[child] = True
                counts[_MEMBER + rule] += 1
                fresh.append(int(child))
    while fresh:
        for child in graph.children(fresh.pop()):
            if not found[child] and found[graph.parents(int(child))].all():
                found[child] = True
                counts[_HELD] += 1
                fresh.append(int(child))
    for node in containers:  # last, as what stands under them are topics
        for child in graph.children(node):
            if not found[child]:
                found[child] = True
                counts[_MEMBER + "container"] += 1
    return Maintenance(found, dict(counts))
