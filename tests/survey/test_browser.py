"""The survey in a real browser: by keyboard, through a killed server, and for everybody."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import aiohttp
import pytest

from askew.survey.records import Survey, write_record
from askew.survey.store import read_database
from tests.browser.finding import find_browser
from tests.hostile.texts import PAGE
from tests.survey.browser import Page, opened
from tests.survey.studies import ARMS, study, with_texts

# What a text could have made of the page.
HARM = """(() => {
  const all = [...document.querySelectorAll('*')];
  const attributes = all.flatMap((one) => [...one.attributes]);
  const foreign = 'img, svg, iframe, object, embed, b, template, foreignObject, #theirs';
  return {
    theirs: document.querySelectorAll(foreign).length,
    handlers: attributes.filter((one) => one.name.startsWith('on')).length,
    links: attributes.filter((one) => /^\\s*(javascript|data):/i.test(one.value)).length,
    scripts: document.querySelectorAll('script').length,
    hacked: window.hacked !== undefined,
  };
})()"""

# What would hinder somebody: one line a fault, none where all is well.
FAULTS = """(() => {
  const faults = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  const name = (e) => `${e.tagName.toLowerCase()}${e.id ? '#' + e.id : ''} "${
    (e.innerText || e.value || '').slice(0, 30)}"`;
  const rgba = (text) => {
    const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number);
    return [r, g, b, a];
  };
  const behind = (element) => {
    const layers = [];
    for (let e = element; e; e = e.parentElement) {
      layers.push(rgba(getComputedStyle(e).backgroundColor));
    }
    const over = (under, [r, g, b, a]) => [r, g, b].map((c, i) => c * a + under[i] * (1 - a));
    return layers.reverse().reduce(over, [255, 255, 255]);
  };
  const light = (colour) => {
    const [r, g, b] = colour.map((c) => {
      const s = c / 255;
      return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((x, y) => x - y);
    return (high + 0.05) / (low + 0.05);
  };
  const seen = (e) => e.getClientRects().length > 0;

  if (!document.documentElement.lang) faults.push('the page has no language');
  if (!document.title.trim()) faults.push('the page has no title');
  if (all('main').length !== 1) faults.push('there is no one main part');

  const levels = all('h1, h2, h3, h4, h5, h6').map((e) => Number(e.tagName[1]));
  if (levels.filter((level) => level === 1).length !== 1) faults.push('there is no one h1');
  levels.forEach((level, i) => {
    if (level > (i ? levels[i - 1] : 0) + 1) faults.push(`h${level} follows badly`);
  });

  for (const e of all('input:not([type=hidden]), textarea, select, progress')) {
    const label = [...(e.labels || [])].map((l) => l.innerText.trim()).join(' ');
    if (!label) faults.push(`${name(e)} has no label`);
  }
  for (const e of all('button, a')) {
    if (!e.innerText.trim()) faults.push(`${name(e)} says nothing`);
  }
  for (const e of all('input[type=radio], input[type=checkbox]')) {
    const group = e.closest('fieldset');
    if (!group || !group.querySelector('legend')) faults.push(`${name(e)} has no legend`);
  }
  const ids = all('[id]').map((e) => e.id);
  ids.filter((id, i) => ids.indexOf(id) !== i).forEach((id) => faults.push(`id ${id} twice`));
  for (const e of all('[aria-describedby]')) {
    for (const id of e.getAttribute('aria-describedby').split(' ')) {
      if (!document.getElementById(id)) faults.push(`${name(e)} is described by no #${id}`);
    }
  }

  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const e = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !seen(e) || e.closest('script, .skip')) continue;
    const style = getComputedStyle(e);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const found = contrast(rgba(style.color).slice(0, 3), behind(e));
    if (found < (large ? 3 : 4.5)) faults.push(`${name(e)}: contrast ${found.toFixed(2)}`);
  }
  for (const e of all('.option, textarea, input[type=text], button, progress').filter(seen)) {
    const style = getComputedStyle(e);
    const edge = contrast(rgba(style.borderTopColor).slice(0, 3), behind(e.parentElement));
    const fill = contrast(behind(e), behind(e.parentElement));
    if (Math.max(edge, fill) < 3) faults.push(`${name(e)}: edge ${edge.toFixed(2)}`);
  }
  for (const e of all('.option, button, textarea, input[type=text], main a').filter(seen)) {
    const box = e.getBoundingClientRect();
    if (box.height < 24 || box.width < 24) faults.push(`${name(e)} is small: ${box.height}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) faults.push('it scrolls sideways');
  return faults;
})()"""

# The outline of what has the focus: its width in pixels and its contrast with what is around.
FOCUS = """(() => {
  const at = document.activeElement;
  const ringed = [at, at.closest('.option')].filter(Boolean)
    .map((e) => getComputedStyle(e)).find((s) => s.outlineStyle !== 'none');
  return {
    name: `${at.tagName} ${at.value || at.innerText || at.id}`,
    width: ringed ? parseFloat(ringed.outlineWidth) : 0,
    colour: ringed ? ringed.outlineColor : '',
  };
})()"""


class Server:
    """`askew survey serve` as a process of its own."""

    def __init__(self, folder: Path, survey: Survey) -> None:
        self.survey = survey
        self.file, self.database = folder / "study.json", folder / "answers.sqlite"
        write_record(self.file, survey)
        self.said: list[str] = []

    def start(self) -> None:
        self.process = subprocess.Popen(
            [
                *(sys.executable, "-u", "-c", "from askew.cli.survey import app; app()"),
                *("serve", str(self.file), "--db", str(self.database)),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert self.process.stdout is not None
        self.said = []
        for line in self.process.stdout:
            self.said.append(line)
            if "Ctrl-C" in line:
                return
        raise AssertionError("".join(self.said))

    @property
    def links(self) -> list[str]:
        return re.findall(r"http://\S+/s/\S+", "".join(self.said))

    def kill(self) -> None:
        """As `kill -9` does."""
        self.process.kill()
        self._end()

    def interrupt(self) -> tuple[int, str]:
        """As Ctrl-C does; its exit code and its last words."""
        self.process.send_signal(signal.SIGINT)
        assert self.process.stdout is not None
        words = self.process.stdout.read()
        return self._end(), words

    def _end(self) -> int:
        code = self.process.wait(10)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@pytest.fixture
def server(tmp_path):
    find_browser()
    running = Server(tmp_path, study(4, raters=4, asked=("Your field?",)).survey)
    running.start()
    yield running
    if running.process.poll() is None:
        running.kill()


@pytest.fixture
async def page(tmp_path, server):
    async with opened(tmp_path / "profile") as tab:
        yield tab


async def begin(page: Page, link: str) -> None:
    """From the link to the first case, by keyboard."""
    await page.go(link)
    await to(page, "button.main")
    await page.press("Enter", loads=True)
    for question in ("generative_ai", "postgraduate", "clinician"):
        await to(page, f"#{question}")
        await page.press(" ")
    await page.press("Enter", loads=True)


async def to(page: Page, selector: str) -> None:
    """Press Tab until the focus is there."""
    for _ in range(40):
        if await page.evaluate(f"document.activeElement.matches({selector!r})"):
            return
        await page.press("Tab")
    raise AssertionError(f"Tab does not reach {selector}")


async def answer(page: Page, key: str) -> None:
    """Choose a pair by its key, notice the first attribute, save."""
    await page.press(key)
    await to(page, "#noticed")
    await page.press(" ")
    await page.press("Enter", loads=True)


async def test_a_whole_survey_by_keyboard_through_a_killed_server(page, server):
    link = server.links[0]
    await begin(page, link)
    assert await page.heading() == "Case 1 of 4"
    for arm in (*ARMS, "single", "chained", "hop", "baseline", "true_attributes", "case-1"):
        assert arm not in await page.source()
    await answer(page, "1")
    await answer(page, "2")
    assert await page.heading() == "Case 3 of 4"

    server.kill()
    kept = read_database(server.database, server.survey).ratings
    assert len(kept) == 2
    server.start()
    assert not server.links  # those made before go on working
    assert "links made before" in "".join(server.said)

    await page.go(link)
    assert await page.heading() == "Case 3 of 4"
    assert await page.evaluate("document.querySelector('progress').value") == 2
    assert "2 of 4 cases answered" in await page.evaluate("document.body.innerText")
    await answer(page, "ArrowLeft")
    await page.press("2")
    await to(page, "textarea")
    await page.type("1 and 2 in a comment choose nothing <b>")
    assert await page.evaluate("document.querySelector('[value=right]').checked")
    await to(page, "button.main")
    await page.press("Enter", loads=True)  # no attribute was chosen
    assert await page.evaluate("document.activeElement.id") == "errors"
    assert await page.evaluate("document.querySelector('textarea').value.endsWith('<b>')")
    await to(page, "#noticed")
    await page.press(" ")
    await page.press("Enter", loads=True)
    assert await page.heading() == "Thank you"

    ratings = read_database(server.database, server.survey).ratings
    sides = ["left" if one.choice == one.left else "right" for one in ratings]
    assert sides == ["left", "right", "left", "right"]
    assert [one.scenario for one in ratings] == list(server.survey.sheets[0].order)
    assert {one.noticed for one in ratings} == {("age",)}
    assert ratings[-1].comment == "1 and 2 in a comment choose nothing <b>"
    code, words = server.interrupt()
    assert code == 0
    assert "Traceback" not in words


async def test_an_answer_can_be_looked_at_and_changed_with_the_back_link(page, server):
    await begin(page, server.links[0])
    await answer(page, "1")
    await page.click("a.quiet", loads=True)
    assert await page.heading() == "Case 1 of 4"
    assert await page.evaluate("document.querySelector('[value=left]').checked")
    await page.press("2")
    await page.press("Enter", loads=True)
    assert await page.heading() == "Case 2 of 4"
    (one,) = read_database(server.database, server.survey).ratings
    assert one.choice != one.left


async def test_two_raters_do_not_see_each_others_answers(page, server, tmp_path):
    await begin(page, server.links[0])
    await answer(page, "1")
    await page.go(server.links[1])
    assert await page.heading() == "Before you begin"


async def test_nothing_comes_from_elsewhere_and_the_policy_is_never_broken(page, server):
    await begin(page, server.links[0])
    await answer(page, "1")
    origin = server.links[0].partition("/s/")[0]
    assert {re.sub(r"(//[^/]+).*", r"\1", one) for one in page.requested} == {origin}
    assert page.complaints == []
    assert await page.evaluate("document.cookie") == ""


async def test_what_models_wrote_is_text_and_nothing_of_it_runs(tmp_path):
    """Every hostile text as the truth, a question and an answer, in both pairs of one case."""
    find_browser()
    survey = with_texts(study(1, raters=1).survey, *PAGE.values())
    server = Server(tmp_path, replace(survey, title=PAGE["script"], consent=PAGE["handler"]))
    server.start()
    try:
        async with opened(tmp_path / "profile") as page:
            await begin(page, server.links[0])
            assert await page.heading() == "Case 1 of 1"
            whole = await page.evaluate("document.body.textContent")
            for name in ("handler", "end", "link", "svg", "attribute", "markdown"):
                assert whole.count(PAGE[name]) >= 4, name  # truth, question, both answers
            assert whole.count(PAGE["script"]) == 5  # the title as well
            assert not set("\x00\x1b\x7f\u202e") & set(whole)
            found = await page.evaluate(HARM)
            assert found == {"theirs": 0, "handlers": 0, "links": 0, "scripts": 1, "hacked": False}
            await answer(page, "1")  # the page's own keys go on
            origin = server.links[0].partition("/s/")[0]
            assert all(one.startswith(origin) for one in page.requested)
            assert page.complaints == []
    finally:
        server.kill()


async def test_a_wrong_link_shows_no_case(page, server):
    await page.go(server.links[0][:-1] + "!")
    assert await page.heading() == "This link does not work"
    async with aiohttp.ClientSession() as session, session.get(server.links[0] + "x") as response:
        assert response.status == 403


async def test_without_scripts_the_forms_do_it_all(server, tmp_path):
    async with opened(tmp_path / "scriptless", script=False) as page:
        await page.go(server.links[0])
        await page.click("button.main", loads=True)
        for question in ("generative_ai", "postgraduate", "clinician"):
            await page.click(f"#{question}")
        await page.click("button.main", loads=True)
        await page.press("1")  # the script's key
        assert not await page.evaluate("document.querySelector('[value=left]').checked")
        await to(page, "[name=choice]")
        await page.press(" ")  # the form's own keys
        await page.press("ArrowRight")
        await to(page, "#noticed")
        await page.press(" ")
        await page.press("Enter", loads=True)
        assert await page.heading() == "Case 2 of 4"
    (one,) = read_database(server.database, server.survey).ratings
    assert one.choice != one.left


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_nobody_is_hindered_on_any_page(page, server, scheme):
    await page.prefers(scheme)
    for width, link in zip((1280, 320), server.links, strict=False):
        await page.size(width)
        for where, mistaken in (
            ("consent", False),
            ("about", False),
            ("about", True),
            ("case/1", False),
            ("case/1", True),
            ("case/2", False),
            ("end", False),
        ):
            await visit(page, link, where)
            if mistaken:
                await page.click("button.main", loads=True)
            assert await page.evaluate(FAULTS) == [], (where, mistaken, width)
        await page.go(f"{link}x")
        assert await page.evaluate(FAULTS) == [], width


async def visit(page: Page, link: str, where: str) -> None:
    """Go on until this page is due."""
    await page.go(f"{link}/{where}")
    for _ in range(8):
        if await page.evaluate(f"location.pathname.endsWith({'/' + where!r})"):
            return
        if await page.evaluate("location.pathname.endsWith('/about')"):
            for question in ("generative_ai", "postgraduate", "clinician"):
                await page.click(f"#{question}")
        elif await page.evaluate("location.pathname.includes('/case/')"):
            await page.click("[name=choice]")
            await page.click("[name=noticed]")
        await page.click("button.main", loads=True)
    raise AssertionError(f"{where} does not come")


async def test_the_focus_is_seen_wherever_tab_takes_it(page, server):
    await begin(page, server.links[0])
    seen: dict[str, float] = {}
    for _ in range(16):
        await page.press("Tab")
        found = await page.evaluate(FOCUS)
        seen[found["name"]] = found["width"]
        assert found["width"] >= 2, found
        if found["name"].startswith("BUTTON Turn") or "no" in found["name"].split():
            break
    assert sum(name.startswith("INPUT") for name in seen) >= 7  # one radio and six boxes
    assert any(name.startswith("TEXTAREA") for name in seen)


async def test_the_faults_looked_for_are_found_where_they_are(page, server):
    """The check itself: a page with each kind of fault."""
    await visit(page, server.links[0], "case/1")
    await page.evaluate(
        "document.querySelector('h1').remove();"
        "document.querySelector('textarea').labels[0].remove();"
        "document.querySelector('legend').remove();"
        "document.documentElement.lang = '';"
        "document.querySelector('h2').outerHTML = '<h5>Jump</h5>';"
        "document.querySelector('.hint').style.color = 'rgb(200, 200, 200)';"
        "document.querySelector('.option').style.borderColor = 'rgb(250, 250, 250)';"
        "document.querySelector('.option').style.background = 'none';"
        "document.querySelector('main').style.minWidth = '3000px';"
    )
    found = "\n".join(await page.evaluate(FAULTS))
    for fault in (
        "one h1",
        "no label",
        "no legend",
        "no language",
        "follows badly",
        "contrast",
        "edge",
    ):
        assert fault in found, fault
    assert "sideways" in found


async def test_single_keys_turned_off_choose_nothing(page, server):
    await begin(page, server.links[0])
    await page.click("footer button", loads=True)
    await page.press("1")
    assert not await page.evaluate("document.querySelector('[value=left]').checked")
