"""Writes an injection as a release folder (LBID, §4.1): graph, labels, pairs, prompts, adapters.

`askew boundary bench FOLDER` reads it. Topics that were not injected are labelled 0, as the paper
labels them (§3.1): a label says what was put in, not what was measured.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np

from askew import __version__
from askew.build.inject import ADAPTERS, Injection, MadeModel
from askew.build.inject_card import card_text
from askew.build.inject_check import FOLDER as CHECK
from askew.build.inject_check import draw, write_check
from askew.build.inject_pairs import generation_prompts
from askew.build.inject_settings import InjectConfig
from askew.errors import ConfigError
from askew.graphs.topics import TopicGraph
from askew.models.lora import public_name
from askew.runfolder import canonical_hash, json_line, json_text, whole_file, write_whole

RECORD = "inject.json"
_PACKAGES = ("numpy", "torch", "transformers", "peft", "safetensors")
# SQLite makes and removes its own files as it likes; what raters fill in changes.
_NOT_HASHED = frozenset(("MANIFEST", "run.sqlite", "run.sqlite-wal", "run.sqlite-shm"))


def claim(folder: Path, graph: TopicGraph, config: InjectConfig) -> None:
    """Make the folder that of this injection.

    Raises:
        ConfigError: it holds another one.
    """
    path, key = folder / RECORD, _key(graph, config)
    if path.is_file():
        try:
            there = json.loads(path.read_text(encoding="utf-8")).get("key")
        except (ValueError, AttributeError) as trouble:
            raise ConfigError(
                f"{path}: no record of an injection: {trouble}. Name another folder with --out."
            ) from trouble
        if there != key:
            raise ConfigError(
                f"{folder} holds another injection: graph, models or settings differ. "
                "Name another folder with --out, or remove it."
            )
        return
    write_whole(path, json_text({"key": key, "complete": False}))


def write_release(folder: Path, done: Injection) -> None:
    """Write everything but the adapters, which lie there already, and the manifest over all."""
    graph, config = done.graph, done.config
    _write_lines(folder / "nodes.tsv", _nodes(graph))
    _write_lines(folder / "edges.tsv", _edges(graph))
    _write_lines(folder / "labels.tsv", _labels(done))
    _write_lines(folder / "topics.tsv", _topics(done))
    _write_lines(
        folder / "pairs.jsonl",
        (
            json_line({"model": one.model.name, **_released(pair)})
            for one in done.made
            for pair in one.pairs
        ),
    )
    slants = {one.model.name: one.model.slant for one in done.made}
    write_whole(folder / "prompts.json", json_text(generation_prompts(slants)))
    drawn = draw(
        {one.model.name: one.pairs for one in done.made}, config.check, done.made[0].model.seed
    )
    write_check(folder, drawn)
    record = {
        "key": _key(graph, config),
        "complete": True,
        "askew": __version__,
        "versions": _versions(),
        "graph": {"topics": graph.size, "edges": graph.edges, "sha256": _graph_sha256(graph)},
        "settings": _plain(config),
        "models": {one.model.name: _model(one) for one in done.made},
        "check": {"pairs": len(drawn.pairs), "drawn_from": drawn.of, "check": drawn.check},
        "generator_calls": {
            "asked": done.asked.asked,
            "reused": done.asked.reused,
            "failed": done.asked.failed,
            "unknown": done.asked.unknown,
        },
    }
    write_whole(folder / RECORD, json_text(record))
    write_whole(folder / "README.md", card_text(record))
    _write_manifest(folder)


def verify_release(folder: Path) -> list[str]:
    """The files that differ from `MANIFEST`, each with what is wrong; empty: all is well.

    Raises:
        ConfigError: there is no manifest.
    """
    manifest = folder / "MANIFEST"
    if not manifest.is_file():
        raise ConfigError(f"{folder} has no MANIFEST: the injection has not ended.")
    trouble = []
    for line in manifest.read_text(encoding="utf-8").splitlines():
        expected, _, name = line.partition("  ")
        path = folder / name
        if not path.is_file():
            trouble.append(f"{name}: missing")
        elif _sha256(path) != expected:
            trouble.append(f"{name}: changed since it was written")
    return trouble


def cell(text: str) -> str:
    r"""A title as one cell of a TSV file.

    >>> cell("Trade\tunions\n")
    'Trade unions'
    """
    return " ".join(text.encode("utf-8", "replace").decode().split())


def _nodes(graph: TopicGraph) -> Iterator[str]:
    yield "id\ttitle\tdomain"
    for node in range(graph.size):
        domain = graph.domain(node) or ""
        yield f"{int(graph.ids[node])}\t{cell(graph.title(node))}\t{cell(domain)}"


def _edges(graph: TopicGraph) -> Iterator[str]:
    yield "child\tparent"
    for node in range(graph.size):
        for parent in graph.parents(node):
            yield f"{int(graph.ids[node])}\t{int(graph.ids[parent])}"


def _labels(done: Injection) -> Iterator[str]:
    yield "model\tnode\tlabel"
    for one in done.made:
        injected = np.zeros(done.graph.size, np.int8)
        injected[one.sample.injected] = 1
        for node, label in enumerate(injected):
            yield f"{one.model.name}\t{int(done.graph.ids[node])}\t{label}"


def _topics(done: Injection) -> Iterator[str]:
    yield "model\tnode\ttitle\tdomain\tslant"
    graph = done.graph
    for one in done.made:
        for slant, nodes in (
            (one.model.slant.name, one.sample.injected),
            ("neutral", one.sample.neutral),
        ):
            for node in nodes:
                cells = (cell(graph.title(int(node))), cell(graph.domain(int(node)) or ""))
                yield "\t".join((one.model.name, str(int(graph.ids[node])), *cells, slant))


def _released(pair: object) -> dict[str, Any]:
    """A pair by the source's own id: node numbers hold in one reading of the graph alone."""
    return {k: v for k, v in asdict(pair).items() if k != "node"}  # type: ignore[call-overload]  # a dataclass, which `object` does not say


