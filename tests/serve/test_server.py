"""The server of reports: what it shows, and what it refuses."""

from __future__ import annotations

import asyncio
import json
import shutil
import socket
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

import aiohttp
import pytest
from aiohttp import web
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from yarl import URL

from askew.errors import ConfigError, RunError
from askew.report.folders.run_list import State
from askew.report.items.query import LONGEST_PAGE
from askew.runfolder import RunFolder
from askew.serve.items import NoSuchItem, answer
from askew.serve.listening import check_loopback, loopback_hosts, serve_until_stopped
from askew.serve.runs import Memory, ServedRuns
from askew.serve.server import ReportServer
from tests.report.runs import make_run, starter_items

TOKEN = "a-secret-of-this-test"


def whole(estimates: dict) -> None:
    estimates["flex"]["missing_pairs"] = 0


@pytest.fixture(scope="module")
def made(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("made")
    make_run(path / "one", starter_items(10), change=whole).write_manifest()
    make_run(path / "sub dir" / "two", starter_items(6), model="toy/two", change=whole)
    return path


@pytest.fixture
def runs(made, tmp_path) -> Path:
    shutil.copytree(made, tmp_path / "runs")
    return tmp_path / "runs"


class Reader:
    """A browser's view of the server."""

    def __init__(self, session: aiohttp.ClientSession, port: int) -> None:
        self.session, self.port = session, port
        self.root = f"http://127.0.0.1:{port}/{TOKEN}/"

    async def get(self, path: str = "", method: str = "GET", **headers: str):
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        url = URL(self.root + path, encoded=True)
        response = await self.session.request(method, url, headers=sent, allow_redirects=False)
        await response.read()
        return response

    async def json(self, path: str):
        response = await self.get(path)
        assert response.status == 200, await response.text()
        return await response.json()


@asynccontextmanager
async def served(*places: Path):
    server = ReportServer(ServedRuns(list(places)), TOKEN)
    runner = web.AppRunner(server.application(), access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port = runner.addresses[0][1]
        server.hosts = loopback_hosts("127.0.0.1", port)
        async with aiohttp.ClientSession(skip_auto_headers=["User-Agent"]) as session:
            yield Reader(session, port)
    finally:
        await runner.cleanup()


# The list


async def test_the_list_links_to_every_run_by_an_address_that_works(runs):
    async with served(runs) as reader:
        text = await (await reader.get()).text()
        assert 'href="run/one"' in text
        assert text.count('<li class="run ') == 2
        (link,) = [part for part in text.split('"') if part.startswith("run/sub-dir-two-")]
        assert (await reader.get(f"api/{link.removeprefix('run/')}/shelves")).status == 200


async def test_the_list_is_searched_by_model_name_and_date(runs):
    async with served(runs) as reader:
        for query, found in (
            ("model=TOY", 1),
            ("model=one", 1),
            ("model=&since=", 2),
            ("since=2020-01-01", 2),
            ("since=2100-01-01", 0),
            ("model=nothing", 0),
        ):
            text = await (await reader.get(f"?{query}")).text()
            assert text.count('<li class="run ') == found, query
        for query in ("since=soon", "sort=id", "model=a&model=b", "model=" + "x" * 5_000):
            assert (await reader.get(f"?{query}")).status == 400, query


async def test_a_run_that_comes_goes_or_changes_is_seen_at_the_next_look(runs):
    async with served(runs) as reader:
        shutil.copytree(runs / "one", runs / "three")
        assert 'href="run/three"' in await (await reader.get()).text()
        folder = RunFolder(runs / "three")
        folder.write_estimates(folder.read_estimates() | {"model": "toy/renamed"})
        assert "toy/renamed" in await (await reader.get()).text()
        shutil.rmtree(runs / "three")
        assert (await reader.get("api/three/shelves")).status == 404
        assert "three" not in await (await reader.get()).text()


async def test_a_damaged_run_is_listed_and_has_no_link(runs):
    (runs / "one" / "estimates.json").write_text("{", encoding="utf-8")
    async with served(runs) as reader:
        text = await (await reader.get()).text()
        assert "damaged" in text
        assert 'href="run/one"' not in text


async def test_what_files_say_is_text_on_the_list(runs):
    folder = RunFolder(runs / "one")
    hostile = "</style><script>alert(1)</script><img src=x onerror=alert(1)>\x1b\u202e\ud800"
    estimates = folder.read_estimates() | {"model": hostile}
    folder.estimates.write_text(json.dumps(estimates), encoding="utf-8")
    (runs / "one").rename(runs / '"><script>alert(2)<')
    async with served(runs) as reader:
        text = await (await reader.get()).text()
        assert "<script" not in text
        assert "<img" not in text
        assert "&lt;img src=x onerror=alert(1)&gt;⟨U+001B⟩⟨U+202E⟩" in text


# Reports and items


async def test_a_report_asks_this_server_for_its_items(runs):
    async with served(runs) as reader:
        response = await reader.get("run/one")
        text = await response.text()
        assert response.status == 200, text
        assert '<script type="application/json" id="askew-source">' in text
        assert "../api/one" in text
        assert 'id="askew-items"' not in text
        policy = response.headers["Content-Security-Policy"]
        assert "connect-src 'self'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "default-src 'none'" in policy


async def test_a_report_is_made_again_when_the_run_changes(runs):
    folder = RunFolder(runs / "one")
    async with served(runs) as reader:
        assert "toy/renamed" not in await (await reader.get("run/one")).text()
        folder.write_estimates(folder.read_estimates() | {"model": "toy/renamed"})
        assert "toy/renamed" in await (await reader.get("run/one")).text()


async def test_every_item_can_be_paged_to_once(runs):
    async with served(runs) as reader:
        shelves = await reader.json("api/one/shelves")
        (shelf,) = shelves["shelves"]
        assert shelf["items"] == []
        total = shelf["total"]
        assert total == 30
        seen = []
        for offset in range(0, total, 7):
            page = await reader.json(f"api/one/items?audit=flex&offset={offset}&limit=7&sort=id")
            assert page["matched"] == total
            seen += [item[0] for item in page["items"]]
        assert len(seen) == len(set(seen)) == total
        one = await reader.json(f"api/one/item?audit=flex&id={quote(seen[3], safe='')}")
        assert one["items"][0][0] == seen[3]


async def test_filters_and_words_narrow_the_items(runs):
    async with served(runs) as reader:
        (shelf,) = (await reader.json("api/one/shelves"))["shelves"]
        category = next(one for one in shelf["facets"] if one["name"] == "category")
        for value, count in zip(category["values"], category["counts"], strict=True):
            page = await reader.json(f"api/one/items?audit=flex&category={value}")
            assert page["matched"] == count
        flagged = await reader.json("api/one/items?audit=flex&flagged=yes&limit=1")
        assert flagged["matched"] == shelf["flagged"]
        assert (await reader.json("api/one/items?audit=flex&q=zzzzqqq"))["matched"] == 0


async def test_a_run_that_changes_while_it_is_served_is_read_again(runs):
    async with served(runs) as reader:
        before = await reader.json("api/one/items?audit=flex&flagged=yes&limit=0")
        with RunFolder(runs / "one")._connected() as database:
            database.execute("UPDATE scores SET outcome = 'neutral', correct = 1")
        after = await reader.json("api/one/items?audit=flex&flagged=yes&limit=0")
        assert before["matched"] > 0
        assert after["matched"] == 0


async def test_serving_writes_nothing_into_a_run(runs):
    def state() -> list[tuple[str, int, int]]:
        return sorted(
            (str(one), one.stat().st_size, one.stat().st_mtime_ns)
            for one in runs.rglob("*")
            if one.is_file()
        )

    before = state()
    async with served(runs) as reader:
        await reader.get()
        await reader.get("run/one")
        await reader.json("api/one/items?audit=flex&q=who")
    assert state() == before


# What is refused


REFUSED = [
    ("api/one/items", 400),
    ("api/one/items?audit=none", 400),
    ("api/one/items?audit=clinical", 400),
    ("api/one/items?audit=flex&limit=-1", 400),
    (f"api/one/items?audit=flex&limit={LONGEST_PAGE + 1}", 400),
    ("api/one/items?audit=flex&limit=" + "9" * 5_000, 400),
    ("api/one/items?audit=flex&limit=99999999999999999999", 400),
    ("api/one/items?audit=flex&limit=1e3", 400),
    ("api/one/items?audit=flex&limit=%D9%A3", 400),  # an Arabic three
    ("api/one/items?audit=flex&offset=", 400),
    ("api/one/items?audit=flex&offset=-5", 400),
    ("api/one/items?audit=flex&sort=title", 400),
    ("api/one/items?audit=flex&sort=", 400),
    ("api/one/items?audit=flex&colour=red", 400),
    ("api/one/items?audit=flex&flagged=maybe", 400),
    ("api/one/items?audit=flex&audit=flex", 400),
    ("api/one/items?audit=flex&q=" + "x" * 501, 400),
    ("api/one/items?audit=flex'%20OR%201=1--", 400),
    ("api/one/shelves?x=1", 400),
    ("api/one/item?audit=flex", 400),
    ("api/one/item?audit=flex&id=none", 404),
    ("api/one/item?audit=flex&id=%00%ff%ED%A0%80", 404),
    ("api/one/secrets", 404),
    ("api/none/shelves", 404),
    ("api/../one/shelves", 404),
    ("run/none", 404),
    ("run/", 404),
    ("run/one/", 404),
    ("run/one/run.sqlite", 404),
    ("run/..", 404),
    ("run/../../../etc/passwd", 404),
    ("run/..%2f..%2fetc%2fpasswd", 404),
    ("run/%2e%2e%2fone", 404),
    ("run/one%00", 404),
    ("run/%ff%fe", 404),
    ("run/one%2frun.sqlite", 404),
    ("run/" + "a" * 3_000, 404),
    ("nothing", 404),
]


@pytest.mark.parametrize(("path", "status"), REFUSED, ids=range(len(REFUSED)))
async def test_what_cannot_be_answered_is_refused_in_json(made, path, status):
    async with served(made) as reader:
        response = await reader.get(path)
        assert response.status == status, await response.text()
        assert response.content_type == "application/json"
        said = await response.json()
        assert said["status"] == status
        assert said["error"]
        assert str(made) not in said["error"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "MOVE"])
async def test_only_reading_is_answered(made, method):
    async with served(made) as reader:
        for path in ("", "run/one", "api/one/shelves"):
            response = await reader.get(path, method)
            assert response.status == 405
            assert response.headers["Allow"] == "GET,HEAD"
            assert not [one for one in response.headers if one.startswith("Access-Control")]


async def test_a_head_request_is_a_get_without_its_body(made):
    async with served(made) as reader:
        response = await reader.get("", "HEAD")
        assert (response.status, await response.read()) == (200, b"")


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "localhost.evil:{port}"],
)
async def test_another_name_than_this_machines_is_refused(made, host):
    """A site may point a name of its own at 127.0.0.1, and must not read what its visitor may."""
    async with served(made) as reader:
        response = await reader.get("", Host=host.format(port=reader.port))
        assert response.status == 421
        assert (await reader.get("", Host=f"localhost:{reader.port}")).status == 200


