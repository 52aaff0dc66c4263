"""`askew purge` and reports without texts: what is gone is gone, and the figures stay."""

from __future__ import annotations

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from typer.testing import CliRunner

from askew.cli.app import app
from askew.cli.purging import age_of
from askew.errors import ConfigError, RunError
from askew.models.ledgerfile import find_replies, texts_of_calls
from askew.models.runlock import RunLock
from askew.privacy.scan import find_texts
from askew.report.folders.purging import PURGED, What, holding, purge
from askew.report.page import report_html, write_report
from askew.run import rescore
from askew.runfolder import RunFolder
from tests.report.clinical_runs import vignettes
from tests.report.runs import make_run, starter_items
from tests.report.several_runs import all_three


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """A run of all three audits as it is left, its log not yet brought in."""
    folder = all_three(tmp_path_factory.mktemp("whole") / "run")
    (folder.path / "questions.jsonl").write_text('{"q": "What of tariffs, and who gains?"}\n')
    write_report(folder)
    folder.write_manifest()
    return folder.path


@pytest.fixture(scope="module")
def little(tmp_path_factory) -> Path:
    """A small run, for what does not depend on the audit."""
    folder = make_run(tmp_path_factory.mktemp("little") / "run", starter_items(6))
    (folder.path / "questions.jsonl").write_text('{"q": "What of tariffs, and who gains?"}\n')
    write_report(folder)
    folder.write_manifest()
    return folder.path


@pytest.fixture
def everything(whole, tmp_path) -> Path:
    shutil.copytree(whole, tmp_path / "run")
    return tmp_path / "run"


@pytest.fixture
def run(little, tmp_path) -> Path:
    shutil.copytree(little, tmp_path / "run")
    return tmp_path / "run"


def texts_in(path: Path) -> set[str]:
    cases = {one.text for one in vignettes()}
    return {text for text in texts_of_calls(path / "run.sqlite") | cases if len(text) >= 12}


def test_no_text_is_left_in_any_byte_and_the_figures_are_the_same(everything):
    run = everything
    texts, figures = texts_in(run), (run / "estimates.json").read_bytes()
    with closing(sqlite3.connect(run / "run.sqlite", isolation_level=None)) as database:
        # As a run of today leaves them: deleted rows whose bytes lie in free pages.
        database.execute("PRAGMA secure_delete = OFF")
        database.execute("CREATE TABLE gone (a)")
        database.executemany("INSERT INTO gone VALUES (?)", [(text,) for text in texts])
        database.execute("DROP TABLE gone")
    assert {found.file for found, _ in find_texts(run, texts)} >= {"run.sqlite", "report.html"}
    was = purge(run)
    assert was.calls
    assert was.records
    assert find_texts(run, texts) == []
    assert (run / "estimates.json").read_bytes() == figures
    assert RunFolder(run).verify() == []
    assert not (run / "questions.jsonl").exists()


def test_ids_which_may_be_record_numbers_go_too(run):
    with closing(sqlite3.connect(run / "run.sqlite")) as database:
        before = [
            row[0] for row in database.execute("SELECT item_id FROM questions ORDER BY place")
        ]
    purge(run)
    with closing(sqlite3.connect(run / "run.sqlite")) as database:
        after = [row[0] for row in database.execute("SELECT item_id FROM questions ORDER BY place")]
    same = [
        [one == other for other in column]
        for column, one in ((before, before[0]), (after, after[0]))
    ]
    assert same[0] == same[1]
    assert not set(before) & set(after)


def test_what_is_left_can_be_shown_and_verified_and_nothing_else_is_done_with_it(run, tmp_path):
    key = next(iter(sqlite3.connect(run / "run.sqlite").execute("SELECT key FROM calls")))[0]
    purge(run)
    for command in (
        ["show", run],
        ["verify", run],
        ["table", run],
        ["ls", tmp_path],
        ["calls", run],
    ):
        done = CliRunner().invoke(app, list(map(str, command)))
        assert done.exit_code == 0, done.output
    assert "Jan" not in CliRunner().invoke(app, ["calls", str(run), "--json"]).output
    for refused in (
        lambda: rescore(run),
        lambda: RunFolder(run).read_items(),
        lambda: RunFolder.open(run).read_questions(),
    ):
        with pytest.raises(RunError, match="were purged"):
            refused()
    assert report_html(RunFolder(run)) == (run / "report.html").read_text()
    assert find_replies([run / "run.sqlite"], [key]) == {}


def test_the_record_says_when_and_holds_the_manifest_and_signature_as_they_were(run):
    manifest = (run / "MANIFEST").read_text()
    (run / "MANIFEST.sig").write_text('{"by": "somebody"}')
    assert purge(run).signed
    record = json.loads((run / PURGED).read_text())
    assert record["state"] == "done"
    assert record["what"] == "texts"
    assert record["before"]["manifest"] == manifest
    assert record["before"]["signature"] == {"by": "somebody"}
    assert not (run / "MANIFEST.sig").exists()
    unchanged = next(line for line in manifest.splitlines() if line.endswith("estimates.json"))
    assert unchanged in (run / "MANIFEST").read_text()
    assert PURGED in (run / "MANIFEST").read_text()