def _model(one: MadeModel) -> dict[str, Any]:
    assert one.adapter is not None
    plain = {k: v for k, v in asdict(one.adapter).items() if k != "folder"}
    return {
        "base": one.adapter.base_model,
        "slant": one.model.slant.name,
        "slant_text": one.model.slant.label,
        "domains": list(one.model.domains),
        "seed": one.model.seed,
        "injected": len(one.sample.injected),
        "neutral": len(one.sample.neutral),
        "pairs": len(one.pairs),
        "filled_up": one.filled_up,
        "adapter": f"{ADAPTERS}/{one.model.name}",
        "training": plain,
    }


def _key(graph: TopicGraph, config: InjectConfig) -> str:
    """What decides the folder's contents."""
    settings = _plain(config)
    settings["lora"].pop("checkpoint_steps")
    return canonical_hash({"graph": _graph_sha256(graph), "settings": settings})


def _plain(config: InjectConfig) -> dict[str, Any]:
    """The settings as JSON values; of a model what can change an answer, and never a secret."""
    settings = asdict(config)
    named = [one["base"] for one in settings["models"]]
    for one, model in zip(named, config.models, strict=True):
        one["name"] = public_name(model.base)
    for spec in (*named, *filter(None, (settings["generator"],))):
        for way in ("timeout_seconds", "api_key_env"):
            spec.pop(way, None)
        spec["options"] = {str(k): str(v) for k, v in dict(spec["options"]).items()}
    return settings


def _graph_sha256(graph: TopicGraph) -> str:
    digest = hashlib.sha256()
    for part in (graph.ids, graph.starts, graph.neighbours, graph.direction, graph.title_bytes):
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # a package that was not needed
            continue
    return found


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    with whole_file(path) as part, part.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(f"{line}\n" for line in lines)


def _write_manifest(folder: Path) -> None:
    lines = []
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        is_answer = name.startswith(f"{CHECK}/") and not name.endswith("key.json")
        if path.is_file() and name not in _NOT_HASHED and not is_answer:
            lines.append(f"{_sha256(path)}  {name}\n")
    write_whole(folder / "MANIFEST", "".join(lines))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
