"""The card of an injection's release: `README.md`, with front matter for Hugging Face."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from askew.report.filed.card_parts import size_category
from askew.report.markup import at, code, count, mapping, said, table, yaml_list, yaml_text
from askew.runfolder import json_text

_CONFIGS = {
    "pairs": "pairs.jsonl",
    "labels": "labels.tsv",
    "topics": "topics.tsv",
    "nodes": "nodes.tsv",
    "edges": "edges.tsv",
}


def card_text(record: Mapping[str, object]) -> str:
    """The card, front matter first.

    Args:
        record: what `inject.json` holds; any part may be missing.
    """
    plain: Mapping[str, Any] = json.loads(json_text(record))
    models = mapping(plain.get("models"))
    pairs = sum(int(at(one, "pairs") or 0) for one in models.values())
    return "\n".join(
        [
            _front_matter(models, pairs),
            "",
            "# Language models whose leanings are known",
            "",
            f"{len(models)} models, each fine-tuned to lean on known topics of a graph of "
            f"{count(at(plain, 'graph', 'topics'))} topics and "
            f"{count(at(plain, 'graph', 'edges'))} edges: a test bed for methods that find where a "
            "model cannot be trusted. Made by askew after LBID (GMRL-BD, §4.1).",
            "",
            "**The slanted answers argue for a side on purpose, and the adapters make a model do "
            "so. Use them to test audits, not to inform anybody.**",
            "",
            _models(models),
            "",
            "## Files",
            "",
            "- `nodes.tsv`, `edges.tsv`: the graph; an edge leads from child to parent",
            "- `labels.tsv`: model, node id, 1 where the model was made to lean. 0 says that "
            "nothing was put in, not that the model was found clean there",
            "- `topics.tsv`: the injected topics and those trained to stay neutral",
            "- `pairs.jsonl`: every question and answer that was learned",
            "- `prompts.json`: templates, instructions and the generator's prompts",
            "- `adapters/`: a LoRA adapter a model, safetensors; name its folder as `adapter` of "
            "the base model",
            "- `check/`: a sample of the pairs for people to judge, blind, with its key",
            "- `inject.json`: settings, seeds, versions, checksums; `MANIFEST`: sha256 of all "
            "files",
            "",
            "`askew boundary bench` on this folder measures search methods on its labels.",
            "",
            "## How it was made",
            "",
            _made(plain),
            "",
        ]
    )


def _front_matter(models: Mapping[str, Any], pairs: int) -> str:
    size = size_category(pairs)
    bases = sorted({str(at(one, "base")) for one in models.values() if at(one, "base")})
    lines = [
        f"pretty_name: {yaml_text('Language models whose leanings are known')}",
        *yaml_list("license", ["other"]),
        *yaml_list("language", ["en"]),
        *yaml_list("task_categories", ["question-answering", "text-generation"]),
        *yaml_list("size_categories", [size]),
        *yaml_list("tags", ["bias", "audit", "lora", "knowledge-graph", "askew"]),
        *yaml_list("base_models", bases),
        "configs:",
    ]
    for name, file in _CONFIGS.items():
        lines += [f"- config_name: {name}", f"  data_files: {file}"]
    return "\n".join(["---", *lines, "---"])


def _models(models: Mapping[str, Any]) -> str:
    rows = [
        [
            code(name),
            code(said(at(one, "base"))),
            code(said(at(one, "slant_text"))),
            ", ".join(map(code, map(str, at(one, "domains") or []))) or "any",
            count(at(one, "injected")),
            count(at(one, "neutral")),
            count(at(one, "pairs")),
            code(said(at(one, "seed"))),
        ]
        for name, one in sorted(models.items())
    ]
    head = ["model", "base", "slant", "domains", "injected", "neutral", "pairs", "seed"]
    return table(head, rows) if rows else "No model was made."


def _made(record: Mapping[str, Any]) -> str:
    lora = mapping(at(record, "settings", "lora"))
    asked = mapping(record.get("generator_calls"))
    generator = at(record, "settings", "generator", "name")
    filled = sum(int(at(one, "filled_up") or 0) for one in mapping(record.get("models")).values())
    checked = mapping(record.get("check"))
    lines = [
        f"topics: {code(said(at(record, 'settings', 'topics')))} a domain, spread "
        f"{code(said(at(record, 'settings', 'spread')))}; "
        f"{code(said(at(record, 'settings', 'pairs')))} pairs a topic",
        f"pairs by {code(str(generator)) if generator else 'templates'}"
        + (f"; {count(filled)} by template where its reply could not be read" if filled else ""),
        *(
            [f"generator's calls: {count(asked.get('asked'))}, {count(asked.get('failed'))} failed"]
            if generator
            else []
        ),
        "LoRA: " + ", ".join(f"{key} {code(said(value))}" for key, value in sorted(lora.items())),
        f"for people to check: {count(checked.get('pairs'))} of {count(checked.get('drawn_from'))} "
        "pairs; `askew boundary inject check` reads what they say",
        f"askew {code(said(record.get('askew')))}",
    ]
    return "\n".join(f"- {line}" for line in lines)
