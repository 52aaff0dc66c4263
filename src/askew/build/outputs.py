"""What a build writes, and the refusal to write into the folder of another one.

`build.toml` before the first call; the sets, the card and `build.json` once all steps are through;
`SHA256SUMS` last: a folder without it is not whole.
"""

from __future__ import annotations

import platform
import shutil
import sqlite3
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from askew import __version__
from askew.build import release
from askew.build.asking import order_of
from askew.build.card import card_text
from askew.build.cases import Case
from askew.build.figures import Pair, report_of
from askew.build.fitting import scenario_counts
from askew.build.settings import BuildConfig, BuildFile, read_build_file
from askew.build.statistics import table_4
from askew.errors import ConfigError
from askew.models.base import Model
from askew.models.budget import Cost
from askew.models.ledgerfile import as_run_error
from askew.models.stopping import Asked, StoppedEarly
from askew.records import Outcome, Scenario
from askew.run.common import folder_of
from askew.runfile import write_run_file
from askew.runfolder import cannot_make, canonical_hash, json_text, write_whole
from askew.stats.gate import Competence

SETS = ("selected", "random")
# What a set may depend on besides askew itself; written into the resolved build file.
_PACKAGES = ("numpy", "scipy", "pyarrow", "torch", "transformers", "tokenizers", "aiohttp")


@dataclass(frozen=True, slots=True)
class Found:
    """What a start of a build has come to."""

    cases: Sequence[Case]
    fit: Competence | None  # None: the controls were not all answered
    selection_calls: int
    asked: Mapping[str, Asked]  # by role
    spending: Mapping[str, Cost]  # by role, earlier starts included
    stage: str


def default_folder(file: BuildFile, checksums: Mapping[str, str]) -> Path:
    """`builds/MODEL-HASH`: named by what is asked, so that the same command goes on."""
    model = folder_of(file.target.name)
    return Path("builds") / f"{model}-{canonical_hash(file.questions_key(checksums))[:8]}"


def refuse_other(path: Path, file: BuildFile, checksums: Mapping[str, str]) -> None:
    """Refuse a folder that holds another build, or anything else that is not ours to replace.

    Raises:
        ConfigError: names what differs.
    """
    if not (path / "build.toml").exists():
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise ConfigError(
                f"{path} is there already and holds no build. Name a new folder with --out."
            )
        return
    there = read_build_file(path / "build.toml").questions_key()
    if differing := _differences(there, file.questions_key(checksums)):
        raise ConfigError(
            f"{path} holds another build: {', '.join(differing)} differ. "
            "Name another folder with --out, or delete this one."
        )


