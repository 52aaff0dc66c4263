"""The reports as a web application for this machine: a list of runs, their reports, their items.

What guards it: it listens on loopback alone; requests under another name than this machine's are
refused (a site may point a name of its own at 127.0.0.1); and every address begins with a random
secret, as other people's programs on the same machine reach loopback too. It only reads, knows GET
and HEAD alone, sends no header that would let another site read an answer, and keeps no log.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from hmac import compare_digest
from typing import TypeVar

from aiohttp import web

from askew.errors import AskewError, ConfigError
from askew.runfolder import RunFolder
from askew.serve import pages
from askew.serve.items import NoSuchItem, answer, source_of
from askew.serve.query import BadQuery
from askew.serve.runs import Memory, NotServed, ServedRuns

MOST_QUERY = 4_096  # characters of a query
_AT_ONCE = 4  # requests that read files at the same time
_LOG = logging.getLogger(__name__)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Found = TypeVar("Found")


class ReportServer:
    """Answers the requests.

    Args:
        served: the runs.
        token: the secret that every address begins with.
    """

    def __init__(self, served: ServedRuns, token: str) -> None:
        self.served = served
        self.token = token
        self.hosts: Collection[str] = ()  # set when the port is known
        self._reports, self._stocks = Memory(), Memory()
        self._reading = asyncio.Semaphore(_AT_ONCE)

    def application(self) -> web.Application:
        """The application to serve."""
        application = web.Application(middlewares=[self._guard], client_max_size=1024)
        application.router.add_get("/favicon.ico", _no_icon)
        application.router.add_get("/{token}/", self._index)
        application.router.add_get("/{token}/run/{run}", self._report)
        application.router.add_get("/{token}/api/{run}/{what}", self._items)
        return application

    @web.middleware
    async def _guard(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Refuse what is not for this server, and put the headers on whatever is answered."""
        try:
            self._check(request)
            response = await handler(request)
        except web.HTTPException as refused:
            allow = {"Allow": refused.headers["Allow"]} if "Allow" in refused.headers else {}
            response = _refusal(refused.status, _SAID.get(refused.status, refused.reason), allow)
        except NotServed as trouble:
            response = _refusal(404, str(trouble))
        except NoSuchItem as trouble:
            response = _refusal(404, str(trouble))
        except ConfigError as trouble:  # a query that cannot be answered
            response = _refusal(400, str(trouble))
        except PermissionError as trouble:
            response = _refusal(403, str(trouble))
        except (AskewError, OSError) as trouble:
            _LOG.error("a run cannot be read: %s", trouble)
            response = _refusal(500, str(trouble))
        except Exception:  # a fault of ours: the answer still has its headers
            _LOG.exception("a request could not be answered")
            response = _refusal(500, "This could not be shown; the server's own output says more.")
        response.headers.update(_HEADERS)
        response.headers.setdefault("Content-Security-Policy", _NOTHING)
        return response

    def _check(self, request: web.Request) -> None:
        if request.host not in self.hosts:
            raise web.HTTPMisdirectedRequest
        if request.method not in ("GET", "HEAD"):
            raise web.HTTPMethodNotAllowed(request.method, ["GET", "HEAD"])
        if request.path == "/favicon.ico":
            return
        token = request.path.split("/", 2)[1]
        if not compare_digest(token.encode("utf-8", "replace"), self.token.encode()):
            raise web.HTTPForbidden
        # A page of another site that asks has found the secret out; it still gets nothing.
        if request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            raise web.HTTPForbidden
        if len(request.query_string) > MOST_QUERY:
            raise BadQuery(f"the query is longer than {MOST_QUERY:,} characters.")

    async def _index(self, request: web.Request) -> web.Response:
        wanted = _once(request)
        entries = await self._read(self.served.refresh)
        text = pages.index_page(entries, wanted)
        return _page(text, pages.index_policy())

    async def _report(self, request: web.Request) -> web.Response:
        key = request.match_info["run"]
        folder = await self._read(lambda: self.served.folder(key))
        made = partial(_made, folder, key, self._stocks)
        text = await self._read(lambda: self._reports.get(folder.path, "report", made))
        return _page(text, pages.report_policy())

    async def _items(self, request: web.Request) -> web.Response:
        key, what = request.match_info["run"], request.match_info["what"]
        query = _once(request)
        folder = await self._read(lambda: self.served.folder(key))
        body = await self._read(lambda: answer(folder, what, query, self._stocks))
        return web.Response(body=body, content_type="application/json", charset="utf-8")

    async def _read(self, read: Callable[[], Found]) -> Found:
        """Read files beside the loop, a few requests at a time."""
        async with self._reading:
            return await asyncio.to_thread(read)


def _made(folder: RunFolder, key: str, stocks: Memory) -> bytes:
    from askew.report.page import report_html

    # The items are read once, for the report and for what it asks this server later.
    items = source_of(folder, stocks).stocks
    return report_html(folder, source=f"../api/{key}", stocks=items).encode("utf-8", "replace")


def _once(request: web.Request) -> Mapping[str, str]:
    """The query, each name once.

    Raises:
        BadQuery: a name stands twice.
    """
    found: dict[str, str] = {}
    for name, value in request.query.items():
        if name in found:
            raise BadQuery(f"{name!r} stands twice in the query. Give it once.")
        found[name] = value
    return found


def _page(text: bytes | str, policy: str) -> web.Response:
    body = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
    return web.Response(
        body=body,
        content_type="text/html",
        charset="utf-8",
        headers={"Content-Security-Policy": policy},
    )


def _refusal(status: int, said: str, headers: Mapping[str, str] | None = None) -> web.Response:
    body = json.dumps({"status": status, "error": said}).encode()
    return web.Response(
        body=body, status=status, content_type="application/json", charset="utf-8", headers=headers
    )


async def _no_icon(request: web.Request) -> web.Response:
    return web.Response(status=204)


_SAID = {
    403: "This address is not served. Open the link that `askew serve` has printed, whole.",
    404: "There is no such page. Open the link that `askew serve` has printed.",
    405: "Reports can only be read.",
    421: "This server answers to this machine's own name alone.",
}
_NOTHING = "default-src 'none'; frame-ancestors 'none'"
_HEADERS = {
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cache-Control": "no-store",
    "Server": "askew",
}
