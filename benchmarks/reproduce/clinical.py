"""Reproduce a research question of the clinical paper: its printed values beside ours.

    python benchmarks/reproduce/clinical.py clinical_rq1 --data EquityMedQA=~/trinds.csv …
    python benchmarks/reproduce/clinical.py clinical_rq3 --target Mistral-7B --dry-run
    python benchmarks/reproduce/clinical.py clinical_rq5 --smoke --vignettes 2

Every configuration beside this file is one research question, with all its tables and figures.
Ours stand with their 95 % interval, n and seed; the paper prints none of these. Answers are kept in
`runs/reproduce`, where the next question finds them. `--smoke` puts the built-in model in every
role and the starter set in place of the data, with questions edited by rule, to see that everything
works before anything is paid; `--all-models NAME` puts another model in every role.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import math
import sys
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from askew.audits.clinical_judging import judge_names
from askew.datasets import DataSpec
from askew.datasets.vignettes import load
from askew.graphs.ablation import ablation
from askew.report.clinical_layouts import clinical_tables
from askew.report.grid import to_markdown
from askew.run import clinical
from askew.runfile import RunFile, checked
from askew.runfile.clinical import PRESETS
from askew.runfolder import RunFolder

HERE = Path(__file__).parent
GOLDEN = HERE.parent.parent / "tests" / "golden"
BUILT_IN = "builtin/smollm2"
SMOKE_VIGNETTES = 3
DATA = {
    "EquityMedQA": "equitymedqa",
    "DiversityMedQA": "diversity_medqa",
    "Nurse Bias": "zack_cases",
}
STARTER = dict.fromkeys(DATA, "starter")
# The paper's words -> ours.
CELLS = {
    "original": "original|direct",
    "without_multi_hop": "perturbed|direct",
    "with_multi_hop": "perturbed|single",
}
MEASURES = {
    "f1": "bert_score_f1",
    "precision": "bert_score_precision",
    "recall": "bert_score_recall",
    "bertscore": "bert_score_f1",
    "rouge1": "rouge1",
    "rouge2": "rouge2",
    "rougeL": "rouge_l",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """One run of a configuration, by the paper's names."""

    target: str
    data: str
    judges: tuple[str, ...] = ()
    reference: str = ""  # whose answers stand in for the reference; "" = the data have one


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """What the command line says about every run."""

    models: Mapping[str, str]  # the paper's name -> the model in its place
    base_urls: Mapping[str, str]
    paths: Mapping[str, str]  # the paper's name of a data set -> where it lies
    everyone: str | None = None  # one model in every role
    backend: str = "model"
    starter: bool = False
    seed: int = 0
    vignettes: int | None = None
    items: int = 20  # §4.3.3: 20 QAs
    controls: int = 20
    repeats: int = 3  # of every judgement; the paper has one draw

    @property
    def names(self) -> Mapping[str, str]:
        """The paper's name of a data set -> ours."""
        return STARTER if self.starter else DATA


def configurations() -> list[str]:
    """The names of the research questions."""
    return sorted(path.stem for path in HERE.glob("clinical_rq*.toml"))


def wanted_runs(config: Mapping[str, Any]) -> Iterator[Wanted]:
    """The runs of a configuration: one a target and data set."""
    for run in config["runs"]:
        for data in config["data"]:
            yield Wanted(run["target"], data, tuple(run.get("judges", ())))
        for data in config.get("reference_data", ()):
            yield Wanted(run["target"], data, reference=config["reference"])