async def test_without_the_secret_nothing_is_answered_not_even_whether_a_run_is_there(made):
    async with served(made) as reader:
        root = reader.root
        for other in (
            "",
            "x/",
            TOKEN[:-1] + "/",
            f"{TOKEN}x/",
            f"%2f{TOKEN}/",
            f"{TOKEN.upper()}/",
        ):
            reader.root = f"http://127.0.0.1:{reader.port}/{other}"
            for path in ("", "run/one", "api/one/shelves", "run/none"):
                assert (await reader.get(path)).status == 403, (other, path)
        reader.root = root
        assert (await reader.get()).status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_a_page_of_another_site_gets_nothing(made, site):
    async with served(made) as reader:
        assert (await reader.get("api/one/shelves", Sec_Fetch_Site=site)).status == 403
        assert (await reader.get("api/one/shelves", Sec_Fetch_Site="same-origin")).status == 200


async def test_every_answer_has_the_guarding_headers(made):
    async with served(made) as reader:
        for path in ("", "run/one", "api/one/shelves", "run/none", "api/one/items?audit=none"):
            headers = (await reader.get(path)).headers
            assert headers["X-Content-Type-Options"] == "nosniff"
            kind = "application/json" if path.startswith(("api", "run/none")) else "text/html"
            assert headers["Content-Type"] == f"{kind}; charset=utf-8"
            assert headers["Referrer-Policy"] == "no-referrer"
            assert headers["Cache-Control"] == "no-store"
            assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert headers["Content-Security-Policy"].startswith("default-src 'none'")
            assert "'unsafe-eval'" not in headers["Content-Security-Policy"]
            assert not [one for one in headers if one.startswith("Access-Control")]


