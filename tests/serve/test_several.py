"""A run of three audits, served: what its figures lead to, and that nothing of it is written to."""

from __future__ import annotations

import hashlib
import html
import re
import shutil
from pathlib import Path
from urllib.parse import quote

import pytest

from tests.report.several_runs import all_three
from tests.report.test_report_links import matching
from tests.serve.test_server import served

AUDITS = ["flex", "clinical", "boundary"]


@pytest.fixture(scope="module")
def three(tmp_path_factory) -> Path:
    made = all_three(tmp_path_factory.mktemp("several") / "runs" / "three")
    made.write_manifest()
    return made.path.parent


def contents(folder: Path) -> dict[str, str]:
    return {
        one.relative_to(folder).as_posix(): hashlib.sha256(one.read_bytes()).hexdigest()
        for one in folder.rglob("*")
        if one.is_file()
    }


async def test_every_link_of_a_served_report_is_answered_with_as_many_items_as_on_disk(three):
    from askew.report.items.shelves import shelves_of
    from askew.runfolder import RunFolder

    shelves = {one.audit: one for one in shelves_of(RunFolder(three / "three"))}
    async with served(three) as reader:
        page = await (await reader.get("run/three")).text()
        links = {html.unescape(link) for link in re.findall(r'href="(#items?/[^"]+)"', page)}
        asked = set()
        for link in sorted(links):
            audit = re.split(r"[/?]", link)[1]
            asked.add(audit)
            expected = [one.id for one in matching(link, shelves)]
            if link.startswith("#item/"):
                found = await reader.json(
                    f"api/three/item?audit={audit}&id={link.split('/', 2)[2]}"
                )
            else:
                query = link.partition("?")[2]
                found = await reader.json(f"api/three/items?audit={audit}&limit=500&{query}")
                assert found["matched"] == len(expected), link
            assert {one[0] for one in found["items"]} <= set(expected), link
        assert asked == set(AUDITS)


@pytest.mark.parametrize("audit", AUDITS)
async def test_items_of_every_audit_are_filtered_counted_and_opened_and_nothing_is_written(
    three, audit
):
    before = contents(three)
    async with served(three) as reader:
        told = await reader.json("api/three/shelves")
        shelf = next(one for one in told["shelves"] if one["audit"] == audit)
        for facet in shelf["facets"]:
            for value, count in zip(facet["values"], facet["counts"], strict=True):
                asked = f"audit={audit}&limit=1&{facet['name']}={quote(value, safe='')}"
                assert (await reader.json(f"api/three/items?{asked}"))["matched"] == count > 0
        page = await reader.json(f"api/three/items?audit={audit}&q=a&sort=id&limit=3")
        for one in page["items"]:
            alone = await reader.json(f"api/three/item?audit={audit}&id={quote(one[0], safe='')}")
            assert alone["items"][0][0] == one[0]
    assert contents(three) == before


async def test_the_items_are_read_once_for_the_report_and_for_what_it_asks(three, monkeypatch):
    from askew.report.items import shelves

    read = []
    stock_of = shelves.stock_of
    monkeypatch.setattr(
        shelves, "stock_of", lambda folder, audit: read.append(audit) or stock_of(folder, audit)
    )
    async with served(three) as reader:
        await reader.get("run/three")
        for audit in AUDITS:
            await reader.json(f"api/three/items?audit={audit}")
    assert sorted(read) == sorted(AUDITS)


async def test_a_run_that_is_taken_away_is_gone_and_the_others_are_still_served(three, tmp_path):
    shutil.copytree(three, tmp_path / "runs")
    shutil.copytree(three / "three", tmp_path / "runs" / "four")
    async with served(tmp_path / "runs") as reader:
        assert (await reader.get("run/four")).status == 200
        shutil.rmtree(tmp_path / "runs" / "four")
        for path in ("run/four", "api/four/shelves", "api/four/items?audit=flex"):
            assert (await reader.get(path)).status == 404
        assert (await reader.get("api/three/shelves")).status == 200
