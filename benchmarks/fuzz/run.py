"""Fuzz askew's parsers: count the inputs, keep the faults, go on where the last run ended.

    python benchmarks/fuzz/run.py --list
    python benchmarks/fuzz/run.py --target judge_scores --seconds 60
    python benchmarks/fuzz/run.py --until 1000000            # every target, resumable
    python benchmarks/fuzz/run.py --report                   # the table
    python benchmarks/fuzz/run.py --target judge_scores --keep 24   # renew the committed corpus

Each target runs in a process of its own. One that dies, or is silent for a minute, is a fault too:
the input that it held is saved. Counts, kept inputs and faults lie in the state folder (`--state`,
by default runs/fuzz). Exits with 1 if a fault is open.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import importlib.util
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
from harness import (
    CORPUS,
    HERE,
    Fault,
    Tally,
    Target,
    corpus_of,
    give,
    modules,
    registry,
    warm,
    watched,
)
from state import Counts, Folder, Shared

import engines

STALL = 60.0  # seconds of processor time without one input finished
ADDRESS_SPACE = 2 << 30  # bytes that a child may map beyond what it has when it begins
_EDGES = re.compile(rb"cov: (\d+)")


def main(arguments: list[str] | None = None) -> int:
    """Read the options and do as they say."""
    parser = argparse.ArgumentParser(description="Fuzz askew's parsers.")
    parser.add_argument(
        "--target", action="append", help="only these, in this order; all by default"
    )
    parser.add_argument("--engine", choices=["atheris", "hypothesis", "plain", "mixed"])
    parser.add_argument("--until", type=int, help="inputs per target, earlier runs counted")
    parser.add_argument("--seconds", type=float, help="seconds in all, shared by the targets")
    parser.add_argument("--seed", type=int, help="by default another one each time")
    parser.add_argument("--state", type=Path, default=Path("runs/fuzz"))
    parser.add_argument("--list", action="store_true", help="print the targets")
    parser.add_argument("--report", action="store_true", help="print the table of what was done")
    parser.add_argument("--json", type=Path, help="write the table of --report here as well")
    parser.add_argument("--keep", type=int, help="renew the committed corpus, N inputs at most")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.child:
        return _child(json.loads(options.child))
    targets = registry()
    unknown = set(options.target or ()) - set(targets)
    if unknown:
        parser.error(f"no target {', '.join(sorted(unknown))}. Known: {', '.join(sorted(targets))}")
    chosen = {name: targets[name] for name in options.target or targets}
    if options.list:
        for one in chosen.values():
            print(f"{one.name:28} {(one.function.__doc__ or '').strip().splitlines()[0]}")
        return 0
    if options.keep:
        for one in chosen.values():
            _renew(one, options.state, options.keep)
        return 0
    if options.report:
        return _report(chosen, options.state, options.json)
    if options.until is None and options.seconds is None:
        parser.error("say --until N or --seconds S")
    return _fuzz(chosen, options)


def _fuzz(chosen: dict[str, Target], options: argparse.Namespace) -> int:
    """Run the targets one after another; the number of open faults decides the exit code."""
    held_by = modules()
    share = (options.seconds or float("inf")) / max(1, len(chosen))
    opened = 0
    for name, target in chosen.items():
        folder = Folder(options.state, target)
        _recheck(target, folder)
        end = time.monotonic() + share
        for engine, part in _engines(target, options.engine):
            _run_engine(
                target, folder, engine, held_by[name], options,
                seconds=(end - time.monotonic()) if part == 1 else share * part,
                until=None if options.until is None else int(options.until * part),
            )  # fmt: skip
        counts = folder.counts()
        faults = folder.open_faults()
        opened += len(faults)
        print(f"{name}: {counts.all_inputs:,} inputs, {len(faults)} open faults", flush=True)
    return 1 if opened else 0


def _engines(target: Target, asked: str | None) -> list[tuple[str, float]]:
    """The engines for a target and each one's share; the last takes what is left."""
    structured = target.strategy is not None
    if asked not in (None, "mixed"):
        return [(asked, 1.0)] if asked != "hypothesis" or structured else []
    guided = "atheris" if _has_atheris() else "plain"
    return [("hypothesis", 0.02), (guided, 1.0)] if structured else [(guided, 1.0)]


def _has_atheris() -> bool:
    return importlib.util.find_spec("atheris") is not None


def _recheck(target: Target, folder: Folder) -> None:
    """Give each open fault's input again: what no longer fails is mended."""
    if folder.open_faults():
        warm(target)
    with watched(target.seconds):
        for path in folder.open_faults():
            if give(target, path.read_bytes(), Tally()) is None:
                folder.mend(path)