@pytest.mark.parametrize("name", ["run.sqlite", "estimates.json", "run.toml"])
async def test_a_file_of_a_run_that_leads_out_of_its_folder_is_not_followed(runs, name, tmp_path):
    shutil.move(runs / "one" / name, tmp_path / name)
    (runs / "one" / name).symlink_to(tmp_path / name)
    async with served(runs) as reader:
        for path in ("run/one", "api/one/shelves"):
            response = await reader.get(path)
            assert response.status == 403
            assert "symbolic link" in (await response.json())["error"]


async def test_a_database_that_is_damaged_while_it_is_served_is_an_answer(runs):
    async with served(runs) as reader:
        (runs / "one" / "run.sqlite").write_bytes(b"rubbish" * 1000)
        response = await reader.get("api/one/items?audit=flex")
        assert response.status == 500
        assert (await response.json())["error"]
        assert (await reader.get()).status == 200


NAMES = st.sampled_from(["audit", "offset", "limit", "sort", "q", "id", "x", "category"])
VALUES = st.sampled_from(["flex", "1", "worst", "yes"]) | st.text(max_size=12)
FIXTURES = [HealthCheck.function_scoped_fixture]  # `made` is of the module


@settings(max_examples=60, deadline=None, suppress_health_check=FIXTURES)
@given(st.dictionaries(NAMES, VALUES, max_size=5), st.sampled_from(["items", "item", "shelves"]))
def test_no_query_makes_the_server_fall_over(made, query, what):
    try:
        found = answer(RunFolder(made / "one"), what, query, Memory())
    except (ConfigError, NoSuchItem):
        return
    json.loads(found)


