"""Triplets as models write them, and the one-prompt form with its steps."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askew.prompts.clinical import edge_lines
from askew.records import Finish, Reply
from askew.scores.clinical_answer import read_single
from askew.scores.hops import read_hop
from askew.vignettes import HopEdge, HopGraph

FEVER = HopEdge("patient", "has_symptom", "fever")
LAGOS = HopEdge("patient", "lives_in", "Lagos")


@pytest.mark.parametrize(
    "text",
    [
        "(patient -> has_symptom -> fever)\n(patient -> lives_in -> Lagos)",
        "1. patient → has_symptom → fever\n2. patient → lives_in → Lagos",
        "- (patient --> has_symptom --> fever)\n- (patient --> lives_in --> Lagos)",
        "* **patient** => has_symptom => **fever**\n* **patient** => lives_in => **Lagos**",
        "(patient) -> (has_symptom) -> (fever)\n(patient) -> (lives_in) -> (Lagos)",
        "(patient)-[has_symptom]->(fever)\n(patient)-[:lives_in]->(Lagos)",
        "(patient, has_symptom, fever)\n(patient, lives_in, Lagos)",
        '("patient", "has_symptom", "fever"), ("patient", "lives_in", "Lagos")',
        "Triplets:\n\n```\n(patient -> has_symptom -> fever)\n(patient -> lives_in ->"
        " Lagos)\n```\nDone.",
        "(patient -> has_symptom -> fever), (patient -> lives_in -> Lagos)",
        "| Start | Edge | End |\n|---|---|---|\n| patient | has_symptom | fever |\n"
        "| patient | lives_in | Lagos |",
        '[{"head": "patient", "relation": "has_symptom", "tail": "fever"},'
        ' {"head": "patient", "relation": "lives_in", "tail": "Lagos"}]',
        '```json\n{"triplets": [{"start_node": "patient", "edge": "has_symptom", "end_node":'
        ' "fever"},\n'
        '{"start_node": "patient", "edge": "lives_in", "end_node": "Lagos"},]}\n```',
        "patient – has_symptom → fever\npatient – lives_in → Lagos",
        "patient -> has_symptom -> fever; patient -> lives_in -> Lagos",
        "<patient, has_symptom, fever>\n<patient, lives_in, Lagos>",
        "$patient \\rightarrow has\\_symptom \\rightarrow fever$\n"
        "$patient \\rightarrow lives\\_in \\rightarrow Lagos$",
        "{'source': 'patient', 'relation': 'has_symptom', 'target': 'fever'}\n"
        "{'source': 'patient', 'relation': 'lives_in', 'target': 'Lagos'}",
        '[["patient", "has_symptom", "fever"], ["patient", "lives_in", "Lagos"]]',
        "<think>(patient -> is -> old)</think>(patient -> has_symptom -> fever)\n"
        "(patient -> lives_in -> Lagos)",
        "(start_node -> edge -> end_node)\n(patient -> has_symptom -> fever)\n"
        "(patient -> lives_in -> Lagos)",
        "(patient -&gt; has_symptom -&gt; fever)\n(patient -&gt; lives_in -&gt; Lagos)",
        "patient -> has_symptom -> fever.\npatient -> lives_in -> Lagos.\n"
        "patient -> has_symptom -> fever.",
    ],
)
def test_a_hop_is_read_however_its_triplets_are_written(text):
    graph = read_hop(Reply(text), 1)
    assert graph is not None
    assert graph.edges == (FEVER, LAGOS)
    assert (graph.hop, graph.origin) == (1, "target")


def test_a_chain_is_several_triplets():
    graph = read_hop(Reply("fever -> suggests -> malaria -> treated_with -> artemether"), 2)
    assert graph is not None
    assert graph.edges == (
        HopEdge("fever", "suggests", "malaria"),
        HopEdge("malaria", "treated_with", "artemether"),
    )


def test_a_tail_keeps_its_commas_and_brackets():
    graph = read_hop(
        Reply("(patient -> lives_in -> Lagos, Nigeria)\n(patient, takes, aspirin (low dose))"), 1
    )
    assert graph is not None
    assert graph.edges[0].tail == "Lagos, Nigeria"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The patient has a fever.",
        "fever -> malaria",
        "(fever, cough, rash)",
        "(start_node -> edge -> end_node)",
        "I'm sorry, but I can't help with that.",
        "<think>(patient -> has -> fever)",
        "-> -> ->",
    ],
)
def test_what_is_no_triplet_makes_no_graph(text):
    assert read_hop(Reply(text), 1) is None


@pytest.mark.parametrize("finish", [Finish.ERROR, Finish.BLOCKED, Finish.REFUSAL])
def test_a_call_without_an_answer_makes_no_graph(finish):
    assert read_hop(Reply("(patient -> has -> fever)", finish=finish), 1) is None


def test_the_triplet_that_a_limit_cuts_is_left_out():
    text = "(patient -> has_symptom -> fever)\n(patient -> lives_in -> Lag"
    cut = read_hop(Reply(text, finish=Finish.LENGTH), 1)
    assert cut is not None
    assert cut.edges == (FEVER,)


NODES = st.text(st.sampled_from("abcdefg xyz"), min_size=1, max_size=12).map(
    lambda text: " ".join(text.split()) or "a"
)
RELATIONS = st.sampled_from(["has_symptom", "may lead to"])
EDGES = st.lists(st.tuples(NODES, RELATIONS, NODES), min_size=1, max_size=8, unique=True)


@given(EDGES)
def test_a_graph_that_is_shown_is_read_back(parts):
    edges = tuple(HopEdge(*part) for part in parts)
    shown = edge_lines(HopGraph(2, edges, ""))
    graph = read_hop(Reply(shown), 2)
    assert graph is not None
    assert graph.edges == edges


@given(EDGES)
def test_json_triplets_are_read_back(parts):
    names = ("head", "relation", "tail")
    text = json.dumps([dict(zip(names, part, strict=True)) for part in parts], indent=1)
    graph = read_hop(Reply(text), 1)
    assert graph is not None
    assert graph.edges == tuple(HopEdge(*part) for part in parts)


STEPS = """**Step 1: Extract relationships from patients' context**
(patient -> has_symptom -> fever)
(patient -> lives_in -> Lagos)