def _run_engine(
    target: Target,
    folder: Folder,
    engine: str,
    module: str,
    options: argparse.Namespace,
    *,
    seconds: float,
    until: int | None,
) -> None:
    """Children of one engine until the count or the time is reached."""
    end = time.monotonic() + min(seconds, 1e9)
    deaths = 0
    while time.monotonic() < end:
        counts = folder.counts()
        done = counts.inputs.get(engine, 0) if engine == "hypothesis" else counts.all_inputs
        count = 10**12 if until is None else until - done
        if count <= 0:
            return
        before = counts.all_inputs
        died = _run_child(
            target, folder, engine, module, options, count, min(end - time.monotonic(), 1e8)
        )
        deaths += died
        if deaths > 20:
            print(f"{target.name}: {deaths} processes died; see {folder.faults}", flush=True)
            return
        if not died and folder.counts().all_inputs == before:
            return  # the strategy has no more to give


def _run_child(
    target: Target,
    folder: Folder,
    engine: str,
    module: str,
    options: argparse.Namespace,
    count: int,
    seconds: float,
) -> bool:
    """One child; its counts added to the folder's. True if it died or had to be ended."""
    shared = Shared(folder.path / "shared.bin", new=True)
    seed = options.seed if options.seed is not None else int.from_bytes(os.urandom(4), "little")
    order = {
        "target": target.name,
        "module": module,
        "engine": engine,
        "count": count,
        "seconds": seconds,
        "seed": seed + folder.counts().all_inputs,
        "folder": str(folder.path.absolute()),
        "merge": "",
    }
    begun = time.monotonic()
    base = folder.counts()
    log = folder.path / "log.txt"
    with log.open("wb") as told:
        child = subprocess.Popen(
            [sys.executable, str(HERE / "run.py"), "--child", json.dumps(order)],
            stdout=told,
            stderr=subprocess.STDOUT,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
    moved, worked, last, stalled = time.monotonic(), 0.0, -1, False
    try:
        while child.poll() is None:
            time.sleep(0.2)
            inputs = shared.counts()[0]
            now = time.monotonic()
            spent = _processor_seconds(child.pid)
            if inputs != last:
                moved, worked, last = now, spent, inputs
            # By the child's own time: on a loaded machine an input may wait long for its turn.
            if spent - worked > STALL or now - moved > 20 * STALL:
                stalled = True
                child.kill()
            elif now - begun > seconds + 10 * STALL:
                child.kill()
                break
            if int(now) % 10 == 0:
                _add(folder, base, engine, shared, now - begun, log)
    finally:
        if child.poll() is None:
            child.kill()
        code = child.wait()
        _add(folder, base, engine, shared, time.monotonic() - begun, log)
        for place in (Path("/dev/shm"), Path(tempfile.gettempdir())):
            for left in place.glob(f"askew-fuzz-{child.pid}-*"):
                shutil.rmtree(left, ignore_errors=True)
    died = stalled or code not in (0, -9)
    if died:
        kind = "Stalled" if stalled else f"Died-{code}"
        ending = f"{kind}\n{log.read_bytes()[-4000:].decode(errors='replace')}"
        if shared.counts()[0] == 0 and not stalled:
            shared.close()
            raise SystemExit(f"fuzz target {target.name!r} does not start:\n{ending}")
        folder.keep(Fault(kind, ending, shared.held()))
    shared.close()
    (folder.path / "shared.bin").unlink(missing_ok=True)
    return died


def _processor_seconds(process: int) -> float:
    """Processor time that a process has had, 0 where the machine does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _add(
    folder: Folder, base: Counts, engine: str, shared: Shared, seconds: float, log: Path
) -> None:
    """Write the counts as they stand: what was before this child, and what it did."""
    inputs, refused, _, slowest = shared.counts()
    edges = _EDGES.findall(log.read_bytes()) if engine == "atheris" else []
    folder.write(
        Counts(
            inputs={**base.inputs, engine: base.inputs.get(engine, 0) + inputs},
            seconds=base.seconds + seconds,
            refused=base.refused + refused,
            slowest=max(base.slowest, slowest),
            edges=max([base.edges, *map(int, edges)]),
        )
    )


def _child(order: dict[str, object]) -> int:
    """Run one engine over one target in this process."""
    guide: contextlib.AbstractContextManager[object] = contextlib.nullcontext()
    if order["engine"] == "atheris":
        import atheris

        guide = atheris.instrument_imports(include=["askew"], enable_loader_override=False)
    with guide:
        target = registry(str(order["module"]))[str(order["target"])]
        warm(target)
    folder = Folder(Path(str(order["folder"])).parent, target)
    shared = Shared(folder.path / "shared.bin", new=False) if not order["merge"] else None
    tally = Tally()
    with contextlib.suppress(ValueError, OSError):
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (mapped + ADDRESS_SPACE, resource.RLIM_INFINITY))

    def take(data: bytes) -> None:
        if shared is not None:
            shared.begin(tally.inputs, tally.refused, len(tally.faults), tally.slowest, data)
        fault = give(target, data, tally)
        if fault is not None and shared is not None:
            folder.keep(fault)
        if shared is not None:
            shared.begin(tally.inputs, tally.refused, len(tally.faults), tally.slowest, data)

    count, seconds = int(str(order["count"])), float(str(order["seconds"]))
    seed = int(str(order["seed"]))
    corpus = CORPUS / target.name
    with watched(target.seconds):
        if order["engine"] == "hypothesis":
            engines.run_hypothesis(target, take, count=count, seconds=seconds, seed=seed)
        elif order["engine"] == "plain":
            engines.run_plain(
                target,
                corpus_of(target, corpus, folder.kept),
                take,
                count=count,
                seconds=seconds,
                seed=seed,
            )
        else:
            seeds = folder.path / "seeds"
            seeds.mkdir(exist_ok=True)
            for place, data in enumerate(corpus_of(target, corpus)):
                (seeds / str(place)).write_bytes(data)
            first = Path(str(order["merge"])) if order["merge"] else folder.kept
            engines.run_atheris(
                target,
                take,
                folders=[first, seeds, *([folder.kept] if order["merge"] else [])],
                options=["-merge=1"] if order["merge"] else [],
                count=count,
                seconds=seconds,
                seed=seed,
            )
    return 0


def _renew(target: Target, state: Path, most: int) -> None:
    """Put the inputs that reach the most code, short ones first, into the committed corpus.

    What stands there under a name of its own (not a hash: a mended fault) stays.
    """
    folder = Folder(state, target)
    merged = folder.path / "merged"
    shutil.rmtree(merged, ignore_errors=True)
    merged.mkdir()
    order = {
        "target": target.name,
        "module": modules()[target.name],
        "engine": "atheris",
        "count": 10**9,
        "seconds": 600,
        "seed": 1,
        "folder": str(folder.path.absolute()),
        "merge": str(merged.absolute()),
    }
    subprocess.run(
        [sys.executable, str(HERE / "run.py"), "--child", json.dumps(order)],
        check=False,
        capture_output=True,
    )
    corpus = CORPUS / target.name
    corpus.mkdir(parents=True, exist_ok=True)
    for old in corpus.glob("*"):
        if re.fullmatch("[0-9a-f]{16}", old.name):  # the others have a name of their own
            old.unlink()
    inputs = sorted((one.read_bytes() for one in merged.glob("*")), key=lambda data: len(data))
    # Spread over the sizes: the shortest alone would all be fragments.
    step = max(1, len(inputs) // most)
    for data in inputs[::step][:most]:
        if len(data) <= 2048:
            (corpus / hashlib.sha256(data).hexdigest()[:16]).write_bytes(data)
    print(f"{target.name}: {len(list(corpus.glob('*')))} inputs of {len(inputs)}")


def _report(chosen: dict[str, Target], state: Path, path: Path | None) -> int:
    """Print the table; 1 if a fault is open."""
    rows: list[dict[str, str | float | None]] = []
    for target in chosen.values():
        folder = Folder(state, target)
        counts = folder.counts()
        rows.append(
            {
                "target": target.name,
                "inputs": counts.all_inputs,
                "of them structured": counts.inputs.get("hypothesis", 0),
                "refused": counts.refused,
                "faults open": len(folder.open_faults()),
                "faults mended": len(list(folder.mended.glob("*.bin"))),
                "inputs/s": round(counts.all_inputs / counts.seconds) if counts.seconds else None,
                "slowest ms": round(counts.slowest * 1000, 1),
                "coverage edges": counts.edges or None,
            }
        )
    if path is not None:
        path.write_text(json.dumps(rows, indent=1) + "\n")
    heads = list(rows[0]) if rows else []
    print(" | ".join(heads))
    for row in rows:
        print(" | ".join("–" if one is None else f"{one:,}" if isinstance(one, int | float)
                         else str(one) for one in row.values()))  # fmt: skip
    everything = sum(Folder(state, target).counts().all_inputs for target in chosen.values())
    print(f"{everything:,} inputs over {len(rows)} targets")
    return 1 if any(row["faults open"] for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(main())