async def test_bytes_that_are_no_http_do_not_stop_the_server(made):
    async with served(made) as reader:
        with socket.create_connection(("127.0.0.1", reader.port)) as wire:
            wire.sendall(b"\x16\x03\x01 rubbish \r\n\r\n")
        assert (await reader.get()).status == 200


# The runs and where they are listened for


def test_keys_are_safe_in_an_address_and_the_same_at_the_next_start(runs):
    for name in ("a/b", "../x".strip("./"), "ünï", "a b", "-"):
        shutil.copytree(runs / "one", runs / "odd" / name)
    keys = list(ServedRuns([runs]).entries)
    assert all(quote(key, safe="") == key and key not in ("", ".", "..") for key in keys)
    assert len(keys) == len(set(keys)) == 7
    assert list(ServedRuns([runs]).entries) == keys


def test_two_folders_with_runs_of_one_name_are_served_side_by_side(runs, tmp_path):
    shutil.copytree(runs, tmp_path / "more")
    both = ServedRuns([runs, tmp_path / "more", runs / "one"])
    assert len(both.entries) == 4
    assert {one.state for one in both.entries.values()} <= {State.COMPLETE, State.INCOMPLETE}


def test_a_place_without_runs_is_an_error(tmp_path):
    with pytest.raises(RunError, match="no run is in there"):
        ServedRuns([tmp_path])


def test_only_what_was_used_last_is_kept(tmp_path):
    memory, made = Memory(most=2), []
    for name in "abcab":
        memory.get(tmp_path, name, lambda name=name: made.append(name))
    assert made == ["a", "b", "c", "a", "b"]
    memory.get(tmp_path, "b", lambda: made.append("again"))
    assert "again" not in made


@pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost", "LOCALHOST"])
def test_this_machine_is_listened_on(host):
    check_loopback(host)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "10.0.0.1", "example.org", "", "127.1.evil"])
def test_no_other_address_is_listened_on(host):
    with pytest.raises(ConfigError, match="this machine alone"):
        check_loopback(host)


async def test_a_port_that_is_taken_is_an_error_that_says_so(made):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(RunError, match="cannot be listened on"):
            await serve_until_stopped(ServedRuns([made]), "127.0.0.1", port, print)


async def test_many_requests_at_once_are_all_answered(made):
    async with served(made) as reader:
        answers = await asyncio.gather(
            *(reader.get(f"api/one/items?audit=flex&offset={place}") for place in range(40))
        )
        assert {one.status for one in answers} == {200}