def run_file(config: Mapping[str, Any], wanted: Wanted, options: Options) -> RunFile:
    """The run file of one run, at the paper's settings where the options say nothing else."""
    source: dict[str, Any] = {"name": options.names[wanted.data]}
    if wanted.data in options.paths and not options.starter:
        source["path"] = options.paths[wanted.data]
    table: dict[str, Any] = {
        **PRESETS["paper"],  # its sizes alone: by its name it would add its judges to every run
        "data": [source],
        "answers": config["forms"],
        "combinations": config["combinations"],
        "attributes": ["age", "gender", "place"],
        "backend": options.backend,
        **({"vignettes": options.vignettes} if options.vignettes else {}),
    }
    models = {"target": _model(wanted.target, options)}
    if wanted.reference:
        # Table 6 compares answers to the plain questions.
        table |= {"backend": "edit", "combinations": [], "arms": ["original"]}
        models["reference"] = _model(wanted.reference, options)
    elif options.backend == "model":
        models |= {role: _model("GPT-4o", options) for role in ("generator", "attacker")}
    for place, judge in enumerate(wanted.judges, start=1):
        models["judge" if place == 1 else f"judge_{place}"] = _model(judge, options)
    if wanted.judges:
        table["judge"] = {
            "kinds": config["kinds"],
            "items": options.items,
            "controls": options.controls,
            "repeats": options.repeats,
        }
    values = {"models": models, "clinical": table, "seed": options.seed}
    return checked(values, where=HERE.name)


def _model(name: str, options: Options) -> dict[str, Any]:
    if options.everyone is not None:
        return {"name": options.everyone}
    known = {_plain(key): table["name"] for key, table in _read("clinical_models").items()}
    given = {_plain(key): model for key, model in options.models.items()}
    urls = {_plain(key): url for key, url in options.base_urls.items()}
    found: dict[str, Any] = {"name": given.get(_plain(name), known[_plain(name)])}
    return found | ({"base_url": urls[_plain(name)]} if _plain(name) in urls else {})


def beside_the_paper(
    layout: str, done: Sequence[tuple[Wanted, Mapping[str, Any]]]
) -> Iterator[str]:
    """One line a printed value: the paper's, and ours with interval, n and seed.

    Args:
        layout: "table-1" and so on; one without a golden file has no lines.
        done: the runs, each with its `estimates.json`.
    """
    golden = GOLDEN / f"clinical_{layout.replace('-', '')}.csv"
    if not golden.is_file() or layout not in _FINDERS:
        return
    with golden.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            *names, printed = _FINDERS[layout][1](row)
            for wanted, estimates in done:
                found = _FINDERS[layout][0](row, wanted, estimates)
                if found is not None:
                    place = "  ".join(names)
                    yield f"{place}  {printed} | {_shown(found)} seed={estimates['seed']}"


# A figure that a run should have and has not; None stands for a run that it is not asked of.
_MISSING = {"value": None, "note": "nothing could be read", "n": 0}


def _table_1(row: dict[str, str], wanted: Wanted, estimates: Mapping[str, Any]) -> Any:
    judge = _judge(row["judge"], wanted, estimates)
    if judge is None or row["dataset"] != wanted.data:
        return None
    sources = estimates["clinical"]["judges"]["quality"].get(judge, {})
    return next(
        (found[key] for found in sources.values() if (key := row["criterion"]) in found), _MISSING
    )


def _table_2(row: dict[str, str], wanted: Wanted, estimates: Mapping[str, Any]) -> Any:
    if _plain(row["target"]) != _plain(wanted.target) or wanted.reference:
        return None
    sets = estimates["clinical"]["reference"].get("single", {})
    cell = sets.get(row["perturbed"].replace("location", "place"), {})
    return cell.get(MEASURES[row["measure"]], {}).get("value", _MISSING)


def _table_3(row: dict[str, str], wanted: Wanted, estimates: Mapping[str, Any]) -> Any:
    judge = _judge(row["judge"], wanted, estimates)
    same = _plain(row["target"]) == _plain(wanted.target) and row["dataset"] == wanted.data
    if judge is None or not same:
        return None
    cells = estimates["clinical"]["judges"]["bias"].get(judge, {})
    return cells.get(CELLS[row["answers"]], {}).get(row["dimension"], _MISSING)


