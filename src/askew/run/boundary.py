"""A run of the boundary audit, from a run file to a folder that has its figures and its report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from askew.audits.boundary import Found, SearchConfig, search
from askew.audits.boundary_figures import boundary_figures
from askew.audits.boundary_questions import QuestionSets
from askew.audits.boundary_records import TopicTest
from askew.audits.boundary_test import TopicTester, visit
from askew.audits.boundary_verdicts import AnswerJudge, recorded_keys, rejudge, to_observation
from askew.audits.stages import Stages, Watch
from askew.errors import AskewError, ConfigError, DataError, RunError
from askew.graphs.topic_storage import open_graph, save_graph
from askew.graphs.topics import TopicGraph
from askew.models.base import Ability, Model
from askew.models.embedder import Embedder, load_embedder
from askew.models.interrupts import Interrupts
from askew.models.ledger import Ledger
from askew.models.ledgerfile import count_received, read_records
from askew.models.registry import load_model
from askew.models.stopping import Asked, StoppedEarly, StoppingRunner
from askew.models.weights import file_sha256
from askew.privacy.locality import kept_local
from askew.report.page import write_report
from askew.run.boundary_graph import load_part, title_vectors, vectors_for
from askew.run.common import (
    check_prices,
    default_folder,
    engine_of,
    held_folder,
    keep_figures,
    keep_settings,
    part_figures,
    refuse_imported,
    refuse_remote,
    runner_terms,
)
from askew.run.judge_form import judge_form, judged_as_begun
from askew.runfile import BoundaryTable, RunFile, read_run_file
from askew.runfile.boundary import READING
from askew.runfolder import RunFolder
from askew.search.game import UNTESTED, Board, Policy
from askew.search.policies import policy as load_policy

# A graph up to this size is kept in the run folder; of a larger one its checksum.
KEPT_TOPICS = 50_000


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything a run needs, settled and read, before the first call."""

    run: RunFile
    path: Path
    models: Mapping[str, Model]  # by role
    graph: TopicGraph  # the part that is searched
    start: int | None
    sets: QuestionSets
    policy: Policy
    checksums: Mapping[str, str]

    @property
    def table(self) -> BoundaryTable:
        """The audit's settings."""
        return _table(self.run)

    @property
    def target(self) -> Model:
        """The model under audit."""
        return self.models["target"]

    @property
    def paid(self) -> bool:
        """Whether a call of any role may cost money."""
        return any(model.paid for model in self.models.values())

    @property
    def tests(self) -> int:
        """Topics that are tested, at most."""
        return min(self.table.queries, self.graph.size)


@dataclass(frozen=True, slots=True)
class Remaining:
    """What the policy's belief gives the topics that were not tested, at the end of the search."""

    probabilities: tuple[float, ...]  # in the order of the graph


@dataclass(frozen=True, slots=True)
class Done:
    """What came of a run: its folder, and what is missing."""

    folder: RunFolder
    asked: Mapping[str, Asked]  # by role
    stopped: StoppedEarly | None
    tests: Sequence[TopicTest]

    @property
    def incomplete(self) -> bool:
        """Whether replies are missing."""
        return self.stopped is not None or any(
            one.failed or one.unknown for one in self.asked.values()
        )


@kept_local
def prepare(run: RunFile, target: Model | None = None) -> Prepared:
    """Settle the settings, read graph, policy and question sets; asks nothing.

    Args:
        run: the settings, with a `[boundary]` table.
        target: the model under audit, where it is at hand; None loads it by its name.

    Raises:
        ConfigError, DataError, MissingDependency: the run cannot be made as it is written.
    """
    table = _table(run)
    if run.out is not None:
        refuse_imported(run.out)
    models = {
        role: target if role == "target" and target is not None else load_model(one.spec())
        for role, one in run.models.items()
    }
    for role, model in models.items():
        refuse_remote(run, model)
        if Ability.REPLY not in model.abilities:
            raise ConfigError(
                f"{model.name} cannot write replies, which the {role} of a boundary audit has to. "
                "Name another model."
            )
    if "judge" not in models and not table.slant:
        raise ConfigError(
            "nobody judges the answers. Name a judge (--judge provider/model, [models.judge]), or "
            "the slant that a rule looks for (--slant any, boundary.slant)."
        )
    if "judge" in models and (table.slant or table.slant_references is not None):
        raise ConfigError(
            f"{models['judge'].name} judges the answers, and a slant is named that a rule would "
            "look for: only one of them can judge. Leave out the judge (--judge, [models.judge]), "
            "or boundary.slant and boundary.slant_references."
        )
    check_prices(run, models)
    _stance(run.model_copy(update={"boundary": table.settled()}))
    table.test_config({role: one.sampling() for role, one in run.models.items()})
    graph = load_part(table)
    run = run.model_copy(update={"boundary": vectors_for(table, graph)}).settled()
    sets = QuestionSets.read(table.question_sets) if table.question_sets else QuestionSets()
    checksums = {"graph": graph.checksum}
    for name in ("checkpoint", "question_sets", "slant_references"):
        if (path := getattr(table, name)) is not None:
            checksums[name] = _file_checksum(path)
    path = run.out or default_folder(run, checksums)
    return Prepared(
        run=judged_as_begun(run, path),
        path=path,
        models=models,
        graph=graph,
        start=None if table.start is None else graph.node_of(table.start),
        sets=sets,
        policy=_policy(table),
        checksums=checksums,
    )


