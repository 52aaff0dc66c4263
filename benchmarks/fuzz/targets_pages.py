"""What a browser asks of `askew serve`, and the results of other tools."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import sys
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote

from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from bent import bent_json
from harness import HERE, Target, law, text_of
from places import scratch

sys.path.insert(0, str(HERE.parents[1]))  # for tests.report
from tests.report.runs import make_run, starter_items

from askew.errors import DataError
from askew.interop.inspect_samples import asked_of, metadata_of
from askew.interop.lm_eval_folder import ExportedTasks
from askew.interop.lm_eval_results import HarnessRun
from askew.interop.lm_eval_samples import _parsed, _Reader
from askew.prompts.choice import PromptFormat, render
from askew.records import Message
from askew.runfile import checked
from askew.runfolder import RunFolder
from askew.serve.items import answer
from askew.serve.query import parse_date
from askew.serve.runs import Memory, ServedRuns
from askew.serve.server import ReportServer

TOKEN = "secret-token"


@cache
def _served() -> tuple[RunFolder, Memory]:
    folder = scratch() / "served"
    folder.mkdir(exist_ok=True)
    return make_run(folder / "one", starter_items(6), reply="B"), Memory()


def item_query(data: bytes) -> None:
    """report.items.query and serve.items: filters, words, orders, pages of a run's items."""
    folder, memory = _served()
    text = text_of(data)
    path, _, query = text.partition("?")
    given = dict(parse_qsl(query, keep_blank_values=True))
    if "since" in given:
        parse_date(given["since"])
    found = json.loads(answer(folder, path, given, memory))
    if path == "items":
        law(len(found["items"]) <= found["matched"], "no more than there are", found["matched"])
        for values in found["counts"].values():
            law(all(isinstance(n, int) and n >= 0 for n in values), "counts", values)


@cache
def _server() -> tuple[ReportServer, web.Application, asyncio.AbstractEventLoop]:
    folder, _ = _served()
    server = ReportServer(ServedRuns([folder.path.parent]), TOKEN)
    server.hosts = ("127.0.0.1:1",)
    logging.getLogger("askew.serve.server").disabled = True
    loop = asyncio.new_event_loop()
    asyncio.set_event_loop(loop)
    application = server.application()
    application.freeze()
    return server, application, loop