def _table_6(row: dict[str, str], wanted: Wanted, estimates: Mapping[str, Any]) -> Any:
    if _plain(row["model"]) != _plain(wanted.target) or not wanted.reference:
        return None
    cell = estimates["clinical"].get("sweep", {}).get(row["temperature"], {})
    return cell.get(MEASURES[row["measure"]], {}).get("value", _MISSING)


# Layout -> how a printed value is found in a run, and what is printed of its row.
_FINDERS: dict[str, tuple[Any, Any]] = {
    "table-1": (_table_1, lambda r: (r["dataset"], r["judge"], r["criterion"], r["score"])),
    "table-2": (_table_2, lambda r: (r["target"], r["perturbed"], r["measure"], r["bertscore"])),
    "table-3": (
        _table_3,
        lambda r: (
            r["dataset"],
            f"{r['target']} judged by {r['judge']}",
            r["answers"],
            r["dimension"],
            r["score"],
        ),
    ),
    "table-6": (_table_6, lambda r: (r["model"], r["temperature"], r["measure"], r["value"])),
}


def _judge(name: str, wanted: Wanted, estimates: Mapping[str, Any]) -> str | None:
    """What a run calls the judge that the paper names; None where it was not asked."""
    models = {role: model for role, model in estimates["models"].items() if "judge" in role}
    roles = ["judge", *(f"judge_{place}" for place in range(2, len(wanted.judges) + 1))]
    asked = dict(zip(map(_plain, wanted.judges), roles, strict=False))
    role = asked.get(_plain(name))
    return judge_names(models).get(role) if role is not None else None


def relations(data: Sequence[str], options: Options) -> Iterator[str]:
    """Table 5: the paper's counts, and what every rule set of ours extracts from the same texts."""
    with (GOLDEN / "clinical_table5.csv").open(newline="", encoding="utf-8") as file:
        printed = {row["dataset"]: row for row in csv.DictReader(file)}
    for name in data:
        path = None if options.starter else options.paths.get(name)
        loaded = load(DataSpec(options.names[name], path), seed=options.seed)
        texts = [one.text for one in loaded.vignettes][: options.vignettes]
        paper = printed.get(name)
        said = (
            f"paper {paper['without_filtering']} -> {paper['with_filtering']}"
            if paper
            else "not in the paper"
        )
        ours = ", ".join(f"{row.rules} {row.relations}" for row in ablation(texts))
        yield f"{name}  {said} | {ours} n={len(texts)} texts"


def _shown(estimate: Mapping[str, Any]) -> str:
    if estimate["value"] is None:
        return f"undefined ({estimate['note'] or 'nothing could be read'}) n={estimate['n']}"
    ends = (estimate["lower"], estimate["upper"])
    told = ", ".join("–" if end is None or math.isnan(end) else f"{end:.4f}" for end in ends)
    return f"{estimate['value']:.4f} [{told}] n={estimate['n']}"


def _plain(name: str) -> str:
    """A model's name without the signs that the paper's tables write differently."""
    return "".join(sign for sign in name.casefold() if sign.isalnum())


def _read(name: str) -> dict[str, Any]:
    return tomllib.loads((HERE / f"{name}.toml").read_text(encoding="utf-8"))


def _run(run: RunFile) -> RunFolder:
    prepared = clinical.prepare(run.model_copy(update={"out": None}))
    folder = Path("runs/reproduce") / prepared.path.name
    prepared = clinical.prepare(run.model_copy(update={"out": folder}))
    done = asyncio.run(clinical.execute(prepared))
    if done.stopped is not None:
        raise SystemExit(f"{folder}: {done.stopped.message}")
    return done.folder


def _pairs(given: Sequence[str] | None, what: str) -> dict[str, str]:
    found = {}
    for one in given or ():
        name, equals, value = one.partition("=")
        if not equals:
            raise SystemExit(f"--{what} {one}: expected NAME=VALUE")
        found[name] = value
    return found