@kept_local
async def execute(
    prepared: Prepared,
    watch: Callable[[Found], None] | None = None,
    watch_calls: Watch | None = None,
    interrupts: Interrupts | None = None,
) -> Done:
    """Test topics until the queries are used up, then measure and report.

    A run that stops early (budget, Ctrl-C, endpoint down) leaves a folder with the figures of what
    it has, marked as incomplete. Run again, it makes the same picks from the recorded replies and
    goes on where it stopped.

    Args:
        prepared: what to search.
        watch: told how far the search has come.
        watch_calls: told how far the calls of each batch have come.
        interrupts: counts what asks the run to stop, where signals do not arrive.
    """
    run, table, graph = prepared.run, prepared.table, prepared.graph
    with held_folder(run, prepared.path, prepared.checksums) as folder:
        keep_settings(folder, run, prepared.checksums, prepared.models)
        if graph.size <= KEPT_TOPICS and not _is_kept(graph, folder.path / "graph"):
            save_graph(
                graph, folder.path / "graph", source="what this run searched", overwrite=True
            )
        asked = {role: Asked() for role in prepared.models}
        stopped: StoppedEarly | None = None
        tests: Sequence[TopicTest] = ()

        def keep(so_far: Sequence[TopicTest]) -> None:
            nonlocal tests
            tests = so_far

        with engine_of(run) as engine, Ledger.open(folder.database, "boundary") as ledger:
            runners = {
                role: StoppingRunner(
                    ledger, asked[role], **runner_terms(run, role, interrupts, engine)
                )
                for role in prepared.models
            }
            stages = Stages(prepared.models, runners, watch_calls)
            config = table.test_config({role: one.sampling() for role, one in run.models.items()})
            tester = TopicTester(stages, config, judge=_stance(run), sets=prepared.sets)
            embedder = _answer_embedder(prepared.policy)

            async def test(nodes: Sequence[int]) -> Sequence[TopicTest]:
                return await tester.test([visit(graph, node, 0) for node in nodes])

            board = Board(graph, title_vectors(graph, table.vectors), table.queries, table.variant)
            try:
                await search(
                    board,
                    prepared.policy,
                    SearchConfig(table.batch, table.probes, prepared.start, run.seed),
                    test,
                    lambda one: to_observation(one, embedder),
                    keep,
                    watch,
                )
            except StoppedEarly as stop:
                stopped = stop
            finally:
                folder.write_parts("topic test", tests)
                folder.write_parts("remaining", _remaining(board, prepared.policy, len(tests)))
                for model in prepared.models.values():
                    await model.close()
            spent = ledger.spent()
        tester.sets.write(folder.path / "questions.jsonl")
        calls = {
            "by_role": {role: _summary(one) for role, one in asked.items()},
            "by_stage": dict(stages.calls),
            "spent": {role: asdict(cost) for role, cost in spent.items()},
            "stopped": stopped.stopped if stopped else None,
            "message": stopped.message if stopped else "",
            "judge_faults": dict(tester.counts.judge_faults),
            "question_faults": dict(tester.counts.questions.faults),
        }
        _report(folder, run, calls, graph)
    return Done(folder, asked, stopped, tests)


def rescore(path: Path, changes: Mapping[str, object] | None = None) -> RunFolder:
    """Read the recorded replies again and write figures and report anew; asks no model.

    The topics stay those that the search has picked, by what it was told then.

    Args:
        path: the run folder.
        changes: settings to read the replies by, e.g. {"boundary.threshold": 0.8}.

    Raises:
        ConfigError: a change is no setting, or its value is none that it takes.
        RunError: a change would need other questions than were asked, or the graph is not there.
    """
    folder = RunFolder.open(path)
    before = read_run_file(folder.settings).part("boundary")
    run = read_run_file(folder.settings, changes).part("boundary")
    if asked_by(run) != asked_by(before) or judge_form(run) != judge_form(before):
        raise RunError(
            f"{path}: {', '.join(changes or ())} would change what is asked, not how the replies "
            "are read. Start another run with `askew run`."
        )
    tests, graph = kept_tests(folder), run_graph(folder, run)  # before anything is written
    recorded = {record.key: record.reply for record in read_records(folder.database)}
    needed = {
        key: recorded.get(key) for role in ("target", "judge") for key in recorded_keys(tests, role)
    }
    config = _table(run).test_config({role: one.sampling() for role, one in run.models.items()})
    tests = rejudge(tests, needed, config, _stance(run))
    kept = part_figures(folder, "boundary")
    folder.write_parts("topic test", tests)
    _report(folder, run, kept.get("calls", {}), graph)
    return folder