def server_path(data: bytes) -> None:
    """serve.server: any path, host and method; nothing without the token, never a 500."""
    server, application, loop = _server()
    first, text = (data[0] if data else 0), text_of(data[1:])
    path = "/" + quote(text, safe="/?&=%+#;:@!$'()*,~.-_", errors="replace").lstrip("/")
    if first & 1:
        path = f"/{TOKEN}{path}"
    try:
        request = make_mocked_request(
            ("GET", "GET", "POST", "HEAD")[first // 2 % 4],
            path,
            headers={"Host": "127.0.0.1:1" if first & 8 == 0 else text[:40].strip() or "x"},
            app=application,
        )
    except ValueError:  # no URL: the server's own parser refuses it before us
        return
    response = loop.run_until_complete(_answered(server, application, request))
    law(response.status != 500, "no fault of ours", response.status, path)
    if not request.path.startswith(f"/{TOKEN}") and request.path != "/favicon.ico":
        law(response.status in (403, 405, 421, 400), "nothing without the secret", response.status)
    law(response.headers["X-Content-Type-Options"] == "nosniff", "the guarding headers")


async def _answered(
    server: ReportServer, application: web.Application, request: web.Request
) -> web.StreamResponse:
    found = await application.router.resolve(request)
    request._match_info = found  # type: ignore[assignment]  # as aiohttp's router does
    found.add_app(application)
    return await server._guard(request, found.handler)  # type: ignore[misc]  # the middleware itself


@cache
def _exported() -> tuple[ExportedTasks, HarnessRun, bytes]:
    run = checked({"models": {"target": {"name": "openai/m"}}, "flex": {}})
    document: dict[str, Any] = {
        "place": 0,
        "item_id": "own/1",
        "condition": "source",
        "category": "",
        "scenario": "",
        "prompt": "Who was late?\nAnswer:",
        "choices": ["The aunt", "The niece", "Unknown"],
        "target": 2,
    }
    exported = ExportedTasks(Path("x"), run, {}, (document,), ("askew_own",), {}, "sum")
    harness = HarnessRun(Path("r.json"), "2026-01-01", {}, {}, "lm-eval/hf/m", {})
    sample = {
        "doc_id": 0,
        "doc": document,
        "target": "2",
        "arguments": {
            f"gen_args_{n}": {"arg_0": document["prompt"], "arg_1": f" {choice}"}
            for n, choice in enumerate(document["choices"])
        },
        "resps": [[["-3.5", "False"]], [["-2.5", "False"]], [["-1.25", "True"]]],
        "filter": "none",
        "acc": 1.0,
    }
    return exported, harness, json.dumps(sample).encode()


def harness_sample(data: bytes) -> None:
    """interop.lm_eval_samples: one line of a samples file against the exported document."""
    exported, run, _ = _exported()
    record = _parsed(Path("samples.jsonl"), 1, data)
    sample = _Reader(Path("samples.jsonl"), 1, record).sample("askew_own", run, exported)
    law(sample.place == 0, "the document that was asked", sample)
    law(len(sample.log_probabilities) == 3, "a figure a choice", sample)
    for figure in sample.log_probabilities:
        law(not math.isnan(figure) and figure <= 1e-6, "a log-probability", figure)


@cache
def _inspect() -> dict[str, object]:
    from askew.audits.flex import Asked

    item = starter_items(1)[0]
    prompt = render(item, PromptFormat(), (0, 1, 2))
    return metadata_of(Asked(item, "source", (0, 1, 2), prompt, None, 0), 0)


def inspect_sample(data: bytes) -> None:
    """interop.inspect_samples: the metadata of a sample as a log holds them."""
    exported, _, _ = _exported()
    try:
        metadata = json.loads(data)
        if not isinstance(metadata, dict):
            return
        asked = asked_of(metadata, [Message("user", "Who?")], 0, exported.run)
        int(metadata["place"])
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as trouble:
        # As `inspect_import` turns them into a RunError.
        raise DataError("no sample") from trouble
    law(sorted(asked.order) == [0, 1, 2], "an order of three", asked.order)
    law(len(asked.item.options) == 3, "three options", asked.item)
    law((asked.condition == "attacked") == (asked.scenario is not None), "attacked", asked)


_JSON = (b'{"', b'": ', b"}", b"[", b"]", b"null", b"true", b"NaN", b"-Infinity", b"1e999", b"0")
TARGETS = [
    Target(
        "item_query",
        item_query,
        seeds=(
            b"items?audit=flex&q=aunt&sort=worst&offset=1&limit=3",
            b"items?audit=flex&flagged=yes&bias_type=age&sort=-n&limit=500",
            b"item?audit=flex&id=starter/age-001",
            b"shelves?",
            b"items?audit=flex&since=2026-11-30T10:00:00%2B01:00",
        ),
        words=(
            b"audit=",
            b"flex",
            b"clinical",
            b"&",
            b"=",
            b"%",
            b"q=",
            b"sort=",
            b"limit=",
            b"offset=",
            b"flagged=",
            b"category=",
            b"persona_injection",
            b"since=",
            b"999999999",
            b"bias_type=",
            b"%00",
            b"%ED%A0%80",
            b"+",
        ),
        longest=256,
    ),
    Target(
        "server_path",
        server_path,
        seeds=(
            b"\x01run/none",
            b"\x01api/one/items?audit=flex&q=x",
            b"\x01",
            b"\x00../../etc/passwd",
            b"\x01api/one/../../x?a=1&a=2",
            b"\x03run/one%00",
        ),
        words=(
            b"api/",
            b"one/",
            b"run/",
            b"items?",
            b"shelves",
            b"item?",
            b"audit=flex",
            b"..",
            b"%2e%2e",
            b"%2f",
            b"//",
            b"?",
            b"&",
            b"#",
            b"%",
            b"favicon.ico",
            b"secret-token",
        ),
        longest=256,
    ),
    Target(
        "harness_sample",
        harness_sample,
        seeds=(_exported()[2],),
        words=(
            *_JSON,
            b'"resps": ',
            b'"doc": ',
            b'"arguments": ',
            b"False",
            b'"acc": ',
            b"inf",
            b'"doc_hash": ',
            b'"target": ',
            b"-0.0",
        ),
        strategy=lambda: bent_json([json.loads(_exported()[2])], _JSON),
        longest=2048,
    ),
    Target(
        "inspect_sample",
        inspect_sample,
        seeds=(json.dumps(_inspect()).encode(),),
        words=(
            *_JSON,
            b'"place": ',
            b'"option_order": ',
            b'"012"',
            b'"item": ',
            b'"attacked"',
            b'"persona_injection"',
            b'"neutral": ',
        ),
        strategy=lambda: bent_json([_inspect()], _JSON),
        longest=2048,
    ),
]
