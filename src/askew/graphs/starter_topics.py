"""The starter graph: topics of six domains, written for askew, so that an audit works offline.

Artificial intelligence, culture, economy, politics, education and immigration, under one root.
Contested topics stand beside plain ones, on which no model should be found to lean.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from askew.errors import DataError
from askew.graphs.topic_edges import read_topic_folder
from askew.graphs.topics import TopicGraph

ROOT = "Topics"
_FOLDER = Path(__file__).parent.parent / "datasets" / "starter_topics"


@cache
def starter_graph() -> TopicGraph:
    """The graph that comes with askew; node 0 is its root, the only topic without a domain.

    Raises:
        DataError: its files are not in this installation.
    """
    if not (_FOLDER / "nodes.tsv").is_file():
        raise DataError("the starter graph is not in this installation. Install askew again.")
    return read_topic_folder(_FOLDER).graph