def test_twice_is_as_once(run):
    purge(run)
    before = {file.name: file.read_bytes() for file in run.iterdir() if file.is_file()}
    purge(run)
    assert {file.name: file.read_bytes() for file in run.iterdir() if file.is_file()} == before


def test_all_leaves_the_record_alone_and_what_is_not_askews(run):
    (run / "notes.txt").write_text("mine")
    texts = texts_in(run)
    purge(run, What.ALL)
    assert sorted(file.name for file in run.iterdir()) == [PURGED, "notes.txt"]
    assert find_texts(run, texts) == []
    assert json.loads((run / PURGED).read_text())["not_touched"] == ["notes.txt"]


def test_a_run_that_is_open_is_refused_and_unchanged(run):
    before = (run / "run.sqlite").read_bytes()
    lock = RunLock(run / "run.sqlite")
    try:
        code = (
            "import sys; from pathlib import Path; from askew.errors import RunError\n"
            "from askew.report.folders.purging import purge\n"
            "try: purge(Path(sys.argv[1]))\n"
            "except RunError as e: print(e); sys.exit(9)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, str(run)], capture_output=True, text=True, check=False
        )
    finally:
        lock.release()
    assert done.returncode == 9
    assert "in use by another askew process" in done.stdout
    assert (run / "run.sqlite").read_bytes() == before
    assert not (run / PURGED).exists()


def test_a_run_that_is_being_read_is_refused(run):
    with closing(sqlite3.connect(run / "run.sqlite", isolation_level=None)) as reader:
        reader.execute("PRAGMA journal_mode = WAL")
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM calls").fetchone()
        with closing(sqlite3.connect(run / "run.sqlite")) as writer:
            writer.execute("CREATE TABLE other (a)")
            writer.commit()
        with pytest.raises(RunError, match="being read by another program"):
            purge(run)
    purge(run)
    assert RunFolder(run).verify() == []


STEPS = """
import os, sys
from pathlib import Path
import askew.report.folders.purging as purging
count, stop = 0, int(sys.argv[2])
def counted(made):
    def step(*given, **named):
        global count
        count += 1
        if count == stop:
            os.kill(os.getpid(), 9)
        return made(*given, **named)
    return step
for name in ("_begin", "_write_bare_report", "_shred", "_remove_halves", "_empty", "_empty_log",
             "_check_gone", "_say", "write_whole"):
    setattr(purging, name, counted(getattr(purging, name)))
purging.RunFolder.write_manifest = counted(purging.RunFolder.write_manifest)
purging.purge(Path(sys.argv[1]), purging.What(sys.argv[3]))
print("ended")
"""


@pytest.mark.parametrize(("what", "step"), [("texts", 2), ("texts", 6), ("texts", 10), ("all", 5)])
def test_killed_at_a_step_it_goes_on_and_ends_as_if_it_had_not_been(run, what, step):
    texts, figures = texts_in(run), (run / "estimates.json").read_bytes()
    command = [sys.executable, "-c", STEPS, str(run), str(step), what]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    if (run / PURGED).exists() and what == "texts":
        with pytest.raises(RunError, match="were purged"):
            RunFolder(run).read_items()
    purge(run, What(what))
    assert find_texts(run, texts) == []
    assert json.loads((run / PURGED).read_text())["state"] == "done"
    if what == "texts":
        assert (run / "estimates.json").read_bytes() == figures
        assert RunFolder(run).verify() == []


# The command


def invoke(*arguments: object):
    return CliRunner().invoke(app, list(map(str, arguments)))


def aged(path: Path, days: int) -> None:
    moment = (datetime.now(UTC) - timedelta(days=days)).timestamp()
    with closing(sqlite3.connect(path / "run.sqlite")) as database:
        database.execute(
            "UPDATE calls SET planned_at = ?, sent_at = ?, received_at = ?", (moment,) * 3
        )
        database.commit()


def test_a_dry_run_tells_and_changes_nothing(run):
    before = {file.name: file.read_bytes() for file in run.iterdir() if file.is_file()}
    done = invoke("purge", run, "--dry-run", "--json")
    (told,) = json.loads(done.stdout)
    assert told["purged"] is False
    assert told["calls"] > 0
    assert {file.name: file.read_bytes() for file in run.iterdir() if file.is_file()} == before


def test_only_what_is_old_enough_is_purged(run, tmp_path):
    shutil.copytree(run, tmp_path / "young")
    aged(run, 40)
    aged(tmp_path / "young", 3)
    done = invoke("purge", tmp_path, "--older-than", "30d", "--yes")
    assert done.exit_code == 0, done.output
    assert (run / PURGED).exists()
    assert not (tmp_path / "young" / PURGED).exists()


