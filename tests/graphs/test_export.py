"""Facts as a graph: nodes, edges, node-link JSON and GraphML."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.graphs.export import graph_of, graphml, node_link, value_text
from askew.vignettes import Facts, Relation, Span, Status, Triplet

NAMESPACE = {"g": "http://graphml.graphdrawing.org/xmlns"}


def fact(relation: Relation, value: str | int, status: Status = Status.PRESENT, **more: object):
    return Triplet(relation, value, status, Span(0, 4), "said", "list", 0.9, **more)


FACTS = Facts(
    "said of somebody",
    (
        fact(Relation.HAS_AGE, 40, unit="year", qualifier="exact"),
        fact(Relation.HAS_SYMPTOM, "Fever", Status.ABSENT),
        fact(Relation.HAS_CONDITION, "asthma"),
        fact(Relation.FAMILY_HISTORY, "asthma", relative="mother"),
    ),
)


def test_a_value_that_two_patients_have_in_common_is_one_node():
    other = Facts("", (fact(Relation.HAS_SYMPTOM, "fever"),))
    graph = graph_of([("a", FACTS), ("b", other)])
    kinds = Counter(node.kind for node in graph.nodes)
    assert kinds == {"patient": 2, "age": 1, "symptom": 1, "condition": 1}
    assert len(graph.edges) == 5
    assert {edge.source for edge in graph.edges if edge.target == "symptom:fever"} == {
        "patient:a",
        "patient:b",
    }


def test_an_edge_tells_status_place_rule_and_whose_fact_it_is():
    edges = graph_of([("a", FACTS)]).edges
    assert edges[1].attributes == {
        "status": "absent",
        "experiencer": "patient",
        "start": 0,
        "end": 4,
        "evidence": "said",
        "rule": "list",
        "score": 0.9,
    }
    assert edges[3].attributes["experiencer"] == "mother"


def test_two_texts_of_one_id_would_be_one_patient():
    with pytest.raises(ValueError, match="'a'"):
        graph_of([("a", FACTS), ("a", FACTS)])


@pytest.mark.parametrize(
    ("triplet", "words"),
    [
        (fact(Relation.HAS_AGE, 1, unit="day"), "1 day"),
        (fact(Relation.HAS_AGE, 6, unit="month"), "6 months"),
        (
            fact(Relation.HAS_AGE, 80, unit="year", qualifier="decade", years=(80, 89)),
            "80-89 years",
        ),
        (fact(Relation.LIVES_IN, "Lisbon"), "Lisbon"),
    ],
)
def test_a_value_in_words(triplet, words):
    assert value_text(triplet) == words


def test_node_link_json_is_read_back_by_networkx():
    networkx = pytest.importorskip("networkx")
    document = json.loads(json.dumps(node_link(graph_of([("a", FACTS)]))))
    graph = networkx.node_link_graph(document, edges="edges")
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (4, 4)
    assert graph.is_directed()
    assert graph.nodes["age:40 years"] == {"kind": "age", "label": "40 years"}
    # The patient's own asthma and the mother's are two facts of one condition.
    relations = {edge["relation"] for edge in graph["patient:a"]["condition:asthma"].values()}
    assert relations == {"has_condition", "family_history"}


def test_graphml_is_read_back_by_networkx(tmp_path):
    networkx = pytest.importorskip("networkx")
    path = tmp_path / "facts.graphml"
    path.write_text(graphml(graph_of([("a", FACTS)])), encoding="utf-8")
    graph = networkx.read_graphml(path)
    assert (graph.number_of_nodes(), graph.number_of_edges()) == (4, 4)
    (edge,) = graph["patient:a"]["symptom:fever"].values()
    assert (edge["status"], edge["start"], edge["score"]) == ("absent", 0, 0.9)


@given(st.text(max_size=30), st.text(min_size=1, max_size=30))
def test_any_text_gives_graphml_that_parses(text_id, value):
    facts = Facts("", (fact(Relation.HAS_SYMPTOM, value),))
    document = graphml(graph_of([(text_id, facts)])).encode("utf-8", "surrogatepass")
    root = ElementTree.fromstring(document.decode("utf-8", "replace"))
    assert len(root.findall("g:graph/g:node", NAMESPACE)) == 2
    assert len(root.findall("g:graph/g:edge", NAMESPACE)) == 1


def test_every_attribute_of_graphml_is_declared():
    root = ElementTree.fromstring(graphml(graph_of([("a", FACTS)])))
    declared = {key.get("id") for key in root.findall("g:key", NAMESPACE)}
    used = {data.get("key") for data in root.iter(f"{{{NAMESPACE['g']}}}data")}
    assert used <= declared
    assert declared == used


def test_a_text_without_facts_is_a_patient_alone():
    graph = graph_of([("a", Facts("", ()))])
    assert [node.kind for node in graph.nodes] == ["patient"]
    assert graph.edges == ()
    ElementTree.fromstring(graphml(graph))
