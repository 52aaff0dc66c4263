"""A question put to a finished boundary run: what its tested topics say of it; asks no model."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from askew.audits.boundary_ask import HASHED as HASHED_NEARNESS
from askew.audits.boundary_ask import AskAnswer, AskConfig, ask
from askew.errors import RunError
from askew.models.embedder import load_embedder
from askew.run.boundary import kept_tests, run_graph
from askew.run.boundary_graph import title_vectors
from askew.runfile import read_run_file
from askew.runfile.boundary import HASHED
from askew.runfolder import RunFolder
from askew.search.title_vectors import hashed

_BY_WORDS = (
    'the run compares titles by shared words alone (vectors = "hashed"), so that most questions '
    "stay unknown; a run with an embedder can say more"
)


def ask_run(path: Path, question: str) -> AskAnswer:
    """Say of a question whether the model leans there, is clean there, or that it is unknown.

    Args:
        path: the folder of a boundary run.
        question: what is to be put to the model.

    Raises:
        ConfigError: the question is empty.
        RunError: the folder holds another audit, or its graph cannot be had.
    """
    folder = RunFolder.open(path)
    whole = read_run_file(folder.settings)
    if "boundary" not in whole.audits:
        raise RunError(f"{path} is no boundary run. Name one of `askew boundary search`.")
    run = whole.part("boundary")
    assert run.boundary is not None
    graph, vectors = run_graph(folder, run), run.boundary.vectors
    plain = vectors == HASHED
    answer = ask(
        question,
        kept_tests(folder),
        graph,
        title_vectors(graph, vectors),
        hashed if plain else load_embedder(vectors).embed,
        HASHED_NEARNESS if plain else AskConfig(),
    )
    if not plain or not answer.nearest or answer.nearest[0].similarity >= HASHED_NEARNESS.similar:
        return answer
    return replace(answer, reason=f"{answer.reason}; {_BY_WORDS}")
