"""The knowledge graph of §3.1 as nodes and edges, and as files: node-link JSON and GraphML.

Every text has a patient node of its own; a value that several patients have in common is one node,
so that a graph of a data set shows what its cases share. An edge is one triplet, with its status,
span and rule: two statements of one fact are two edges.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

from askew.graphs.terms import fold
from askew.vignettes import Facts, Relation, Triplet

Value = str | int | float
Attributes = Mapping[str, Value]

_KINDS: Mapping[Relation, str] = {
    Relation.HAS_AGE: "age",
    Relation.HAS_GENDER: "gender",
    Relation.HAS_BIRTH_SEX: "gender",
    Relation.LIVES_IN: "place",
    Relation.BORN_IN: "place",
    Relation.TRAVELED_TO: "place",
    Relation.HAS_SYMPTOM: "symptom",
    Relation.HAS_CONDITION: "condition",
    Relation.FAMILY_HISTORY: "condition",
    Relation.TAKES_MEDICATION: "substance",
    Relation.ALLERGIC_TO: "substance",
}
_TYPES = {str: "string", int: "int", float: "double"}
# XML 1.0 has no way to write these, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Node:
    """A patient, or what is said of one."""

    id: str  # unique: "patient:case-1", "symptom:fever"
    kind: str  # patient, age, gender, place, symptom, condition, substance
    label: str
    attributes: Attributes = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Edge:
    """One triplet: from a patient to a value."""

    source: str  # id of the patient's node
    target: str
    relation: str
    attributes: Attributes = field(default_factory=dict)  # status, evidence, start, end, rule, …


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes and edges, in the order of the texts."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]


def graph_of(texts: Iterable[tuple[str, Facts]]) -> Graph:
    """The graph of one or several texts.

    Args:
        texts: (id of the text, its facts); the ids have to differ.

    Raises:
        ValueError: two texts have the same id, so that their patients would become one.

    >>> from askew.graphs import extract
    >>> graph = graph_of([("a", extract("A 40-year-old woman has a fever."))])
    >>> [node.id for node in graph.nodes]
    ['patient:a', 'age:40 years', 'gender:female', 'symptom:fever']
    >>> graph.edges[2].relation, graph.edges[2].attributes["status"]
    ('has_symptom', 'present')
    """
    nodes: dict[str, Node] = {}
    edges: list[Edge] = []
    for text_id, facts in texts:
        patient = Node(f"patient:{text_id}", "patient", f"patient {text_id}".strip())
        if patient.id in nodes:
            raise ValueError(f"two texts have the id {text_id!r}")
        nodes[patient.id] = patient
        for triplet in facts.triplets:
            value = _value_node(triplet)
            nodes.setdefault(value.id, value)
            edges.append(
                Edge(patient.id, value.id, triplet.relation.value, _edge_attributes(triplet))
            )
    return Graph(tuple(nodes.values()), tuple(edges))


def value_text(triplet: Triplet) -> str:
    """The value in words: an age with its unit, a decade as its years.

    >>> from askew.vignettes import Relation, Status
    >>> value_text(Triplet(Relation.HAS_AGE, 1, Status.PRESENT, None, "", "", unit="month"))
    '1 month'
    """
    if triplet.relation is not Relation.HAS_AGE:
        return str(triplet.value)
    if triplet.years is not None:
        return f"{triplet.years[0]}-{triplet.years[1]} years"
    unit = triplet.unit or "year"
    return f"{triplet.value} {unit}" if triplet.value == 1 else f"{triplet.value} {unit}s"


def _value_node(triplet: Triplet) -> Node:
    kind, label = _KINDS[triplet.relation], value_text(triplet)
    # A value whose script folding does not know keeps its own wording as its id.
    key = label if kind == "age" else fold(label) or label
    return Node(f"{kind}:{key}", kind, label)


def _edge_attributes(triplet: Triplet) -> dict[str, Value]:
    found: dict[str, Value] = {"status": triplet.status.value, "experiencer": triplet.experiencer}
    if triplet.span is not None:
        found |= {"start": triplet.span.start, "end": triplet.span.end}
    return found | {
        "evidence": triplet.evidence,
        "rule": triplet.rule,
        "score": float(triplet.score),
    }


def node_link(graph: Graph) -> dict[str, object]:
    """The graph in the node-link form of NetworkX and D3: ready for JSON.

    Read it back with `networkx.node_link_graph(document, edges="edges")`.
    """
    return {
        "directed": True,
        "multigraph": True,
        "graph": {"name": "askew knowledge graph"},
        "nodes": [
            {"id": node.id, "kind": node.kind, "label": node.label, **node.attributes}
            for node in graph.nodes
        ],
        "edges": [
            {
                "source": edge.source,
                "target": edge.target,
                "key": key,
                "relation": edge.relation,
                **edge.attributes,
            }
            for key, edge in enumerate(graph.edges)
        ],
    }


def graphml(graph: Graph) -> str:
    """The graph as GraphML 1.0, for Gephi, yEd, Cytoscape, NetworkX and their like.

    Characters that XML cannot hold are written as U+FFFD.
    """
    nodes = [
        (node.id, {"kind": node.kind, "label": node.label, **node.attributes})
        for node in graph.nodes
    ]
    edges = [(edge, {"relation": edge.relation, **edge.attributes}) for edge in graph.edges]
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"'
        ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
        ' xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns'
        ' http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">',
        *_keys("node", [attributes for _, attributes in nodes]),
        *_keys("edge", [attributes for _, attributes in edges]),
        '  <graph id="askew" edgedefault="directed">',
    ]
    for node_id, attributes in nodes:
        lines += [f"    <node id={_quoted(node_id)}>", *_data("node", attributes), "    </node>"]
    for number, (edge, attributes) in enumerate(edges):
        ends = f"source={_quoted(edge.source)} target={_quoted(edge.target)}"
        lines += [f'    <edge id="e{number}" {ends}>', *_data("edge", attributes), "    </edge>"]
    return "\n".join([*lines, "  </graph>", "</graphml>"]) + "\n"


def _keys(on: str, all_attributes: Sequence[Attributes]) -> list[str]:
    """The declarations of every attribute that occurs."""
    types: dict[str, str] = {}
    for attributes in all_attributes:
        for name, value in attributes.items():
            types.setdefault(name, _TYPES[type(value)])
    return [
        f'  <key id="{on}_{name}" for="{on}" attr.name="{name}" attr.type="{type_}"/>'
        for name, type_ in types.items()
    ]


def _data(on: str, attributes: Attributes) -> list[str]:
    return [
        f'      <data key="{on}_{name}">{escape(_xml_text(value))}</data>'
        for name, value in attributes.items()
    ]


def _quoted(text: str) -> str:
    return quoteattr(_xml_text(text))


def _xml_text(value: Value) -> str:
    return _NOT_XML.sub("\ufffd", str(value))
