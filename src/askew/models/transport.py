"""One HTTP request out, one reply back: what may go wrong on the way, in the words of `base`.

The other side may be broken, overloaded or hostile. So a reply has a time and a size, a connection
is used again only while it is silent, nothing is followed elsewhere, and no state is kept between
requests.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Literal, NamedTuple
from weakref import WeakSet

import aiohttp
from aiohttp.client_proto import ResponseHandler
from yarl import URL

from askew.models.base import Fatal, ServerFault
from askew.models.content_coding import ACCEPTED, Body, BodyTrouble
from askew.models.proxies import proxy_for
from askew.models.server_errors import Endpoint

# Servers close idle connections, some after 5 s. A request that meets the closing is lost with its
# fate unknown, so ours are closed first.
KEEP_ALIVE_SECONDS = 4.0
# How long a connection is listened to after its first reply, before it is used again: a server that
# says more than it is asked for is best found out before its words are taken for an answer.
SILENCE_SECONDS = 0.05
CONNECT_SECONDS = 30.0  # for the name, the connection and TLS together
MOST_BYTES = 4 * 2**20  # of a reply, as it comes and decoded; a long answer has 500 kB
MOST_ERROR_BYTES = 2**20  # of a reply whose status says that it is none; it may quote the prompt
MOST_HEADER_BYTES = 2**16  # of one header; there may be 128
UNASKED = (
    "connections no longer kept: the server had said something unasked, which may have been taken "
    "for an answer before"
)
_LEFT_OVERS = 64  # kept connections in a row that turn out to be of no use

Method = Literal["POST", "PATCH"]


class Response(NamedTuple):
    """What came back, whatever its status."""

    status: int
    headers: Mapping[str, str]  # looked up in any case
    body: bytes  # without its codings
    # Whether the reply said where it ends. One that ends with the connection may have been cut.
    ended: bool = True

    @contextmanager
    def perhaps_cut(self) -> Iterator[None]:
        """Around reading it: what came of a call is not known where its reply may be cut."""
        try:
            yield
        except ServerFault as fault:
            if fault.billed and not self.ended:
                fault.answered = False
            raise


class Transport:
    """Connections to one server, kept alive between requests. Sends each request exactly once."""

    def __init__(self, url: str, timeout_seconds: float, *, method: Method = "POST") -> None:
        """Keep what the connections need; the first request opens them.

        Args:
            url: full, with its query.
            timeout_seconds: for one request, from connecting to the end of the body.
            method: POST or PATCH. The other methods count as safe to repeat, and aiohttp repeats
                them by itself when a connection drops; but what is sent twice may be paid twice.

        Raises:
            ConfigError: the environment names a proxy that cannot be used.
        """
        self._method = method
        # Less than the whole, so that a connection that never came is told from a slow reply.
        connect = min(CONNECT_SECONDS, 0.9 * timeout_seconds)
        self._timeout = aiohttp.ClientTimeout(total=timeout_seconds, connect=connect)
        self._seconds = timeout_seconds
        self._secure = url.lower().startswith("https:")
        self._proxy = proxy_for(URL(url))
        self._session: aiohttp.ClientSession | None = None
        # Connections, until the server has closed one under a request, or spoken unasked.
        self._keeps = True
        self.notes: tuple[str, ...] = ()  # what the user should know of all later replies

    async def send(
        self, url: URL, headers: Mapping[str, str], body: bytes | None, endpoint: Endpoint
    ) -> Response:
        """Send one request.

        Raises:
            ServerFault: no connection (`sent` is False), or no whole reply within the time and the
                size allowed (`sent` is True: the server may have done its work).
            Fatal: the server's certificate is not trusted, or it does not speak TLS, or only TLS.
        """
        session = self._session or self._open()
        for _ in range(_LEFT_OVERS):
            # A reply that was begun keeps the connection's writer waiting for as long as the
            # server does not take the request, whatever aiohttp's own timeout.
            with self._passing_over():
                try:
                    async with asyncio.timeout(self._seconds + 1.0):
                        return await self._send(session, url, headers, body, endpoint)
                except TimeoutError as error:
                    raise ServerFault(
                        f"{endpoint.address}: no whole reply within {self._seconds:g} s "
                        "(timeout_seconds)"
                    ) from error
        raise ServerFault(f"{endpoint.address}: it closes each connection at once", sent=False)

    async def _send(
        self,
        session: aiohttp.ClientSession,
        url: URL,
        headers: Mapping[str, str],
        body: bytes | None,
        endpoint: Endpoint,
    ) -> Response:
        _ON_KEPT.set(False)
        once = {} if self._keeps else {"Connection": "close"}
        try:
            async with session.request(
                self._method,
                url,
                data=body,
                headers={"Accept-Encoding": ACCEPTED, **once, **headers},
                allow_redirects=False,  # key and prompt would go along
                proxy=self._proxy,
            ) as response:
                received = await _received(response)
                if once:
                    response.close()
                return received
        except aiohttp.ClientConnectorCertificateError as error:
            mend = _certificate_mend(error.certificate_error)
            raise Fatal(
                f"{_trouble(endpoint, 'its certificate is not trusted', error)} {mend}"
            ) from error
        except aiohttp.ClientHttpProxyError as error:
            said = f"{endpoint.address}: the proxy answered {error.status} and let nothing through."
            if error.status in (400, 401, 403, 405, 407):
                raise Fatal(f"{said} Check HTTPS_PROXY and NO_PROXY.") from error
            raise ServerFault(said, sent=False) from error
        except aiohttp.ConnectionTimeoutError as error:
            seconds = self._timeout.connect
            said = f"{endpoint.address}: no connection within {seconds:g} s"
            raise ServerFault(said, sent=False) from error
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, ssl.SSLError):
                raise Fatal(
                    f"{_trouble(endpoint, 'it does not speak TLS', error)} "
                    "If it speaks plain HTTP, write http:// in its address."
                ) from error
            raise ServerFault(_trouble(endpoint, "no connection", error), sent=False) from error
        except BodyTrouble as error:
            raise ServerFault(f"{endpoint.address}: {endpoint.mask(str(error))}") from error
        except (aiohttp.ClientError, OSError) as error:
            if isinstance(error, TimeoutError):
                raise
            self._keeps = self._keeps and not _ON_KEPT.get()
            if not self._secure and _is_tls(error):
                raise Fatal(
                    f"{endpoint.address}: it speaks TLS alone. Write https:// in its address."
                ) from error
            raise ServerFault(_trouble(endpoint, "the connection broke", error)) from error

    @contextmanager
    def _passing_over(self) -> Iterator[None]:
        try:
            yield
        except _LeftOver as found:
            if found.spoken:
                self._keeps, self.notes = False, (UNASKED,)

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        connector = aiohttp.TCPConnector(
            limit=0,
            keepalive_timeout=KEEP_ALIVE_SECONDS,
            # Made anew, as aiohttp's own is made on import and would not see SSL_CERT_FILE change.
            ssl=ssl.create_default_context() if self._secure else True,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            timeout=self._timeout,
            cookie_jar=aiohttp.DummyCookieJar(),  # no call may depend on an earlier one
            request_class=_Request,
            auto_decompress=False,  # `Body` does it, within a bound
            max_line_size=MOST_HEADER_BYTES,
            max_field_size=MOST_HEADER_BYTES,
        )
        return self._session


class _LeftOver(Exception):
    """A kept connection that is of no use: closed by the server, or something was said on it."""

    def __init__(self, *, spoken: bool) -> None:
        super().__init__()
        self.spoken = spoken


_ASKED: WeakSet[ResponseHandler] = WeakSet()  # connections that have carried a request
_SILENT: WeakSet[ResponseHandler] = WeakSet()  # those that were listened to after a reply
_ON_KEPT = ContextVar("_ON_KEPT", default=False)  # whether this task's request left on such a one


class _Request(aiohttp.ClientRequest):
    """A request that leaves on a silent connection alone.

    What a server says unasked would be taken for the answer to the next question, and every later
    answer for that of the one after it.
    """

    async def send(self, conn: Any) -> aiohttp.ClientResponse:
        protocol: ResponseHandler = conn.protocol
        kept = protocol in _ASKED
        _ON_KEPT.set(kept)
        if kept:
            if protocol not in _SILENT:
                _SILENT.add(protocol)
                await asyncio.sleep(SILENCE_SECONDS)
            # In two turns the event loop has read what came in the meantime, a closing included.
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            if not protocol.is_connected():
                raise _LeftOver(spoken=False)
            if protocol.should_close:
                raise _LeftOver(spoken=True)
            if self.headers.get("Connection") == "close":  # none is trusted any more
                raise _LeftOver(spoken=False)
        _ASKED.add(protocol)
        return await super().send(conn)


async def _received(response: aiohttp.ClientResponse) -> Response:
    """The whole reply; of one that says by its status that it failed, what can be had."""
    headers = response.headers
    failed = response.status >= 300
    body = Body(headers.get("Content-Encoding", ""), MOST_ERROR_BYTES if failed else MOST_BYTES)
    try:
        async for piece in response.content.iter_any():
            body.add(piece)
        body.end()
    except (BodyTrouble, aiohttp.ClientError, OSError):
        if not failed:  # else what the status says is known, however its wording ends
            raise
    ended = response.status == 204 or "Content-Length" in headers or "Transfer-Encoding" in headers
    return Response(response.status, headers, bytes(body.content), ended)


def _certificate_mend(error: Exception) -> str:
    code = getattr(error, "verify_code", None)
    if code in (9, 10):  # X509_V_ERR_CERT_NOT_YET_VALID, …_HAS_EXPIRED
        return "Have the server's certificate renewed, and check this machine's clock."
    if code in (62, 64):  # …_HOSTNAME_MISMATCH, …_IP_ADDRESS_MISMATCH
        return "Write the host in the address as the certificate names it."
    return (
        "If you trust whoever signed it, name a file with their certificate: export SSL_CERT_FILE=…"
    )


def _is_tls(error: Exception) -> bool:
    """Whether the reply to plain HTTP was a TLS alert: type 21, version 3.x."""
    message = getattr(error, "message", "")
    return isinstance(message, str) and ("\\x15\\x03" in message or "\x15\x03" in message)


def _trouble(endpoint: Endpoint, what: str, error: Exception) -> str:
    # The whole text of a response error quotes the URL, query and userinfo included.
    reason = error.message if isinstance(error, aiohttp.ClientResponseError) else str(error)
    return f"{endpoint.address}: {what} ({endpoint.mask(reason or type(error).__name__)[:300]})"
