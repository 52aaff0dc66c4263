"""The survey's server: who is let in, what is kept, what is refused."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import threading
from contextlib import asynccontextmanager
from dataclasses import replace

import aiohttp
import pytest
from aiohttp import web
from aiohttp.test_utils import unused_port
from hypothesis import given, settings
from hypothesis import strategies as st
from markupsafe import escape

from askew.errors import ConfigError, RunError
from askew.survey import pages
from askew.survey.collected import Status
from askew.survey.pages import Given, Progress, case_page
from askew.survey.server import MOST_BYTES, Pages
from askew.survey.serving import Serving, address, check_host, reached, serve_until_stopped
from askew.survey.store import Store, read_database
from tests.survey.studies import ARMS, study, with_texts

YES = {"generative_ai": "yes", "postgraduate": "yes", "clinician": "no"}
ANSWER = {"choice": "left", "noticed": ["age", "gender"], "comment": ""}


class Rater:
    """A browser without scripts: what it shows, and the forms it sends."""

    def __init__(self, session: aiohttp.ClientSession, origin: str, token: str) -> None:
        self.session, self.origin, self.base = session, origin, f"{origin}/s/{token}"

    async def get(self, page: str = "") -> aiohttp.ClientResponse:
        response = await self.session.get(f"{self.base}/{page}".rstrip("/"))
        await response.read()
        return response

    async def post(self, page: str, form: object, **headers: str) -> aiohttp.ClientResponse:
        sent = {"Origin": self.origin, **{k.replace("_", "-"): v for k, v in headers.items()}}
        response = await self.session.post(f"{self.base}/{page}", data=form, headers=sent)
        await response.read()
        return response

    async def begin(self, answers=YES) -> aiohttp.ClientResponse:
        await self.get()
        await self.post("consent", {"agree": "yes"})
        return await self.post("about", answers)


@asynccontextmanager
async def served(store, survey):
    """The application on a free port; gives the address."""
    handler = Pages(survey, store)
    runner = web.AppRunner(handler.application(), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    port = runner.addresses[0][1]
    handler.reached = reached(Serving(), port)
    async with aiohttp.ClientSession() as session:
        yield session, f"http://127.0.0.1:{port}"
    await runner.cleanup()


@pytest.fixture
def survey():
    return study(3, raters=4).survey


@pytest.fixture
def store(tmp_path, survey):
    opened = Store(tmp_path / "answers.sqlite", survey)
    yield opened
    opened.close()


@pytest.fixture
async def rater(store, survey):
    (link,) = store.new_links(1)
    async with served(store, survey) as (session, origin):
        yield Rater(session, origin, link.token)


def path(response: aiohttp.ClientResponse) -> str:
    return response.url.path.split("/", 3)[-1]


# The way through


async def test_a_rater_agrees_answers_and_is_led_from_case_to_case(rater, store, survey):
    assert path(await rater.get()) == "consent"
    assert path(await rater.post("consent", {"agree": "yes"})) == "about"
    assert path(await rater.post("about", YES)) == "case/1"
    for number in (1, 2, 3):
        response = await rater.post(f"case/{number}", ANSWER)
    assert path(response) == "end"
    collected = read_database(store.path, survey)
    sheet = survey.sheets[0]
    assert [one.scenario for one in collected.ratings] == list(sheet.order)
    for one in collected.ratings:
        assert one.choice == one.left == sheet.left[one.scenario]
        assert one.noticed == ("age", "gender")


async def test_the_link_alone_leads_to_where_one_was(rater):
    await rater.begin()
    await rater.post("case/1", ANSWER)
    assert path(await rater.get()) == "case/2"


async def test_no_case_can_be_skipped(rater):
    await rater.begin()
    assert path(await rater.get("case/3")) == "case/1"
    assert path(await rater.post("case/2", ANSWER)) == "case/1"
    assert path(await rater.get("end")) == "case/1"


async def test_an_answer_can_be_changed_and_the_earlier_one_stays_in_the_file(rater, store, survey):
    await rater.begin()
    await rater.post("case/1", ANSWER)
    before = await (await rater.get("case/1")).text()
    assert re.search(r'value="left"[^>]* checked', before)
    await rater.post("case/1", {**ANSWER, "choice": "right", "comment": "Changed.\r\nTwice."})
    (one,) = read_database(store.path, survey).ratings
    assert one.choice != one.left
    assert one.comment == "Changed.\nTwice."
    with sqlite3.connect(store.path) as database:
        assert database.execute("SELECT count(*) FROM ratings").fetchone() == (2,)


async def test_who_does_not_fit_is_thanked_and_sees_no_case_and_cannot_try_again(rater, store):
    response = await rater.begin({**YES, "postgraduate": "no"})
    assert path(response) == "end"
    assert "no cases for you" in await response.text()
    for page in ("case/1", "about", "consent"):
        assert path(await rater.get(page)) == "end"
        assert path(await rater.post(page, {**YES, **ANSWER, "agree": "yes"})) == "end"
    assert store.state(1).status is Status.EXCLUDED


async def test_who_declines_may_think_again(rater, store):
    response = await rater.post("consent", {"agree": "no"})
    await rater.get()
    response = await rater.post("consent", {"agree": "no"})
    assert "do not take part" in await response.text()
    assert store.state(1).status is Status.DECLINED
    assert path(await rater.post("consent", {"agree": "yes"})) == "about"


@pytest.mark.parametrize(
    ("form", "field"),
    [
        ({"noticed": "age"}, "choice"),
        ({"choice": "middle", "noticed": "age"}, "choice"),
        ({"choice": "none", "noticed": "age"}, "choice"),  # this study forces a choice
        ({"choice": ["left", "right"], "noticed": "age"}, "choice"),
        ({"choice": "left"}, "noticed"),
        ({"choice": "left", "noticed": "shoe size"}, "noticed"),
        ({"choice": "left", "noticed": ["age", "none"]}, "noticed"),
        ({"choice": "left", "noticed": "age", "comment": "x" * 2001}, "comment"),
    ],
)
async def test_an_incomplete_form_is_shown_again_with_what_it_held(rater, store, form, field):
    await rater.begin()
    response = await rater.post("case/1", form)
    page = await response.text()
    assert response.status == 422
    assert f'href="#{field}"' in page
    assert f'id="error-{field}"' in page
    assert ('value="age" id="noticed" checked' in page) == ("age" in form.get("noticed", ()))
    assert not store.state(1).ratings


async def test_the_questions_about_oneself_need_an_answer(rater):
    await rater.get()
    await rater.post("consent", {"agree": "yes"})
    response = await rater.post("about", {"generative_ai": "perhaps"})
    assert response.status == 422
    assert (await response.text()).count('class="error"') == 3


async def test_no_difference_is_offered_where_the_study_allows_it(tmp_path):
    survey = study(1, allow_no_difference=True).survey
    store = Store(tmp_path / "a.sqlite", survey)
    (link,) = store.new_links(1)
    async with served(store, survey) as (session, origin):
        rater = Rater(session, origin, link.token)
        await rater.begin()
        await rater.post("case/1", {"choice": "none", "noticed": "none"})
        (one,) = read_database(store.path, survey).ratings
        assert (one.choice, one.noticed) == ("no_difference", ())
        again = await (await rater.get("case/1")).text()
        assert len(re.findall(r'value="none"[^>]* checked', again)) == 2
    store.close()


async def test_single_keys_can_be_turned_off(rater):
    await rater.begin()
    assert "<script>" in await (await rater.get("case/1")).text()
    response = await rater.post("keys", {"on": "no", "case": "1"})
    assert path(response) == "case/1"
    assert "<script>" not in await response.text()


# Who is refused


async def test_every_wrong_link_gets_the_same_answer(rater):
    await rater.begin()
    right = rater.base.rpartition("/")[2]
    wrong = (right[:-1], right + "x", right.swapcase(), "1", "%00", "%ff", "é", " ")
    answers = set()
    for token in wrong:
        for page in ("", "/case/1", "/nothing"):
            response = await rater.session.get(f"{rater.origin}/s/{token}{page}")
            answers.add((response.status, await response.text()))
    assert {status for status, _ in answers} == {403}
    assert len(answers) == 1


async def test_forms_from_elsewhere_are_refused(rater, store):
    await rater.begin()
    for headers in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": rater.origin.replace("http", "https")},
        {"Origin": f"{rater.origin}.evil.example"},
        {"Origin": rater.origin, "Sec_Fetch_Site": "cross-site"},
    ):
        assert (await rater.post("case/1", ANSWER, **headers)).status == 403
    response = await rater.session.post(f"{rater.base}/case/1", data=ANSWER)
    assert response.status == 403  # says nothing of where it comes from
    assert not store.state(1).ratings


async def test_a_name_pointed_here_from_outside_is_refused(rater):
    for host in ("evil.example", "127.0.0.1", "localhost:1"):
        response = await rater.session.get(rater.base, headers={"Host": host})
        assert response.status == 421
    port = rater.origin.rpartition(":")[2]
    response = await rater.session.get(rater.base, headers={"Host": f"localhost:{port}"})
    assert response.status == 200


async def test_what_is_too_large_or_no_form_is_refused(rater, store):
    await rater.begin()
    long = await rater.post("case/1", {**ANSWER, "comment": "x" * (MOST_BYTES + 1)})
    assert long.status == 413
    multipart = aiohttp.FormData({"choice": "left"})
    multipart.add_field("file", b"x", filename="x")
    assert (await rater.post("case/1", multipart)).status == 415
    form = "application/x-www-form-urlencoded"
    assert (await rater.post("case/1", b"choice=\xff", Content_Type=form)).status == 400
    strange = f"{form}; charset=utf-7"
    assert (await rater.post("case/1", b"a=b", Content_Type=strange)).status == 415
    assert (await rater.session.delete(rater.base, headers={"Origin": rater.origin})).status == 405
    assert not store.state(1).ratings


async def test_pages_that_are_not_there_are_not_found(rater):
    await rater.begin()
    for page in ("case/0", "case/4", "case/01", "case/1/2", "keys", "nothing"):
        assert (await rater.get(page)).status == 404
    assert (await rater.session.get(rater.origin)).status == 404


async def test_every_answer_carries_the_policy_and_no_cookie(rater):
    await rater.begin()
    addresses = [rater.base, f"{rater.base}/case/1", f"{rater.origin}/s/x", rater.origin]
    for where in addresses:
        response = await rater.session.get(where)
        policy = response.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert response.headers["Content-Type"] == "text/html; charset=utf-8"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
        assert response.headers["Referrer-Policy"] == "same-origin"
        assert response.headers["Cache-Control"] == "no-store"
        assert "Set-Cookie" not in response.headers
        assert "aiohttp" not in response.headers["Server"]


# What is shown


def shown(survey, scenario: str = "S1") -> str:
    sheet = replace(survey.sheets[0], order=tuple(one.id for one in survey.scenarios))
    number = sheet.order.index(scenario) + 1
    progress = Progress(number, 0, len(sheet.order))
    return case_page(survey, sheet, progress, "/s/x", shortcuts=True, given=Given())


@pytest.mark.parametrize(
    "text",
    ["<script>alert(1)</script>", '"><img src=x onerror=y>', "</style><b>", "{{ 7 * 7 }}", "&lt;"],
)
def test_texts_of_models_are_shown_and_not_run(survey, text):
    page = shown(with_texts(survey, text))
    assert page.count(str(escape(text))) == 4  # truth, question and both answers …
    assert page.count("<script>") == 1  # … and the page's own script alone
    assert not re.search("<img|<b>|49", page)


@given(st.text(max_size=40))
@settings(deadline=None, max_examples=50)
def test_any_text_leaves_the_page_whole(text):
    page = shown(with_texts(study(1).survey, text))
    assert page.count("<script>") == page.count("</main>") == 1
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f]", page)


async def test_no_page_names_an_arm_or_what_was_changed(rater, survey):
    await rater.begin()
    for number in (1, 2, 3):
        page = await (await rater.get(f"case/{number}")).text()
        assert not any(
            arm in page for arm in (*ARMS, "single", "chained", "hop", "baseline", "case-1")
        )
        await rater.post(f"case/{number}", ANSWER)


def test_a_pair_with_more_questions_than_the_other_is_shown_whole(survey):
    first = survey.scenarios[0]
    page = shown(replace(survey, scenarios=(replace(first, b=first.b[:1]), *survey.scenarios[1:])))
    for one in first.a:
        assert one.answer in page


def test_the_policy_names_the_style_and_the_script_that_stand_in_the_page(survey):
    import base64
    import hashlib

    page = shown(survey)
    for tag in ("style", "script"):
        text = page.split(f"<{tag}>")[1].split(f"</{tag}>")[0]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{tag}-src 'sha256-{digest}'" in pages.content_security_policy()


# The file


def test_links_are_kept_as_hashes_alone(store):
    links = store.new_links(3)
    assert len({link.token for link in links}) == 3
    content = store.path.read_bytes()
    wal = store.path.with_name(store.path.name + "-wal").read_bytes()
    assert not any(link.token.encode() in content + wal for link in links)
    assert [store.rater_of(link.token) for link in links] == [1, 2, 3]
    assert store.rater_of("") is None


def test_links_are_added_and_never_made_anew(store):
    first = store.new_links(2)
    assert [link.rater for link in store.new_links(3)] == [3]
    assert store.new_links(3) == []
    replaced = store.replace_link(1)
    assert store.rater_of(first[0].token) is None
    assert store.rater_of(replaced.token) == 1
    with pytest.raises(RunError, match="no rater 9"):
        store.replace_link(9)


def test_only_the_owner_can_read_the_answers(store):
    assert store.path.stat().st_mode & 0o077 == 0


def test_the_answers_of_another_survey_are_not_mixed_in(store):
    with pytest.raises(RunError, match="another survey"):
        Store(store.path, study(2).survey)
    with pytest.raises(RunError, match="another survey"):
        read_database(store.path, study(2).survey)


def test_a_file_that_is_no_database_is_refused(tmp_path, survey):
    path = tmp_path / "a.sqlite"
    path.write_text("no database at all, but rather long a text" * 50)
    for read in (Store, read_database):
        with pytest.raises(RunError, match=r"a\.sqlite"):
            read(path, survey)


def test_more_raters_than_sheets_begin_the_sheets_again(store, survey):
    store.new_links(6)
    assert store.sheet(5) == survey.sheets[0]


async def test_a_full_disk_is_said_and_saves_nothing(rater, store):
    await rater.begin()
    store._database.execute("PRAGMA query_only = ON")  # as a disk that takes no more
    response = await rater.post("case/1", ANSWER)
    store._database.execute("PRAGMA query_only = OFF")
    assert response.status == 503
    assert "could not be saved" in await response.text()
    assert path(await rater.post("case/1", ANSWER)) == "case/2"


# Where it is served


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "127.8.0.1"])
def test_this_machine_alone_needs_no_flag(host):
    assert check_host(Serving(host=host)) == ""


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "myhost", ""])
def test_other_machines_need_a_flag_and_bring_a_warning(host):
    with pytest.raises(ConfigError, match="--allow-remote"):
        check_host(Serving(host=host))
    url = "http://study.example.org"
    assert "encrypted" in check_host(Serving(host=host, allow_remote=True, public_url=url))


def test_every_address_needs_a_name_for_its_links():
    with pytest.raises(ConfigError, match="--public-url"):
        check_host(Serving(host="0.0.0.0", allow_remote=True))


@pytest.mark.parametrize(
    "url", ["study.example.org", "ftp://x", "https://x/path", "https://a:b@x", "https://[", ""]
)
def test_a_public_address_that_cannot_be_one_is_refused(url):
    with pytest.raises(ConfigError, match="expected a scheme"):
        check_host(Serving(allow_remote=True, public_url=url))


def test_a_public_name_is_reached_beside_the_own_one():
    serving = Serving(allow_remote=True, public_url="https://Study.example.org:443/")
    assert "encrypted" not in check_host(serving)
    found = reached(serving, 8000)
    assert "https://study.example.org" in found.origins
    assert "study.example.org" in found.hosts
    assert "127.0.0.1:8000" in found.hosts
    assert address(Serving(host="::1"), 80) == "http://[::1]:80"


async def test_a_taken_port_is_said_if_asked_for_and_passed_over_if_remembered(store, survey):
    import socket

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(RunError, match="cannot be listened on"):
            await serve_until_stopped(survey, store, Serving(port=port), print)
        store.keep_port(port)
        found: list[str] = []

        def ready(where: str) -> None:
            found.append(where)
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            await serve_until_stopped(survey, store, Serving(), ready)
        assert found
        assert not found[0].endswith(f":{port}")


async def test_the_port_of_the_last_time_is_taken_again(store, survey):
    port = unused_port()
    store.keep_port(port)
    found: list[str] = []

    def ready(where: str) -> None:
        found.append(where)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        await serve_until_stopped(survey, store, Serving(), ready)
    assert found == [f"http://127.0.0.1:{port}"]


async def test_fifteen_raters_at_once_lose_nothing(tmp_path):
    exported = study(3, raters=15)
    store = Store(tmp_path / "a.sqlite", exported.survey)
    links = store.new_links(15)

    async def answer(session, origin, link):
        rater = Rater(session, origin, link.token)
        await rater.begin()
        for number in (1, 2, 3):
            await rater.post(f"case/{number}", {**ANSWER, "comment": f"{link.rater}/{number}"})

    async with served(store, exported.survey) as (session, origin):
        await asyncio.gather(*(answer(session, origin, link) for link in links))
    store.close()
    collected = read_database(store.path, exported.survey)
    assert len({one.comment for one in collected.ratings}) == 45
    assert threading.active_count() < 10