@pytest.mark.parametrize(
    ("retention", "days", "what"),
    [
        ('texts = "30d"', 40, "texts"),
        ('texts = "30d"', 20, None),
        ('texts = "30d"\nall = "1y"', 400, "all"),
        ('all = "6w"', 43, "all"),
        ("", 4000, None),
    ],
)
def test_due_is_what_the_runs_own_settings_say(tmp_path, retention, days, what):
    folder = make_run(tmp_path / "run", starter_items(4))
    settings = f'[models.target]\nname = "toy/m"\n[retention]\n{retention}\n[flex]\n'
    folder.settings.write_text(settings)
    aged(folder.path, days)
    done = invoke("purge", tmp_path, "--due", "--yes", "--json")
    assert done.exit_code == 0, done.output
    assert [one["what"] for one in json.loads(done.stdout)] == ([] if what is None else [what])


def test_nobody_to_ask_is_no_yes(run):
    with pytest.raises(ConfigError, match="--yes"):
        raise invoke("purge", run).exception
    assert not (run / PURGED).exists()


@pytest.mark.parametrize("text", ["30", "d", "-1d", "1.5d", "30 days", "", "999999d"])
def test_what_is_no_age_is_refused(text):
    with pytest.raises(ConfigError, match="expected one such as"):
        age_of(text)


# A page for other people


def test_a_report_without_texts_holds_none_and_has_its_figures(everything, tmp_path):
    run = everything
    (tmp_path / "share").mkdir()
    done = invoke("export", "report", run, tmp_path / "share" / "page.html", "--without-texts")
    assert "none of" in done.output, str(done.exception)
    page = (tmp_path / "share" / "page.html").read_text()
    assert find_texts(tmp_path / "share", texts_in(run)) == []
    assert find_texts(run, texts_in(run)) != []
    assert "Attack success" in page
    assert "made without texts" in page
    assert 'id="askew-items"' not in page
    assert str(run) not in page


def test_a_report_with_texts_says_so(run, tmp_path):
    assert (
        "holds prompts and replies" in invoke("export", "report", run, tmp_path / "a.html").output
    )


def test_holding_counts_what_would_go(run):
    was = holding(run)
    assert was.calls == sum(
        1 for _ in sqlite3.connect(run / "run.sqlite").execute("SELECT 1 FROM calls")
    )
    assert was.kept == ()
    assert was.size > 0
    assert was.signed is False


def test_a_link_in_the_folder_leads_nothing_to_its_end(run, tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text("of somebody else")
    (run / "report.html").unlink()
    (run / "report.html").symlink_to(outside)
    purge(run)
    assert outside.read_text() == "of somebody else"
    assert not (run / "report.html").is_symlink()


# Looking for keys, and who may look


def test_verify_finds_a_key_anywhere_and_does_not_show_it(run, monkeypatch):
    key = "Xy7/q0Lmp+3zT=9w"
    monkeypatch.setenv("SOME_API_KEY", key)
    (run / "report.html").unlink()
    RunFolder(run).write_manifest()
    assert invoke("verify", run, "--secrets").exit_code == 0
    with closing(sqlite3.connect(run / "run.sqlite")) as database:
        database.execute("UPDATE calls SET error = ?", (f"401 {key}",))
        database.commit()
    RunFolder(run).write_manifest()
    done = invoke("verify", run, "--secrets")
    assert done.exit_code == 1
    assert "run.sqlite: the value of SOME_API_KEY at byte" in done.output
    assert key not in done.output


def test_a_new_run_folder_is_for_its_owner_alone_and_an_old_one_stays_as_it_is(tmp_path):
    (tmp_path / "old").mkdir(mode=0o755)
    RunFolder.create(tmp_path / "old")
    RunFolder.create(tmp_path / "new")
    modes = [(tmp_path / name).stat().st_mode & 0o777 for name in ("old", "new")]
    assert modes == [0o755, 0o700]


def say(run: Path, text: str) -> None:
    """Have the model of a run say something else."""
    with closing(sqlite3.connect(run / "run.sqlite")) as database:
        ((key, reply),) = database.execute(
            "SELECT key, reply FROM calls WHERE reply IS NOT NULL LIMIT 1"
        )
        said = json.dumps({**json.loads(reply), "text": text})
        database.execute("UPDATE calls SET reply = ? WHERE key = ?", (said, key))
        database.commit()


def add_to_figures(run: Path, text: str) -> None:
    figures = json.loads((run / "estimates.json").read_text())
    (run / "estimates.json").write_text(json.dumps({**figures, "told": text}))


def test_a_short_reply_that_a_name_in_the_figures_repeats_stops_no_purge_and_is_counted(run):
    say(run, "Pain relief offered")
    add_to_figures(run, "Pain relief offered")
    purge(run)
    record = json.loads((run / PURGED).read_text())
    assert record["state"] == "done"
    assert (record["names_left"], record["left"]) == (1, {})
    assert record["looked_for"] > 1


def test_a_purge_that_found_a_text_says_so_again_until_it_is_gone(run):
    """The database is empty by then, so that nothing is left to look for."""
    said = "Ann Lee of Ward 7, born in May, came with a cough and was sent home."
    say(run, said)
    add_to_figures(run, said)
    for _ in range(2):
        with pytest.raises(RunError, match=r"still holds .* estimates\.json"):
            purge(run)
        assert json.loads((run / PURGED).read_text())["state"] == "under way"
    add_to_figures(run, "")
    purge(run)
    assert json.loads((run / PURGED).read_text())["state"] == "done"
