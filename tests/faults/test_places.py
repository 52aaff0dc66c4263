"""Two processes on one folder, a folder that goes, one that cannot be written to, no more files."""

from __future__ import annotations

import os
import re
import subprocess
import time

import pytest

from askew.errors import RunError
from askew.models.ledger import Ledger
from askew.models.ledgerfile import ChangedMeanwhile, open_to_read, read_records
from askew.runfolder import RunFolder
from askew.survey.store import Store
from tests.faults import machine
from tests.faults.killed import Tally, Watched
from tests.faults.scripted import asked_for, work
from tests.survey.studies import study


def test_of_two_started_at_the_same_moment_one_runs_and_the_other_changes_nothing(
    tmp_path, starter, server, alone
):
    for lap in range(2):
        tally = Tally("at once")
        place = tmp_path / f"{lap}"
        folders = [place / name for name in ("first", "second", "score")]
        for one in folders:
            one.mkdir(parents=True)
        watched = Watched(work("flex", server.url, folders[0]), server, starter, tally)
        began = [starter.start(*watched.work.arguments, folder=folder) for folder in folders[:2]]
        watched.reach(began[lap % 2], 5)
        began.append(starter.start("score", str(watched.work.out), folder=folders[2]))
        codes = [process.wait() for process in began]
        assert sorted(codes[:2]) == [0, 3], [process.said for process in began]
        assert codes[2] == 3
        refused = began[codes.index(3)].said + began[2].said
        assert refused.count("in use by another askew process") == 2, refused
        watched.look()
        watched.finish(alone[0])
        assert tally.kept, tally
        assert tally.repeats == 0


@pytest.mark.parametrize("goes", ["moved", "deleted"])
def test_a_folder_that_goes_under_a_run_stops_it_and_is_said(
    tmp_path, starter, server, alone, goes
):
    figures, needed = alone
    tally = Tally(goes)
    done = work("flex", server.url, tmp_path)
    watched = Watched(done, server, starter, tally)
    process = watched.start()
    watched.reach(process, needed // 3)
    there = tmp_path / "elsewhere"
    done.out.rename(there)
    if goes == "deleted":
        subprocess.run(["rm", "-r", str(there)], check=True)
    assert process.wait() == 3, process.said
    assert "is gone: it was moved or deleted" in " ".join(process.said.split())
    assert "Traceback" not in process.said
    assert watched.requests < needed  # no more was paid for that could not be kept
    assert not done.out.exists()
    if goes == "moved":
        there.rename(done.out)
        watched.look()
        watched.finish(figures)
        assert tally.kept, tally
        assert tally.repeats == 0


@pytest.fixture
def ended(tmp_path, starter, server):
    done = work("flex", server.url, tmp_path)
    assert starter.start(*done.arguments, folder=tmp_path).wait() == 0
    return done


@pytest.mark.skipif(not machine.may_mount(), reason="mounting takes root")
def test_a_run_on_a_read_only_disk_can_be_read_and_not_written_to(tmp_path, starter, ended):
    other = tmp_path / "other"
    other.mkdir()
    before = {one.name: one.read_bytes() for one in ended.out.iterdir()}
    with machine.read_only(ended.out):
        for command in (
            ("table", str(ended.out)),
            ("show", str(ended.out)),
            ("verify", str(ended.out)),
            ("export", "rows", str(ended.out), str(other / "rows.csv")),
            ("export", "evidence", str(ended.out), str(other / "pack.zip"), "--with-calls"),
            ("compare", str(ended.out), str(ended.out), "--out", str(other / "page.html")),
        ):
            process = starter.start(*command, folder=other)
            assert process.wait() == 0, process.said
        for command in (
            ("score", str(ended.out)),
            ended.arguments,
            ("export", "rows", str(ended.out), str(ended.out / "rows.csv")),
        ):
            process = starter.start(*command, folder=other)
            assert process.wait() == 3, process.said
            said = " ".join(process.said.split())
            assert re.search("Read-only file system|writable|written to", said), said
            assert "Traceback" not in said
    assert {one.name: one.read_bytes() for one in ended.out.iterdir()} == before


def test_a_plan_changes_nothing_that_the_manifest_names(tmp_path, starter, server, ended):
    file = tmp_path / "flex.toml"
    assert starter.start("plan", str(file), folder=tmp_path).wait() == 0
    assert RunFolder(ended.out).verify() == []


def test_out_of_file_descriptors_is_said_and_the_run_goes_on_with_more(
    tmp_path, starter, server, alone
):
    for most in (9, 24):
        tally = Tally("descriptors")
        folder = tmp_path / f"{most}"
        folder.mkdir()
        watched = Watched(work("flex", server.url, folder), server, starter, tally)
        process = starter.start(*watched.work.arguments, folder=folder, limits={"NOFILE": most})
        assert process.wait() in (0, 1, 3, 4)
        watched.look()
        assert "damaged" not in process.said
        assert "Traceback" not in process.said, (most, process.said[-1500:])
    watched.finish(alone[0])
    assert tally.kept, tally


def test_a_reader_that_hangs_up_costs_no_answer(tmp_path, starter, server, alone):
    """`askew run … 2>&1 | head -1`: the first line after it finds nobody to read it."""
    done = work("flex", server.url, tmp_path)
    begun = len(server.seen)
    os.mkfifo(tmp_path / "log.txt")
    reader = os.open(tmp_path / "log.txt", os.O_RDONLY | os.O_NONBLOCK)
    process = starter.start(*done.arguments, folder=tmp_path)
    while len(server.seen) == begun and process.poll() is None:
        time.sleep(0.01)
    os.close(reader)
    process.wait()
    assert {one.state.value for one in read_records(done.ledger)} == {"received"}
    assert max(asked_for(server, begun).values()) == 1
    assert done.figures() == alone[0]


def test_what_is_read_while_a_run_begins_is_not_half_of_two(tmp_path):
    path = tmp_path / "run.sqlite"
    with Ledger.open(path):
        pass
    reading = open_to_read(path)
    assert reading.execute("SELECT count(*) FROM calls").fetchone() == (0,)
    with Ledger.open(path) as ledger:
        ledger._write_meta("note", "x" * 100_000)
    with pytest.raises(ChangedMeanwhile, match="Start the same command again"):
        reading.close()
    open_to_read(path).close()
    with Ledger.open(path) as ledger:
        beside = open_to_read(path)  # a run is on: it is read through its log
        ledger._write_meta("note", "y" * 100_000)
        assert len(beside.execute("SELECT max(value) FROM ledger_meta").fetchone()[0]) == 100_000
        beside.close()


@pytest.mark.parametrize("goes", ["moved", "deleted"])
def test_an_answer_to_a_study_whose_file_is_gone_is_not_said_to_be_saved(tmp_path, goes):
    survey, path = study(3, raters=2).survey, tmp_path / "answers.sqlite"
    store = Store(path, survey)
    store.new_links(2)
    if goes == "moved":
        path.rename(tmp_path / "elsewhere.sqlite")
    else:
        path.unlink()
    with pytest.raises(RunError, match="is gone: it was moved or deleted"):
        store.save_rating(1, survey.sheets[0].order[0], "a", [], "")
    store.close()