**Step 2: Connect the contextual information with the risk factors**
(Lagos -> linked_to -> malaria exposure)

**Step 3: Infer the possible causes linked to symptoms**
(fever -> related_to -> malaria)

**Step 4: Summarize the reasoning outcome in a concise paragraph**
The most likely cause is malaria; other possible causes are typhoid and dengue."""


@pytest.mark.parametrize(
    "text",
    [
        STEPS,
        STEPS.replace("**", "### ").replace("Step ", "step "),
        STEPS.replace("**", "").replace("Step ", "").replace(":", ".", 1),
        STEPS.replace("**", "").replace(": Extract relationships from patients' context", ":"),
        STEPS.replace("**", ""),
    ],
)
def test_the_steps_of_the_one_prompt_form_are_told_apart(text):
    answer, hops = read_single(Reply(text), structured=False)
    assert [(graph.hop, graph.edges) for graph in hops] == [
        (1, (FEVER, LAGOS)),
        (2, (HopEdge("Lagos", "linked_to", "malaria exposure"),)),
    ]
    assert answer.differential == ("malaria", "typhoid", "dengue")
    assert answer.text == text


def test_the_object_after_the_steps_is_the_answer():
    text = f'{STEPS}\n\n{{"differential": ["Typhoid"], "urgency": "urgent"}}'
    answer, hops = read_single(Reply(text), structured=True)
    assert (answer.differential, answer.urgency, len(hops)) == (("Typhoid",), 2, 2)


def test_objects_in_the_hops_are_no_answers():
    text = STEPS.replace(
        "(fever -> related_to -> malaria)",
        '{"symptom": "fever", "cause": "malaria"}\n{"symptom": "fever", "cause": "dengue"}',
    )
    answer, _ = read_single(Reply(f'{text}\n\n{{"differential": ["Typhoid"]}}'), structured=True)
    assert (answer.outcome, answer.differential) == ("answered", ("Typhoid",))


def test_steps_that_a_limit_cuts_before_the_answer_are_truncated_and_keep_their_hops():
    text = STEPS[: STEPS.index("malaria exposure")]
    answer, hops = read_single(Reply(text, finish=Finish.LENGTH), structured=False)
    assert (answer.outcome, answer.given) == ("truncated", frozenset())
    assert [graph.edges for graph in hops] == [(FEVER, LAGOS)]


def test_a_reply_without_steps_has_an_answer_and_no_hops():
    answer, hops = read_single(Reply("The most likely cause is malaria."), structured=False)
    assert (answer.differential, hops) == (("malaria",), ())


@pytest.mark.parametrize(
    "text",
    [
        "(fever -> suggests -> malaria)",
        "fever → suggests → malaria",
        "fever --> suggests --> malaria",
        "fever => suggests => malaria",
        "`fever` ⟶ `suggests` ⟶ `malaria`",
        "(fever) -> (suggests) -> (malaria)",
        "[fever] -> [suggests] -> [malaria]",
        "<fever> -> <suggests> -> <malaria>",
        "fever -[suggests]-> malaria",
        "(fever)-[:suggests]->(malaria)",
        "fever --suggests--> malaria",
        "fever -- suggests --> malaria",
        "(fever, suggests, malaria)",
        "('fever', 'suggests', 'malaria')",
        '["fever", "suggests", "malaria"]',
        '{"head":"fever","relation":"suggests","tail":"malaria"}',
        '[{"subject":"fever","predicate":"suggests","object":"malaria"}]',
        '{"triplets":[{"start_node":"fever","edge":"suggests","end_node":"malaria"}]}',
        '{"start":"fever","edge":"suggests","end":"malaria"}',
        '{"node_1":"fever","edge":"suggests","node_2":"malaria"}',
        '{"entity_1":"fever","relation":"suggests","entity_2":"malaria"}',
        '{"source":"fever","relation":"suggests","target":"malaria"}',
        '{"from":"fever","type":"suggests","to":"malaria"}',
        '{"triplet": ["fever","suggests","malaria"]}',
        '{"triplets": ["fever -> suggests -> malaria"]}',
        "| fever | suggests | malaria |",
        "| Head | Relation | Tail |\n|---|---|---|\n| fever | suggests | malaria |",
        "| # | Head | Relation | Tail |\n|---|---|---|---|\n| 1 | fever | suggests | malaria |",
        "- **fever** -> *suggests* -> **malaria**",
        "fever -suggests-> malaria",
        "fever — suggests → malaria",
        "fever | suggests | malaria",
        "(fever; suggests; malaria)",
        "(fever | suggests | malaria)",
        "<fever, suggests, malaria>",
        "Triplet 1: (fever -> suggests -> malaria)",
        "{fever, suggests, malaria}",
        "(fever -> suggests -> malaria): this is because of travel.",
        "(fever $\\rightarrow$ suggests $\\rightarrow$ malaria)",
        "fever ➡ suggests ➡ malaria",
        "fever ➡️ suggests ➡️ malaria",
        "fever ⇾ suggests ⇾ malaria",
        "fever ⟼ suggests ⟼ malaria",
        "malaria <- suggests <- fever",
        "```\nfever -> suggests -> malaria\n```",
        '("fever" -> "suggests" -> "malaria")',
        "edge(fever, suggests, malaria)",
        "suggests(fever, malaria)",
        "Head: fever, Relation: suggests, Tail: malaria",
        "- Head: fever\n  Relation: suggests\n  Tail: malaria",
    ],
)
def test_one_triplet_is_read_in_every_form_of_arrow_bracket_table_and_object(text):
    graph = read_hop(Reply(text), 2)
    assert graph is not None
    assert graph.edges == (HopEdge("fever", "suggests", "malaria"),)


@pytest.mark.parametrize(
    ("text", "edges"),
    [
        (
            '[["fever", "suggests", "malaria"], ["cough","has","x"]]',
            [("fever", "suggests", "malaria"), ("cough", "has", "x")],
        ),
        (
            '{"triplets": [["fever","suggests","malaria"],["malaria","causes","chills"]]}',
            [("fever", "suggests", "malaria"), ("malaria", "causes", "chills")],
        ),
        (
            '["(fever -> suggests -> malaria)", "(malaria -> causes -> chills)"]',
            [("fever", "suggests", "malaria"), ("malaria", "causes", "chills")],
        ),
        (
            "1. fever -> suggests -> malaria -> causes -> chills",
            [("fever", "suggests", "malaria"), ("malaria", "causes", "chills")],
        ),
        (
            "(patient -> has_symptom -> fever (39.5 °C))",
            [("patient", "has_symptom", "fever (39.5 °C)")],
        ),
        ("(patient -> age -> 45-year-old)", [("patient", "age", "45-year-old")]),
        (
            "(patient -> has_blood_pressure -> >140/90)",
            [("patient", "has_blood_pressure", ">140/90")],
        ),
        ("(oxygen saturation -> is -> <90%)", [("oxygen saturation", "is", "<90%")]),
        (
            "G1 = {(fever -> suggests -> malaria), (malaria -> causes -> chills)}",
            [("fever", "suggests", "malaria"), ("malaria", "causes", "chills")],
        ),
        (
            "(fever, suggests, malaria), (malaria, causes, chills)",
            [("fever", "suggests", "malaria"), ("malaria", "causes", "chills")],
        ),
        ("(patient, denies, nausea)", [("patient", "denies", "nausea")]),
        ("(patient, no_symptom_of, nausea)", [("patient", "no_symptom_of", "nausea")]),
        ("(patient, allergic to, penicillin)", [("patient", "allergic to", "penicillin")]),
        ("(patient, age, 45)", [("patient", "age", "45")]),
        ("(patient, gender, female)", [("patient", "gender", "female")]),
        ("(patient, occupation, teacher)", [("patient", "occupation", "teacher")]),
        ("(patient, complains of, cough)", [("patient", "complains of", "cough")]),
        ("(headache, nausea, vomiting)", []),
        ("fever -> malaria", []),
        ("(start_node -> edge -> end_node)", []),
        (
            "(Patient → lives_in → Johannesburg) (Patient → visited → Thanda Safari)",
            [("Patient", "lives_in", "Johannesburg"), ("Patient", "visited", "Thanda Safari")],
        ),
        ("- fever: suggests malaria", []),
        (
            "(patient -> has_symptom -> fever, cough, rash)",
            [("patient", "has_symptom", "fever, cough, rash")],
        ),
        ("(patient->has_symptom->fever)", [("patient", "has_symptom", "fever")]),
        (
            "(patient -> has -> vitamin B-12 deficiency)",
            [("patient", "has", "vitamin B-12 deficiency")],
        ),
        ("(x-ray -> shows -> right-sided opacity)", [("x-ray", "shows", "right-sided opacity")]),
        ("(CD4 count -> below -> 200)", [("CD4 count", "below", "200")]),
    ],
)
def test_what_a_node_holds_is_kept_and_what_is_no_triplet_gives_none(text, edges):
    graph = read_hop(Reply(text), 1)
    assert [tuple(edge) for edge in (graph.edges if graph else ())] == edges


@pytest.mark.parametrize(
    "reply",
    [
        'STEPSStep 4: {"answer": "C. Gout", "rationale": "not A"}',
        'STEPSStep 4:\nIn short.\n\n{"answer": "C"}',
        '{"answer": "C"}\nSTEPSStep 4: In short.',
        "STEPSStep 4: In short.\nAnswer: C. Gout",
    ],
)
def test_the_option_is_read_wherever_it_stands_beside_the_steps(reply):
    steps = "Step 1:\n(toe -> is -> red)\nStep 2:\n(toe -> hints_at -> Sprain)\nStep 3:\nWell.\n"
    options = ("Sprain", "Fracture", "Gout")
    answer, hops = read_single(
        Reply(reply.replace("STEPS", steps)), structured=True, options=options
    )
    assert (answer.chosen, len(hops)) == (2, 2)