def _is_kept(graph: TopicGraph, folder: Path) -> bool:
    """Whether the folder holds this graph, whole."""
    try:
        return open_graph(folder, verify=True).checksum == graph.checksum
    except DataError:
        return False


def kept_tests(folder: RunFolder) -> list[TopicTest]:
    """The tests of a run, which are written when it ends or stops.

    Raises:
        RunError: it was killed before it could write any; what was answered is in its ledger.
    """
    if not part_figures(folder, "boundary"):
        raise RunError(
            f"{folder.path}: the run was cut off before it wrote its tests down. Start the same "
            f"command again, or `askew run {folder.settings}`: what was answered is not asked "
            "again."
        )
    return list(folder.read_parts("topic test", TopicTest))


def run_graph(folder: RunFolder, run: RunFile) -> TopicGraph:
    """The graph that a run has searched.

    Raises:
        RunError: it is not kept in the folder, and what lies where it was read is another.
    """
    if (folder.path / "graph").is_dir():
        return open_graph(folder.path / "graph").graph
    try:
        graph = load_part(_table(run))
    except AskewError as trouble:
        raise RunError(
            f"{folder.path}: the graph that was searched is not in the folder, as it is large, and "
            f"cannot be read where it lay: {trouble}"
        ) from trouble
    if graph.checksum != run.record.get("data", {}).get("graph"):
        raise RunError(
            f"{folder.path}: the graph {_table(run).graph} is not the one that was searched. Put "
            "that one back, or start another run."
        )
    return graph


def _report(
    folder: RunFolder,
    run: RunFile,
    calls: object,
    graph: TopicGraph,
) -> None:
    table = _table(run)
    remaining = folder.read_parts("remaining", Remaining)
    figures = boundary_figures(
        folder.read_parts("topic test", TopicTest),
        graph,
        run.seed,
        remaining=np.array(remaining[0].probabilities) if remaining else None,
        calls=count_received(folder.database, "boundary"),
    )
    keep_figures(folder, run, {**figures, "settings": _settings(table)}, calls)
    write_report(folder, graph)
    folder.write_manifest()


def _remaining(board: Board, policy: Policy, tested: int) -> list[Remaining]:
    """Nothing where the policy has no belief, the graph is large or no test was made."""
    belief = getattr(policy, "belief", None)
    if belief is None or not tested or board.graph.size > KEPT_TOPICS:
        return []
    # A topic that was picked and not tested, as the run stopped, is left as well.
    left = np.flatnonzero(board.label == UNTESTED).astype(np.int32)
    return [Remaining(tuple(map(float, belief.probabilities(left))))] if len(left) else []


def _table(run: RunFile) -> BoundaryTable:
    assert run.boundary is not None
    return run.boundary


def _settings(table: BoundaryTable) -> dict[str, object]:
    """What the figures depend on; where the files lay is for `run.toml` alone to say."""
    return table.model_dump(
        mode="json", exclude={"graph", "checkpoint", "question_sets", "slant_references"}
    )


def asked_by(run: RunFile) -> dict[str, object]:
    """What decides what is asked, and not how the replies are read."""
    key = run.questions_key()
    asked = {name: value for name, value in key["boundary"].items() if name not in READING}
    return {**key, "boundary": {**asked, "queries": _table(run).queries}}


def _stance(run: RunFile) -> AnswerJudge | None:
    """The judge that asks no model, where no model judges."""
    return None if "judge" in run.models else _table(run).stance_judge()


def _policy(table: BoundaryTable) -> Policy:
    options = {} if table.checkpoint is None else {"checkpoint": table.checkpoint}
    return load_policy(table.policy, **options)


def _answer_embedder(policy: Policy) -> Embedder | None:
    """What makes h0 of the answers, for a policy that reads it."""
    return load_embedder() if getattr(policy, "reads_answers", False) else None


def _file_checksum(path: Path) -> str:
    try:
        return file_sha256(path)
    except OSError as trouble:
        raise ConfigError(
            f"{path} cannot be read: {trouble.strerror}. Name another file."
        ) from trouble


def _summary(asked: Asked) -> dict[str, object]:
    return {
        "asked": asked.asked,
        "reused": asked.reused,
        "failed": asked.failed,
        "unknown": asked.unknown,
        "notes": asked.notes,
    }