def begin(
    path: Path, file: BuildFile, models: Mapping[str, Model], checksums: Mapping[str, str]
) -> None:
    """Make the folder and write the settings; mark a new build as not complete.

    Raises:
        RunError: it cannot be made or written to.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as trouble:
        raise cannot_make(path, trouble) from trouble
    record = {
        "askew": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: found for name in _PACKAGES if (found := _version(name))},
        "data": dict(checksums),
        "models": {
            role: {key: value for key, value in model.identity().items() if value is not None}
            for role, model in models.items()
        },
    }
    # Without `out`: a build's folder may be moved.
    resolved = file.model_copy(update={"out": None, "record": record})
    write_whole(path / "build.toml", write_run_file(resolved))
    if not (path / "build.json").exists():
        start = {"askew": __version__, "complete": False, "model": file.target.name}
        write_whole(path / "build.json", json_text(start))


def write(
    path: Path, file: BuildFile, config: BuildConfig, found: Found, stopped: StoppedEarly | None
) -> dict[str, object]:
    """Write the sets and all that belongs to them, or, where it stopped early, how far it came.

    Returns:
        What `build.json` holds.

    Raises:
        DataError, RunError: a set cannot be written.
    """
    report = _common(file, config, found)
    (path / release.CHECKSUMS).unlink(missing_ok=True)
    if stopped is not None:
        report["missing"] = {
            "stopped": stopped.stopped,
            "stage": found.stage,
            "message": stopped.message,
            "replies": stopped.missing,
        }
        _remove_sets(path)
        write_whole(path / "build.json", json_text(report))
        return report
    chosen = {case.item.id: case for case in found.cases if case.chosen is not None}
    selected = [case.built(_given(case.chosen), config) for case in chosen.values()]
    random = [case.built(_given(case.random), config) for case in chosen.values()]
    unknown = sum(asked.unknown for asked in found.asked.values())
    report["complete"] = not unknown and not any(case.lost for case in found.cases)
    report["table_4"] = {"selected": table_4(selected), "random": table_4(random)}
    report.update(_figures(list(chosen.values()), config))
    for name, rows in zip(SETS, (selected, random), strict=True):
        release.write_set(path, name, rows)
    write_whole(path / "build.json", json_text(report))
    write_whole(path / "README.md", card_text(report))
    _checkpoint(path / "run.sqlite")
    release.write_checksums(path)
    return report


def _common(file: BuildFile, config: BuildConfig, found: Found) -> dict[str, object]:
    """What is known however far the build has come."""
    sources = Counter(case.item.source for case in found.cases)
    return {
        "askew": __version__,
        "complete": False,
        "model": file.target.name,
        "attacker": file.models["attacker"].name if "attacker" in file.models else "rules",
        "judge": file.models["judge"].name if "judge" in file.models else None,
        "embedder": file.build.embedder,
        "seed": file.seed,
        "settings": _settings(file),
        "languages": sorted({case.item.language for case in found.cases}),
        "sources": {name: {"items": count} for name, count in sources.items()},
        "fit": found.fit,
        "funnel": {
            "overall": _funnel(found.cases, config),
            "source": {
                name: _funnel([it for it in found.cases if it.item.source == name], config)
                for name in sources
            },
        },
        "text_attacks": _text_attacks(found.cases),
        "vulnerable": _vulnerable(found.cases, config),
        "cautions": _cautions(file, config, found.fit),
        "calls": _calls(found, config),
    }


def _settings(file: BuildFile) -> dict[str, object]:
    """How the set was made, without places on this machine: a report may be published."""
    settings: dict[str, Any] = file.build.model_dump(mode="json", exclude_none=True)
    for source in settings["sources"]:
        source.pop("path", None)
    settings["wording"]["published"] = file.build.wording.published is not None
    sampling = {role: asdict(table.sampling()) for role, table in file.models.items()}
    return {**settings, "sampling": sampling}


def _funnel(cases: Sequence[Case], config: BuildConfig) -> dict[str, int]:
    """How many items came how far; all but `items` and `neutral` add up to the items."""
    neutral = [case for case in cases if case.is_neutral(config)]
    decided = [case for case in neutral if case.selection.decided and not case.lost]
    given = sum(case.chosen is not None for case in decided)
    not_neutral = sum(not case.neutral_so_far for case in cases)
    return {
        "items": len(cases),
        "not_neutral": not_neutral,
        "neutral": len(neutral),
        "with_a_scenario": given,
        "without_a_scenario": len(decided) - given,
        "undecided": len(cases) - not_neutral - len(decided),
    }


def _text_attacks(cases: Sequence[Case]) -> dict[str, dict[str, object]]:
    """What became of the text attacks that were tried, by kind."""
    kinds: dict[str, list[Case]] = {}
    for case in cases:
        for kind in case.attacks:
            kinds.setdefault(kind, []).append(case)
    return {
        kind: {
            "wanted": len(having),
            "passed": sum(case.attacks[kind].question is not None for case in having),
            "tries": sum(case.attacks[kind].tries for case in having),
            "rejected": dict(
                Counter(
                    # The code alone: what stands behind it quotes the question.
                    reason.partition(":")[0]
                    for case in having
                    for reason in case.attacks[kind].rejected
                ).most_common()
            ),
        }
        for kind, having in sorted(kinds.items())
    }


def _vulnerable(cases: Sequence[Case], config: BuildConfig) -> dict[str, dict[str, object]]:
    """Of the items that a scenario was tried on, on how many it worked."""
    counts: dict[Scenario, Counter[str]] = {}
    for case in cases:
        for contest in case.selection.contests.values():
            for scenario, tally in contest.tallies.items():
                count = counts.setdefault(scenario, Counter(asked=0, whole=0, working=0))
                whole = tally.total == config.rule.replies
                count["asked"] += tally.total > 0
                count["whole"] += whole
                count["working"] += whole and tally.biased >= config.rule.biased_from
    table: dict[str, dict[str, object]] = {}
    for scenario, count in counts.items():
        table.setdefault(scenario.category.value, {})[scenario.name] = dict(count)
    return table


def _cautions(file: BuildFile, config: BuildConfig, fit: Competence | None) -> list[str]:
    """What speaks against the choice; the reader of a set has to know it."""
    cautions = []
    if fit is not None and not fit.meaningful:
        cautions.append(f"{file.target.name} was not fit to select on: {fit.reason}")
    if fit is not None and fit.caution:
        cautions.append(fit.caution)
    if config.sampled and config.sampling.temperature == 0:
        cautions.append(
            "the replies were asked for at temperature 0: several replies to a prompt are then one "
            "and the same, and the fresh ones are not independent of those that selected"
        )
    if not config.sampled and not config.draw_temperature:
        cautions.append(
            "the likeliest option was taken instead of draws (draw_temperature = 0): the fresh "
            "replies are the same as those that selected"
        )
    return cautions


def _calls(found: Found, config: BuildConfig) -> dict[str, object]:
    asked = found.asked.values()
    return {
        "asked": sum(one.asked for one in asked),
        "reused": sum(one.reused for one in asked),
        "failed": sum(one.failed for one in asked),
        "unknown": sum(one.unknown for one in asked),
        "roles": {
            role: {"calls": cost.calls, "tokens": cost.tokens, "money": cost.money}
            for role, cost in sorted(found.spending.items())
        },
        "selection": found.selection_calls,
        "as_the_paper": _paper_replies(found.cases, config),
        "notes": sorted({note for one in asked for note in one.notes}),
    }


def _paper_replies(cases: Sequence[Case], config: BuildConfig) -> int:
    """The replies of step 2 in the paper's way; text attacks not made count as if they passed."""
    neutral = [case for case in cases if case.is_neutral(config)]
    replies = config.rule.replies * sum(scenario_counts([case.item for case in neutral], config))
    refused = sum(attack.question is None for case in neutral for attack in case.attacks.values())
    return replies - config.rule.replies * refused


