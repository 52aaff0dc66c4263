"""Reproduce a table or figure of FLEX: the paper's value beside ours, with interval and count.

    python benchmarks/reproduce/flex.py flex_table_1 --published ~/FLEX --data ~/FLEX
    python benchmarks/reproduce/flex.py flex_table_1 --model Gemma-7b --dry-run

Every configuration beside this file names one published table or figure. Answers are kept in
`runs/reproduce`, where the next table finds them. `--smoke` puts the built-in model in place of the
paper's and draws a few items, to see that everything works before weights are fetched.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from askew.report import table as tables
from askew.run import execute, prepare
from askew.runfile import RunFile, checked
from askew.runfolder import RunFolder

HERE = Path(__file__).parent
GOLDEN = HERE.parent.parent / "tests" / "golden"
SMOKE = {"name": "builtin/smollm2", "scoring": "letters", "temperature": 0.0}


def configurations() -> list[str]:
    """The names of the tables and figures that can be reproduced."""
    models = "flex_models"
    return sorted(path.stem for path in HERE.glob("flex_*.toml") if path.stem != models)


def run_files(
    name: str,
    *,
    models: list[str] | None = None,
    data: Path | None = None,
    published: Path | None = None,
    smoke: bool = False,
) -> Iterator[tuple[str, RunFile]]:
    """The run files of a configuration: one a model, number of shots and kind of shots."""
    wanted = _read(name)
    table_5 = {"SmolLM2": SMOKE} if smoke else _read("flex_models")
    for model, table in table_5.items():
        if models and model not in models:
            continue
        for shots in wanted["shots"]:
            for kind in wanted["shot_kinds"] if shots else wanted["shot_kinds"][:1]:
                yield model, _run_file(wanted, table, shots, kind, data, published, smoke)


def _run_file(
    wanted: dict[str, Any],
    model: dict[str, Any],
    shots: int,
    kind: str,
    data: Path | None,
    published: Path | None,
    smoke: bool,
) -> RunFile:
    source = {"name": "flex", **({"path": str(data)} if data else {})}
    flex = {
        "data": [source],
        "prompt": model.get("prompt", "flex"),
        "scoring": model["scoring"],
        "scenarios": wanted.get("scenarios", "assigned"),
        "shots": shots,
        "shot_kind": kind,
        "wording": {
            "persona_style": "paper",
            **({"published": str(published)} if published else {}),
        },
        **({"items": 4, "controls": 60} if smoke else {}),
    }
    target = {"name": model["name"], "temperature": model["temperature"]}
    if model["name"].startswith("local/"):
        target["options"] = {"download": True}  # from the hub, by the paper's ids
    return checked({"models": {"target": target}, "flex": flex}, where=HERE.name)


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))


def _run(run: RunFile) -> RunFolder:
    prepared = prepare(run.model_copy(update={"out": None}))
    folder = Path("runs/reproduce") / prepared.path.name
    prepared = prepare(run.model_copy(update={"out": folder}))
    made, answers = asyncio.run(execute(prepared))
    if answers.stopped:
        raise SystemExit(f"{folder}: {answers.message}")
    return made


def _print_beside_the_paper(golden: str, figures: dict[str, dict[str, object]]) -> None:
    with (GOLDEN / golden).open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["model"] in figures:
                print(_beside(row, figures[row["model"]]))


def _beside(row: dict[str, str], estimates: dict[str, Any]) -> str:
    source = row.get("source")
    category = row["category"]
    cells = []
    for figure in ("source_accuracy", "flex_accuracy", "attack_success_rate"):
        by = estimates["flex"][figure]
        if category == "average":
            ours = by["source_average"][source] if source else by["average"]
        else:
            ours = by["source_category"][source][category] if source else by["category"][category]
        cells.append(f"{row[figure]} | {_shown(ours)}")
    return "  ".join([row["model"].ljust(12), (source or "").ljust(12), category.ljust(21), *cells])


def _shown(estimate: dict[str, Any]) -> str:
    if estimate["value"] is None:
        return "undefined"
    ends = [
        ("–" if end is None else f"{end:.4f}") for end in (estimate["lower"], estimate["upper"])
    ]
    return f"{estimate['value']:.4f} [{ends[0]}, {ends[1]}] n={estimate['n']}"


def main() -> None:
    """Run the configuration that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("configuration", choices=configurations())
    parser.add_argument("--model", action="append", help="one of Table 5's short names")
    parser.add_argument("--data", type=Path, help="folder with the released items")
    parser.add_argument("--published", type=Path, help="your clone of the FLEX release")
    parser.add_argument("--smoke", action="store_true", help="a few items, the built-in model")
    parser.add_argument("--dry-run", action="store_true", help="print the run files only")
    options = parser.parse_args()
    runs = list(
        run_files(
            options.configuration,
            models=options.model,
            data=options.data,
            published=options.published,
            smoke=options.smoke,
        )
    )
    if options.dry_run:
        for model, run in runs:
            print(f"# {model}\n{run.model_dump_json(indent=2, exclude_defaults=True)}")
        return
    estimates = [(model, _run(run).read_estimates()) for model, run in runs]
    wanted = _read(options.configuration)
    if golden := wanted.get("golden"):
        print("the paper's value | ours [95 % interval] n, for Acc_S, Acc_F, ASR")
        _print_beside_the_paper(golden, dict(estimates))
    layout = getattr(tables, wanted["layout"].replace("-", "_"))
    print(tables.to_markdown(layout([figures for _, figures in estimates])))


if __name__ == "__main__":
    main()
