"""No file that askew reads can run code: shown over the whole source, and as each kind is read."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import askew

SOURCE = Path(askew.__file__).parent
TREES = {path: ast.parse(path.read_text("utf-8")) for path in sorted(SOURCE.rglob("*.py"))}

# Modules that make objects, or run commands, of what they read.
FORBIDDEN_MODULES = {
    "pickle", "_pickle", "cPickle", "dill", "cloudpickle", "joblib", "shelve", "dbm", "marshal",
    "jsonpickle", "pandas.io.pickle", "yaml", "tarfile", "codeop", "pty", "telnetlib",
    "xml.dom", "xml.sax.expatreader", "xml.dom.minidom", "lxml", "xmlrpc",
}  # fmt: skip
# Where one is imported all the same, and why no file of anybody's gets there.
OWN_PROCESSES = {"engines/fan_out.py": "work between the processes of one Ray cluster, as Ray does"}
FORBIDDEN_CALLS = {
    "eval", "exec", "__import__", "execfile", "read_pickle", "to_pickle", "unpack_archive",
    "extractall", "extract", "load_module", "exec_module", "system", "popen",
    "fromstring", "XMLParser", "iterparse",  # of XML: a billion laughs
    "load_extension", "enable_load_extension",  # of SQLite
}  # fmt: skip
# Methods of the same name that are something else: module -> why.
HARMLESS = {
    ("eval", "models/"): "torch's switch of a network's mode",
    ("extract", "graphs/"): "a fact extractor's method",
    ("extract", "audits/"): "a fact extractor's method",
    ("extract", "build/"): "a fact extractor's method",
    ("extract", "cli/"): "a fact extractor's method",
    ("extract", "run/"): "a fact extractor's method",
    ("extract", "api/"): "a fact extractor's method",
    ("extract", "perturb/"): "a fact extractor's method",
    ("system", "build/"): "a prompt's system text",
}
# Where a module is imported by a name that is not written there, and whose name it is.
BY_NAME = {
    "__init__.py": "askew's own names, by a fixed list",
    "search/policies.py": "the built-in policies, by a fixed list",
    "datasets/__init__.py": "the built-in sets, by a fixed list",
    "datasets/vignettes.py": "the built-in sets, by a fixed list",
    "datasets/compiling.py": "askew's own compiled loops",
    "models/registry.py": "the built-in providers, by a fixed list",
    "models/python_app.py": "the function that the user names as python/module:function",
    "graphs/extractor_base.py": "the built-in extractors, by a fixed list",
}


def name_of(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


NODES = [
    (path.relative_to(SOURCE).as_posix(), node)
    for path, tree in TREES.items()
    for node in ast.walk(tree)
]
# File below the package, last name of what is called, and the call.
CALLS = [(file, name_of(node.func), node) for file, node in NODES if isinstance(node, ast.Call)]


def keywords(call: ast.Call) -> dict[str | None, ast.expr]:
    return {one.arg: one.value for one in call.keywords}


def said(node: ast.expr | None) -> object:
    return node.value if isinstance(node, ast.Constant) else node


def test_no_module_that_unpickles_or_unpacks_is_imported():
    found = []
    for file, node in NODES:
        names = [one.name for one in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module, *(f"{node.module}.{one.name}" for one in node.names)]
        found += [
            (file, name)
            for name in names
            if any(f".{one}." in f".{name}." for one in FORBIDDEN_MODULES)
        ]
    assert [one for one in found if one[0] not in OWN_PROCESSES] == []


def test_nothing_that_is_read_is_called_or_compiled():
    found = [
        f"{file}:{call.lineno}: {name}"
        for file, name, call in CALLS
        if name in FORBIDDEN_CALLS
        and not any(name == one and file.startswith(place) for one, place in HARMLESS)
    ]
    assert found == []


def test_no_command_goes_through_a_shell():
    for file, name, call in CALLS:
        assert said(keywords(call).get("shell", ast.Constant(False))) is False, (file, name)


def test_loaders_that_could_unpickle_are_told_not_to():
    for file, name, call in CALLS:
        where = (file, call.lineno)
        words = keywords(call)
        owner = getattr(getattr(call.func, "value", None), "id", "")
        if "allow_pickle" in words or (owner in ("np", "numpy") and name in ("load", "save")):
            assert said(words.get("allow_pickle")) is False, where
        assert not (owner == "torch" and name in ("load", "save")), where
        assert said(words.get("weights_only", ast.Constant(True))) is True, where
        assert said(words.get("trust_remote_code", ast.Constant(False))) is not True, where


def test_transformers_opens_folders_in_one_place_alone():
    """`models.pretrained.opened` says what may run; what is handed over is not called elsewhere."""
    allowed = {
        "models/pretrained.py",  # checked folders
        "models/builtin.py",  # the pinned GGUF, held against its sha256
        "graphs/extractor_gliner.py",  # checked there
    }
    found = {file for file, name, _ in CALLS if name == "from_pretrained"}
    assert found <= allowed


def test_modules_are_imported_by_name_only_where_nobody_elses_file_gives_the_name():
    found = {
        file
        for file, name, call in CALLS
        if name == "import_module" and not isinstance(said(call.args[0]), str)
    }
    assert found <= set(BY_NAME)


def test_xml_is_only_written():
    writing = {"Element", "SubElement", "tostring", "ElementTree", "indent"}
    for file, name, call in CALLS:
        if getattr(getattr(call.func, "value", None), "id", "") in ("ElementTree", "ET"):
            assert name in writing, (file, call.lineno)


# One process reads a file of every kind; what `pickle` is asked for there is told.
READ_ALL = r"""
import asyncio, gzip, json, sqlite3, sys
from pathlib import Path
from askew.datasets import DataSpec, load
from askew.datasets.vignettes import load as vignettes
from askew.graphs.topic_edges import read_edges
from askew.graphs.topic_storage import open_graph, save_graph
from askew.report.folders.run_list import read_run
from askew.runfolder import RunFolder
from askew.search.checkpoints import load_checkpoint, save_checkpoint
import numpy as np