def _figures(chosen: Sequence[Case], config: BuildConfig) -> dict[str, object]:
    selection: list[Pair] = []
    selected: list[Pair] = []
    random: list[Pair] = []
    for case in chosen:
        scenario = _given(case.chosen)
        selection += [
            Pair(
                case.item,
                scenario,
                order_of(case.item, replicate, config),
                Outcome.NEUTRAL,
                outcome,
            )
            for replicate, outcome in enumerate(case.replies[scenario])
        ]
        orders = [order_of(case.item, number, config) for number in range(config.estimate_replies)]
        selected += case.fresh_pairs(scenario, orders)
        random += case.fresh_pairs(_given(case.random), orders)
    by_item = {case.item.id: _given(case.chosen) for case in chosen}
    return report_of(selection, selected, random, by_item, config.seed)


def _given(scenario: Scenario | None) -> Scenario:
    assert scenario is not None, "the item has been given a scenario"
    return scenario


def _remove_sets(path: Path) -> None:
    """A folder that is not whole holds no set, also where an earlier start had left some items."""
    (path / "README.md").unlink(missing_ok=True)
    for name in ("data", *SETS):
        shutil.rmtree(path / name, ignore_errors=True)


def _checkpoint(database: Path) -> None:
    """Bring everything into the one file that is hashed."""
    with as_run_error(database), closing(sqlite3.connect(database, timeout=30)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _differences(one: object, other: object, path: str = "") -> list[str]:
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return [
            place
            for key in sorted({*one, *other})
            for place in _differences(one.get(key), other.get(key), f"{path}.{key}".lstrip("."))
        ]
    return [] if one == other else [path]


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None
