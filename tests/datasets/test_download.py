"""Downloads against a real server on the loopback: only the pinned bytes reach the cache."""

from __future__ import annotations

import gzip
import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from askew.cache import cache_folder
from askew.datasets.download import get, is_complete
from askew.datasets.pins import PUBLISHED, Pin, Published
from askew.errors import ConfigError, DataError

BODY = b'{"a": 1}\n' * 20_000  # several reads of the network
OTHER = b'{"a": 2}\n' * 20_000


def pin(file: str, body: bytes = BODY, commit: str | None = "them/sets/c0ffee") -> Pin:
    digest = hashlib.sha256(body).hexdigest()
    return Pin(f"tiny/{file}", len(body), digest, f"data/{file}", commit)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        self.server.asked.append(self.path)
        prefix, _, name = self.path.partition("/them/sets/c0ffee/data/")
        getattr(self, f"do_{(prefix or '/good').strip('/')}")(name)

    def do_good(self, name):
        self.answer(BODY)

    def do_changed(self, name):
        self.answer(OTHER)

    def do_long(self, name):
        self.answer(BODY + b"more")

    def do_short(self, name):
        self.answer(BODY[:-100])

    def do_cut(self, name):
        self.send_response(200)
        self.send_header("Content-Length", str(len(BODY)))
        self.end_headers()
        self.wfile.write(BODY[: len(BODY) // 2])
        self.close_connection = True

    def do_moved(self, name):
        self.move_to(f"/good/them/sets/c0ffee/data/{name}")

    def do_loop(self, name):
        self.move_to(self.path)

    def do_far(self, name):
        self.move_to(f"{self.path}x")

    def do_ftp(self, name):
        self.move_to("ftp://127.0.0.1/secret")

    def do_file(self, name):
        self.move_to("file:///etc/hostname")

    def do_gone(self, name):
        self.send_error(404)

    def do_busy(self, name):
        self.send_error(503)

    def answer(self, body):
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def move_to(self, place):
        self.send_response(302)
        self.send_header("Location", place)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


@pytest.fixture(scope="module")
def server() -> Iterator[ThreadingHTTPServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        running.asked = []
        thread = threading.Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def address(server, monkeypatch) -> str:
    server.asked.clear()
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return f"http://127.0.0.1:{server.server_port}"


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch) -> Path:
    """An empty cache, and a published set of two small files."""
    pins = (pin("one.jsonl"), pin("two.jsonl"))
    monkeypatch.setitem(PUBLISHED, "tiny", Published("tiny", "", "", "", "them/sets", pins))
    monkeypatch.setenv("ASKEW_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def files_in(folder: Path) -> list[str]:
    return sorted(p.name for p in folder.rglob("*") if p.is_file())


def test_a_good_download_is_kept_and_not_asked_for_again(address, cache, server):
    told = []
    fetched = get("tiny", mirror=address, progress=lambda *now: told.append(now))
    assert fetched.new == ("tiny/one.jsonl", "tiny/two.jsonl")
    assert (cache / "tiny" / "one.jsonl").read_bytes() == BODY
    assert told[-1] == ("tiny/two.jsonl", len(BODY), len(BODY))
    assert server.asked == [f"/them/sets/c0ffee/data/{name}.jsonl" for name in ("one", "two")]
    assert get("tiny", mirror=address).kept == fetched.new
    assert len(server.asked) == 2
    assert is_complete(PUBLISHED["tiny"])


def test_a_file_in_the_cache_that_was_changed_is_fetched_again(address, cache):
    get("tiny", mirror=address)
    (cache / "tiny" / "one.jsonl").write_bytes(OTHER)
    assert get("tiny", mirror=address).new == ("tiny/one.jsonl",)
    assert (cache / "tiny" / "one.jsonl").read_bytes() == BODY


def test_the_mirror_may_come_from_the_environment(address, cache, monkeypatch):
    monkeypatch.setenv("ASKEW_MIRROR", f"{address}/")
    assert len(get("tiny").new) == 2


def test_a_redirect_is_followed(address, cache):
    assert len(get("tiny", mirror=f"{address}/moved").new) == 2


@pytest.mark.parametrize(
    ("behaviour", "message"),
    [
        ("changed", r"sha256 is \w+, expected"),
        ("long", "sends more than the 180000 bytes expected"),
        ("short", "ended after 179900 of 180000 bytes"),
        ("cut", "ended after|broke off"),
        ("loop", "HTTP 302"),
        ("far", "HTTP 302"),
        ("ftp", "no http address"),
        ("file", "no http address|not allowed"),
        ("gone", "HTTP 404"),
        ("busy", "HTTP 503"),
    ],
)
def test_anything_else_is_an_error_that_leaves_nothing_behind(address, cache, behaviour, message):
    with pytest.raises(DataError, match=message) as caught:
        get("tiny", mirror=f"{address}/{behaviour}")
    assert "/data/one.jsonl" in str(caught.value)
    assert files_in(cache) == []


def test_redirects_end_after_a_few(address, server):
    with pytest.raises(DataError):
        get("tiny", mirror=f"{address}/far")
    assert len(server.asked) <= 10


def test_a_server_that_is_not_there_is_an_error_with_the_ways_round(cache):
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as closed:
        port = closed.server_port
    with pytest.raises(DataError, match=r"--mirror.*--from FOLDER"):
        get("tiny", mirror=f"http://127.0.0.1:{port}")
    assert files_in(cache) == []


@pytest.mark.parametrize("mirror", ["file:///etc", "ftp://127.0.0.1", "127.0.0.1:80"])
def test_a_mirror_that_is_no_http_address_is_refused(mirror):
    with pytest.raises(ConfigError, match="no http or https address"):
        get("tiny", mirror=mirror)


def test_a_name_that_is_not_published_is_an_error_that_lists_those_that_are():
    with pytest.raises(ConfigError, match=r"bbq, crows_pairs, .*flex, stereoset"):
        get("starter")


@pytest.mark.parametrize("place", ["tiny", "", "data"])
@pytest.mark.parametrize("packed", [False, True])
def test_a_folder_is_copied_without_the_network(tmp_path, cache, place, packed):
    source = tmp_path / "folder" / place
    source.mkdir(parents=True)
    for name in ("one.jsonl", "two.jsonl"):
        if packed:
            (source / f"{name}.gz").write_bytes(gzip.compress(BODY))
        else:
            (source / name).write_bytes(BODY)
    assert len(get("tiny", from_folder=tmp_path / "folder").new) == 2
    assert (cache / "tiny" / "two.jsonl").read_bytes() == BODY


def test_another_version_in_a_folder_is_refused(tmp_path, cache):
    (tmp_path / "one.jsonl").write_bytes(OTHER)
    with pytest.raises(DataError, match=r"one\.jsonl: sha256 of the text is"):
        get("tiny", from_folder=tmp_path)
    assert files_in(cache) == []


def test_files_that_a_folder_lacks_are_named_and_a_folder_without_any_is_an_error(tmp_path):
    (tmp_path / "two.jsonl").write_bytes(BODY)
    assert get("tiny", from_folder=tmp_path).missing == ("tiny/one.jsonl",)
    assert not is_complete(PUBLISHED["tiny"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(DataError, match="holds no file"):
        get("tiny", from_folder=tmp_path / "empty", cache=tmp_path / "other")


def test_a_file_without_a_pinned_address_is_had_from_a_folder_only(
    address, server, tmp_path, monkeypatch
):
    pins = (pin("one.jsonl"), pin("two.jsonl", commit=None))
    monkeypatch.setitem(PUBLISHED, "tiny", Published("tiny", "", "", "", "them/sets", pins))
    fetched = get("tiny", mirror=address)
    assert (fetched.new, fetched.missing) == (("tiny/one.jsonl",), ("tiny/two.jsonl",))
    assert len(server.asked) == 1
    (tmp_path / "two.jsonl").write_bytes(BODY)
    assert get("tiny", from_folder=tmp_path).new == ("tiny/two.jsonl",)


def test_the_cache_folder_can_be_chosen(monkeypatch, tmp_path):
    monkeypatch.setenv("ASKEW_CACHE", str(tmp_path / "chosen"))
    assert cache_folder() == tmp_path / "chosen"
    monkeypatch.delenv("ASKEW_CACHE")
    assert cache_folder().name == "askew"