asked = []
def look(event, args):
    if event.startswith("pickle."):
        frame, names = sys._getframe(1), []
        while frame:
            names.append(frame.f_code.co_filename.replace("\\", "/"))
            frame = frame.f_back
        # numba keeps its own machine code in pickles beside the package's compiled loops.
        if not any("/numba/" in name for name in names):
            asked.append((args, names[:4]))

folder = Path(sys.argv[1])
(folder / "e.tsv").write_text("child\tparent\na\tb\n")
graph = read_edges(folder / "e.tsv").graph
save_graph(graph, folder / "graph", source="own")
save_checkpoint(folder / "p.safetensors", {"w": np.zeros(2)}, {"kind": "x"})
row = '{"id": "1", "bias_type": "age", "condition": "ambiguous", "context": "", "question": "Who?",'
row += ' "option_a": "A", "option_b": "B", "option_c": "Unknown", "neutral": "c", "answer": "c"}'
(folder / "own.jsonl").write_text(row + "\n")
(folder / "own.jsonl.gz").write_bytes(gzip.compress(row.encode()))
(folder / "cases.txt").write_text("A man of 54 coughs.\n")
RunFolder.create(folder / "run")

sys.addaudithook(look)
load(DataSpec("own", folder / "own.jsonl")); load(DataSpec("own", folder / "own.jsonl.gz"))
load(DataSpec("starter")); vignettes(DataSpec("own", folder / "cases.txt"))
read_edges(folder / "e.tsv"); open_graph(folder / "graph", verify=True)
load_checkpoint(folder / "p.safetensors"); read_run(folder / "run")
if len(sys.argv) > 2:
    from askew.models.base import ModelSpec
    from askew.models.local import LocalModel
    from askew.records import Call, Prompt, Sampling
    call = Call(Prompt(text="Who?", choices=(" a", " b")), Sampling(), "target", 0)
    asyncio.run(LocalModel(ModelSpec(name="local/" + sys.argv[2])).ask([call]))
print(json.dumps(asked, default=str))
"""


def read_all(*arguments: Path) -> list[object]:
    done = subprocess.run(
        [sys.executable, "-c", READ_ALL, *map(str, arguments)],
        capture_output=True,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[object] = json.loads(done.stdout.splitlines()[-1])
    return found


def test_reading_any_kind_of_file_asks_pickle_for_nothing(tmp_path):
    assert read_all(tmp_path) == []


def test_an_array_of_objects_in_a_graphs_folder_is_refused(tmp_path):
    import numpy as np

    from askew.errors import DataError
    from askew.graphs.topic_storage import META, _print, open_graph, save_graph
    from askew.graphs.topics import build_graph

    save_graph(build_graph(["a", "b"], [0], [1]), tmp_path / "graph", source="own")
    path = tmp_path / "graph" / "ids.npy"
    np.save(path, np.array([print, print]), allow_pickle=True)
    meta = json.loads((tmp_path / "graph" / META).read_text())
    meta["arrays"]["ids"] |= {"bytes": path.stat().st_size, "print": _print(path)}
    (tmp_path / "graph" / META).write_text(json.dumps(meta))
    with pytest.raises(DataError, match="not a NumPy file"):
        open_graph(tmp_path / "graph")