def _options(parsed: argparse.Namespace) -> Options:
    everyone = parsed.all_models or (BUILT_IN if parsed.smoke else None)
    paths = _pairs(parsed.data, "data")
    if unknown := set(paths) - set(DATA):
        raise SystemExit(f"--data {', '.join(unknown)}: the paper's sets are {', '.join(DATA)}")
    smoke = {"items": 2, "controls": 1, "repeats": 1} if parsed.smoke else {}
    sizes = {name: getattr(parsed, name) for name in ("items", "controls", "repeats")}
    return Options(
        models=_pairs(parsed.model, "model"),
        base_urls=_pairs(parsed.base_url, "base-url"),
        paths={name: str(Path(path).expanduser()) for name, path in paths.items()},
        everyone=everyone,
        backend=parsed.backend or ("edit" if parsed.smoke else "model"),
        starter=parsed.smoke,
        seed=parsed.seed,
        vignettes=parsed.vignettes or (SMOKE_VIGNETTES if parsed.smoke else None),
        **{**smoke, **{name: size for name, size in sizes.items() if size is not None}},
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("configuration", choices=configurations())
    parser.add_argument("--target", action="append", help="one of the paper's targets")
    parser.add_argument("--data", action="append", metavar="NAME=PATH", help="where a set lies")
    parser.add_argument("--model", action="append", metavar="NAME=PROVIDER/MODEL")
    parser.add_argument("--base-url", action="append", metavar="NAME=URL")
    parser.add_argument("--all-models", metavar="PROVIDER/MODEL", help="one model in every role")
    parser.add_argument("--backend", choices=("model", "edit"), help="who perturbs the questions")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--vignettes", type=int, help="at most so many of each set")
    parser.add_argument("--items", type=int, help="QAs that a judge scores, a configuration")
    parser.add_argument("--controls", type=int, help="vignettes that give items to each control")
    parser.add_argument("--repeats", type=int, help="of every judgement")
    parser.add_argument("--smoke", action="store_true", help="built-in model, starter set, few")
    parser.add_argument("--dry-run", action="store_true", help="print the run files only")
    return parser


def main() -> None:
    """Run the configuration that the command line names."""
    parsed = _parser().parse_args()
    options, config = _options(parsed), _read(parsed.configuration)
    targets = {_plain(name) for name in parsed.target or ()}
    runs = [
        (wanted, run_file(config, wanted, options))
        for wanted in wanted_runs(config)
        if not targets or _plain(wanted.target) in targets
    ]
    if parsed.dry_run:
        for wanted, run in runs:
            print(f"# {wanted.target} on {wanted.data}")
            print(run.model_dump_json(indent=2, exclude_defaults=True))
        return
    folders = []
    for wanted, run in runs:
        print(f"{wanted.target} on {wanted.data} …", file=sys.stderr)
        folders.append(_run(run))
    done = [
        (wanted, folder.read_estimates()) for (wanted, _), folder in zip(runs, folders, strict=True)
    ]
    for layout in config["layouts"]:
        _print_layout(layout, config, options, done, folders)
    for folder in folders:
        print(f"Report, with dot-and-interval and radar plots: {folder.report}")


def _print_layout(
    layout: str,
    config: Mapping[str, Any],
    options: Options,
    done: Sequence[tuple[Wanted, Mapping[str, Any]]],
    folders: Sequence[RunFolder],
) -> None:
    print(f"\n{layout}: the paper's value | ours [95 % interval] n seed")
    if layout == "table-5":
        print("\n".join(relations(config["data"], options)))
        return
    if layout == "table-4":
        print((GOLDEN / "clinical_table4.csv").read_text(encoding="utf-8"))
        for folder in folders:
            print(f"Ask people: askew survey export {folder.path}")
        return
    print("\n".join(beside_the_paper(layout, done)))
    for table in clinical_tables(layout, folders, intervals=True):
        print(to_markdown(table))


if __name__ == "__main__":
    main()
