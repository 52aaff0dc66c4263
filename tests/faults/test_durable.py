"""Files are whole or not there: kills, full disks, two writers, and what a disk may forget."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from askew.durable import make_folder, whole_file, write_whole
from askew.errors import RunError
from askew.run import flex
from askew.runfile import checked
from askew.runfolder import RunFolder

FORK = multiprocessing.get_context("fork")
MODEL = "python/tests.run.scripted_auditee"
SCORE = """
import sys
from askew.run import rescore
from pathlib import Path
rescore(Path(sys.argv[1]))
"""


def asked(path: Path) -> RunFolder:
    """A small run that has ended."""
    values = {"out": str(path), "models": {"target": {"name": f"{MODEL}:target"}}}
    run = checked({**values, "flex": {"items": 3, "controls": 0, "scoring": "reply"}})
    return asyncio.run(flex.execute(flex.prepare(run)))[0]


def in_a_process(target, *arguments) -> int:
    process = FORK.Process(target=target, args=arguments)
    process.start()
    process.join(60)
    assert process.exitcode is not None
    return process.exitcode


def killed_while_writing(path: Path) -> None:
    with whole_file(path) as part:
        part.write_text("half")
        os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_writer_leaves_the_old_file_and_the_next_one_removes_its_part(tmp_path):
    file = tmp_path / "report.html"
    file.write_text("old")
    assert in_a_process(killed_while_writing, file) == -signal.SIGKILL
    assert file.read_text() == "old"
    assert len(list(tmp_path.iterdir())) == 2
    write_whole(file, "new")
    assert [one.read_text() for one in tmp_path.iterdir()] == ["new"]


def test_a_part_that_is_being_written_is_left_alone(tmp_path):
    file, other = tmp_path / "a", tmp_path / "a.b"
    with whole_file(file) as part, whole_file(other) as part_of_other:
        part.write_text("first")
        part_of_other.write_text("other")
        write_whole(file, "second")
        assert part.read_text() == "first"
    assert (file.read_text(), other.read_text()) == ("first", "other")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a", "a.b"]


def write_often(path: Path, letter: str) -> None:
    for _ in range(30):
        write_whole(path, letter * 200_000)


def test_two_writers_of_one_file_never_mix(tmp_path):
    file = tmp_path / "estimates.json"
    write_whole(file, "a" * 200_000)
    writers = [FORK.Process(target=write_often, args=(file, letter)) for letter in "bc"]
    for one in writers:
        one.start()
    while any(one.is_alive() for one in writers):
        text = file.read_text()
        assert len(text) == 200_000
        assert len(set(text)) == 1
    assert [one.exitcode for one in writers] == [0, 0]
    assert [one.name for one in tmp_path.iterdir()] == ["estimates.json"]


def write_with_little_room(path: Path) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    try:
        write_whole(path, "x" * 100_000)
    except RunError as trouble:
        os._exit(0 if "cannot be written: File too large" in str(trouble) else 2)


def test_a_file_that_does_not_fit_leaves_the_old_one_and_no_part(tmp_path):
    file = tmp_path / "rows.csv"
    file.write_text("old")
    assert in_a_process(write_with_little_room, file) == 0
    assert [one.read_text() for one in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("length", [100, 240, 255])
def test_a_long_name_is_no_matter_as_long_as_the_file_system_takes_it(tmp_path, length):
    write_whole(tmp_path / ("n" * length), "text")
    assert (tmp_path / ("n" * length)).read_text() == "text"


def test_a_name_that_is_too_long_is_said_and_leaves_nothing(tmp_path):
    with pytest.raises(RunError, match="cannot be written: File name too long"):
        write_whole(tmp_path / ("é" * 200), "text")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace shows what reaches the disk")
def test_what_takes_its_place_is_on_the_disk_and_the_folder_is_after_it(tmp_path):
    """Without it a disk may keep the name and forget what stood in the file."""
    folder = asked(tmp_path / "run")
    trace = tmp_path / "trace.txt"
    calls = "trace=fsync,fdatasync,rename,renameat,renameat2"
    command = ["strace", "-f", "-y", "-e", calls, "-o", str(trace)]
    done = subprocess.run(
        [*command, sys.executable, "-c", SCORE, str(folder.path)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    if "ptrace" in done.stderr and done.returncode:
        pytest.skip("this system lets nobody trace")
    assert done.returncode == 0, done.stderr
    synced: set[str] = set()
    placed: list[str] = []
    lines = trace.read_text().splitlines()
    for number, line in enumerate(lines):
        if found := re.search(r"f(?:data)?sync\(\d+<([^>]*)>", line):
            synced.add(found[1])
        elif found := re.search(r"rename\w*\(.*?\"([^\"]+)\".*\"([^\"]+)\"", line):
            source, target = found[1], found[2]
            assert source in synced, f"{source} took its place before it was on the disk"
            placed.append(Path(target).name)
            after = re.search(r"fsync\(\d+<([^>]*)>", lines[number + 1])
            assert after is not None, lines[number + 1]
            assert after[1] == str(Path(target).parent)
    assert placed[-1] == "MANIFEST"
    assert {"estimates.json", "report.html"} <= set(placed[:-1])


def test_new_folders_are_made_with_those_above_them(tmp_path):
    make_folder(tmp_path / "runs" / "one")
    make_folder(tmp_path / "runs" / "one")
    assert (tmp_path / "runs" / "one").is_dir()
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="exists"):
        make_folder(tmp_path / "file")


def test_a_part_left_long_ago_goes_whatever_time_it_says(tmp_path):
    file = tmp_path / "MANIFEST"
    in_a_process(killed_while_writing, file)
    (left,) = tmp_path.iterdir()
    os.utime(left, (0, time.time() + 10**6))
    write_whole(file, "new")
    assert [one.name for one in tmp_path.iterdir()] == ["MANIFEST"]
