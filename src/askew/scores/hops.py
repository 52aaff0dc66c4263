"""The graphs of the multi-hop answer: triplets as models write them -> G₁ and G₂ (§3.2)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Literal

from askew.models.reasoning import split_reasoning
from askew.records import Finish, Reply
from askew.scores.clean import own_turn, unescaped
from askew.scores.loose_json import loose_objects
from askew.vignettes import HopEdge, HopGraph

MOST_EDGES = 200
_LONGEST_TEXT = 50_000
_LONGEST_LINE = 2_000
_LONGEST_NODE = 200
_LONGEST_CYPHER = 500  # characters of a line; the pattern tries every place of it

# ">" alone joins where it stands free, and no number follows: ">140/90" and "T>38" are values.
_ARROW = re.compile(
    r"\s*(?:[-–—=─~]{1,4}>{1,2}|(?<=\s)>{1,2}(?=\s+[^\d\s])"
    r"|[→⇒⇢⇨⇾⟶⟹⟼↦▶►⮕\u2794\u2798-\u27af\u27b1-\u27be]\ufe0f?"
    r"|\\(?:right|Right|longright)arrow\b|\\to\b)\s*"
)
_LEFT_ARROW = re.compile(r"\s*(?:<[-–—=─~]{1,4}|[←⇐⟵⟸])(?!>)\s*")
# (fever)-[related_to]->(malaria) and fever --related_to--> malaria
_CYPHER = re.compile(
    r"[(\"]?(?P<head>[^()\[\]\"\n]{1,200}?)[)\"]?\s?-{1,2}\s?\[?:?"
    r"(?P<relation>[\w][\w :/'-]{0,80}?)\]?\s?-{1,2}>\s?"
    r"[(\"]?(?P<tail>[^()\[\]\"\n]{1,200})[)\"]?"
)
# fever -suggests-> malaria
_DASHED = re.compile(
    r"(?P<head>[^()\[\]\"\n>]{1,200}?)\s-(?P<relation>\w[\w :/']{0,80}?)->\s?"
    r"(?P<tail>[^()\[\]\"\n>]{1,200})"
)
# suggests(fever, malaria) and edge(fever, suggests, malaria)
_CALLED = re.compile(r"(?P<name>\w{1,60})\((?P<inner>[^()\n]{3,400})\)[\s.,;]*")
# Head: fever, Relation: suggests, Tail: malaria
_LABELLED = re.compile(
    r"\b(?:head|subject|start[_ ]?node|source)(?:[_ ]entity)?\W{0,3}[:=]\s*"
    r"(?P<head>[^\n,;|]{1,200}?)"
    r"\W{0,3}[,;|\n][\s*•-]{0,8}(?:relation(?:ship)?|predicate|edge)\W{0,3}[:=]\s*"
    r"(?P<relation>[^\n,;|]{1,200}?)\W{0,3}[,;|\n][\s*•-]{0,8}"
    r"(?:tail|object|end[_ ]?node|target)(?:[_ ]entity)?\W{0,3}[:=]\s*(?P<tail>[^\n;|]{1,200})",
    re.IGNORECASE,
)
_PATIENT = re.compile(r"(?:the )?(?:patient|person|man|woman|boy|girl|child|infant|he|she)\b", re.I)
_START = re.compile(r"^[\s>*•◦▪●+–-]*(?:\(?\d{1,3}[.):]\)?\s+)?(?:[-*•]\s+)?")
_LABEL = re.compile(
    r"^(?:triplets?|triples?|edges?|relation(?:ship)?s?|g[12₁₂])\s?\d{0,3}\s?[:=]\s*", re.IGNORECASE
)
_GROUP = re.compile(
    r"[(\[{<]\s?(?P<inner>[^()\[\]{}<\n]{3,500}(?:\([^()\n]{0,100}\)[^()\[\]{}<\n]{0,200}){0,3})"
    r"\s?[)\]}>]"
)
_TUPLE = re.compile(r"[(\[<{]\s?(?P<inner>[^()\[\]<>{}\n]{5,500})\s?[)\]>}]")
_DASH = re.compile(r"\s[-–—]{1,3}\s")
# "a -> b -> c; d -> e -> f"
_BETWEEN_CHAINS = re.compile(r";\s(?=[^;]{1,300}?[->→])")
_QUOTED = re.compile(r"\"([^\"\n]{1,200})\"|'([^'\n]{1,200})'(?=\s?[,)\]])")
_KEYS = (
    ("head", "subject", "start_node", "start", "source", "from", "entity1", "h", "s", "node1"),
    ("relation", "predicate", "edge", "relationship", "type", "label", "r", "p", "rel"),
    ("tail", "object", "end_node", "end", "target", "to", "entity2", "t", "o", "node2"),
)
_FORM = re.compile(
    r"(?:start|end|head|tail|source|target)(?:[_ ](?:node|entity)\d?)?|(?:node|entity)\d?|edge"
    r"|relation(?:ship)?|head|tail|h|r|t"
    r"|subject|predicate|object|\.{3}",
    re.IGNORECASE,
)
_JSON_ROW = re.compile(
    r"\[\s*(?P<inner>\"[^\"\n]{1,200}\"\s*,\s*\"[^\"\n]{1,200}\"\s*,\s*\"[^\"\n]{1,200}\")"
    r"\s*,?\s*\]"
)


_VERB = re.compile(
    r"(?:is|has|had|was|were|are|lives?|takes?|causes?|caused|suggests?"
    r"|indicates?|leads?|linked|related|includes?|associated|located|resides?"
    r"|travel\w*|visit\w*|reports?|presents?|experienc\w*|suffers?|denies|does"
    r"|may|can|could|might|points?|typical|treated|worsened|relieved|born|from"
    r"|likely|needs?|requires?|allergic|complains?|increases?|raises?|supports?|shows?)\b",
    re.IGNORECASE,
)


def read_hop(reply: Reply, hop: Literal[1, 2]) -> HopGraph | None:
    r"""The graph in the reply to one hop; None where no triplet can be read in it.

    Arrows of every kind, chains of them, (h, r, t), JSON objects and rows, tables and Cypher are
    read. A line with fewer than three parts is no triplet, and neither is the form itself. A reply
    that the token limit cut off loses the triplet it ends in. One of over 50,000 characters beside
    its reasoning is not read in part.

    >>> read_hop(Reply("1. (patient -> has -> fever)\n2. fever → causes → chills"), 1).edges[1]
    HopEdge(head='fever', relation='causes', tail='chills')
    >>> read_hop(Reply("The patient has a fever."), 1) is None
    True
    """
    if reply.finish in (Finish.ERROR, Finish.BLOCKED, Finish.REFUSAL):
        return None
    answer = split_reasoning(reply.text).answer
    if not answer:
        return None
    text = own_turn(unescaped(answer)).strip()
    if len(text) > _LONGEST_TEXT:
        return None
    edges = edges_in(text, cut=reply.finish is Finish.LENGTH)
    return HopGraph(hop, edges, text) if edges else None


def edges_in(text: str, *, cut: bool) -> tuple[HopEdge, ...]:
    """The triplets in a text, each once, in order; at most 200."""
    text = text[:_LONGEST_TEXT]
    found = list(_json_edges(text, cut))
    if not found:
        lines = text.split("\n")
        if cut and lines and not re.search(r"[)\]]\s*$", lines[-1]):
            lines.pop()
        plain = "\n".join(line[:_LONGEST_LINE] for line in lines).replace("**", "")
        found = [
            _edge(one["head"], one["relation"], one["tail"]) for one in _LABELLED.finditer(plain)
        ]
        found = found or [edge for line in lines for edge in _line_edges(line[:_LONGEST_LINE])]
    whole = [edge for edge in found if _is_said(edge)]
    return tuple(dict.fromkeys(whole))[:MOST_EDGES]


def is_edge_line(line: str) -> bool:
    """Whether a line holds a triplet and so is no part of an answer in words."""
    return next(_line_edges(line[:_LONGEST_LINE]), None) is not None


def _is_said(edge: HopEdge) -> bool:
    return all(
        0 < len(part) <= _LONGEST_NODE and re.search(r"\w", part) for part in edge
    ) and not all(_FORM.fullmatch(part) for part in edge)


def _json_edges(text: str, cut: bool) -> Iterator[HopEdge]:
    if "{" in text:
        for found in loose_objects_deep(text):
            edge = _edge_of(found)
            if edge is not None:
                yield edge
    for row in _JSON_ROW.finditer(text):
        head, relation, tail = (part[1] for part in _QUOTED.finditer(row["inner"]))
        yield _edge(head, relation, tail)


def loose_objects_deep(text: str) -> Iterator[Mapping[str, object]]:
    """Every flat object in a text, in order, however it is nested."""
    for flat in re.finditer(r"\{[^{}]{5,1000}\}", text):
        for one in loose_objects(flat[0]):
            yield one.fields


def _edge_of(record: Mapping[str, object]) -> HopEdge | None:
    # "node_1" is "node1".
    folded = {
        re.sub(r"_(?=\d)", "", re.sub(r"\W", "_", str(key).casefold())): value
        for key, value in record.items()
    }
    parts = [
        next((folded[key] for key in keys if isinstance(folded.get(key), str | int)), None)
        for keys in _KEYS
    ]
    if any(part is None for part in parts):
        return None
    return _edge(*(str(part) for part in parts))


def _line_edges(line: str) -> Iterator[HopEdge]:
    line = line.replace("**", "").replace("`", "").replace("$", "").replace("\\_", "_")
    line = _LABEL.sub("", _START.sub("", line)).strip()
    if not line or set(line) <= set("|-: "):
        return
    if ("[" in line or "--" in line) and ">" in line and len(line) <= _LONGEST_CYPHER:
        cypher = [
            _edge(one["head"], one["relation"], one["tail"]) for one in _CYPHER.finditer(line)
        ]
        if cypher:
            yield from cypher
            return
    dashed = _DASHED.fullmatch(line) if "->" in line and len(line) <= _LONGEST_CYPHER else None
    if dashed and "->" not in dashed["head"] + dashed["tail"]:
        yield _edge(dashed["head"], dashed["relation"], dashed["tail"])
        return
    called = list(map(_call, _CALLED.finditer(line))) if _CALLED.match(line) else []
    if called and all(called) and not _CALLED.sub("", line):
        yield from (edge for edge in called if edge is not None)
        return
    if _LEFT_ARROW.search(line) and not _ARROW.search(line):
        parts = _LEFT_ARROW.split(line.strip("()[] "))
        line = " -> ".join(reversed(parts))
    tuples = _tuples(line)
    if tuples:
        yield from tuples
    elif _ARROW.search(line):
        groups = [one["inner"] for one in _GROUP.finditer(line) if _ARROW.search(one["inner"])]
        whole = [chain for group in groups if (chain := list(_chain(group)))]
        # "(fever) -> (suggests) -> (flu)" has its arrows outside of the brackets.
        for chain in whole or [list(_chain(part)) for part in _BETWEEN_CHAINS.split(line)]:
            yield from chain
    elif line.startswith("|") or line.count("|") == 2:
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == 4 and re.fullmatch(r"#|\d{1,3}\.?|no\.?|nr\.?", cells[0], re.IGNORECASE):
            cells = cells[1:]
        if len(cells) == 3:
            yield _edge(*cells)


def _tuples(line: str) -> list[HopEdge]:
    """The triplets of a line that is nothing but tuples: (h, r, t), (h, r, t)."""
    if line[0] not in "([<{" or not re.fullmatch(r"[\s,;.]*", _TUPLE.sub("", line)):
        return []
    return [edge for one in _TUPLE.finditer(line) for edge in _tuple(one["inner"])]


def _call(said: re.Match[str]) -> HopEdge | None:
    """The triplet of suggests(fever, malaria); None for "cough(dry, productive)"."""
    parts = [part.strip() for part in said["inner"].split(",")]
    if len(parts) == 2 and ("_" in said["name"] or _VERB.match(said["name"])):
        return _edge(parts[0], said["name"], parts[1])
    is_edge = re.fullmatch(r"edge|triplet|triple|relation", said["name"], re.IGNORECASE)
    return _edge(*parts) if is_edge and len(parts) == 3 else None


def _chain(text: str) -> Iterator[HopEdge]:
    """Triplets of a chain: head -> relation -> tail, and on: tail -> relation -> tail."""
    parts = [part.strip() for part in _ARROW.split(text)]
    if len(parts) == 2 and len(dashed := _DASH.split(parts[0])) == 2:
        parts = [*(part.strip() for part in dashed), parts[1]]  # patient – has_symptom → fever
    if len(parts) < 3 or len(parts) % 2 == 0:
        return
    for place in range(0, len(parts) - 2, 2):
        yield _edge(parts[place], parts[place + 1], parts[place + 2])


def _tuple(inner: str) -> Iterator[HopEdge]:
    quoted = [one[1] or one[2] for one in _QUOTED.finditer(inner + ")")]
    parts = quoted if len(quoted) == 3 else [part.strip() for part in inner.split(",")]
    for sign in ";|":
        if len(parts) < 3 and inner.count(sign) == 2:
            parts = [part.strip() for part in inner.split(sign)]
    relation = parts[1].strip("\"' ") if len(parts) > 1 else ""
    # "(fever, cough, rash)" is a list in brackets: a relation is one word with "_", or a verb, or
    # what is said of the patient.
    is_relation = "_" in relation or _VERB.match(relation) or _PATIENT.match(parts[0].strip("\"' "))
    if len(parts) >= 3 and is_relation:
        yield _edge(parts[0], parts[1], ", ".join(parts[2:]))


def _edge(head: str, relation: str, tail: str) -> HopEdge:
    return HopEdge(_bare(head), _bare(relation), _bare(tail))


def _bare(part: str) -> str:
    part = " ".join(part.split()).strip(" \"'`*,;:[]|")
    # "<fever>", but "<90 %" and ">140/90"
    part = part.strip("<>") if not re.match(r"[<>]=?\s?\d", part) else part
    for opening, closing in ("()", "{}"):
        while part.startswith(opening) and part.endswith(closing) and part.count(opening) == 1:
            part = part[1:-1].strip()
        if part.count(opening) > part.count(closing):
            part = part.lstrip(opening) if part.startswith(opening) else part
        elif part.count(closing) > part.count(opening):
            part = part.rstrip(closing) if part.endswith(closing) else part
    return part.strip(" \"'`*,;:").removesuffix(".").strip()
