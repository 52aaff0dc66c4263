"""One HTTP request out, one reply back: what may go wrong on the way, in the words of `base`."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Literal, NamedTuple
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from askew.models.base import Fatal, ServerFault
from askew.models.server_errors import Endpoint

# Servers close idle connections, some after 5 s. A request that meets the closing is lost with its
# fate unknown, so ours are closed first.
KEEP_ALIVE_SECONDS = 4.0
CONNECT_SECONDS = 30.0


Method = Literal["POST", "PATCH"]


class Response(NamedTuple):
    """What came back, whatever its status."""

    status: int
    headers: Mapping[str, str]  # looked up in any case
    body: bytes


class Transport:
    """Connections to one server, kept alive between requests. Sends each request exactly once."""

    def __init__(self, url: str, timeout_seconds: float, *, method: Method = "POST") -> None:
        """Keep what the connections need; the first request opens them.

        Args:
            url: full, with its query.
            timeout_seconds: for one request, from connecting to the end of the body.
            method: POST or PATCH. The other methods count as safe to repeat, and aiohttp repeats
                them by itself when a connection drops; but what is sent twice may be paid twice.
        """
        self._method = method
        self._timeout = aiohttp.ClientTimeout(
            total=timeout_seconds, sock_connect=min(CONNECT_SECONDS, timeout_seconds)
        )
        self._seconds = timeout_seconds
        self._proxy = _proxy_for(URL(url))
        self._session: aiohttp.ClientSession | None = None

    async def send(
        self, url: URL, headers: Mapping[str, str], body: bytes | None, endpoint: Endpoint
    ) -> Response:
        """Send one request.

        Raises:
            ServerFault: no connection (`sent` is False), or none that held until the end of the
                reply (`sent` is True: the server may have done its work).
            Fatal: the server's certificate is not trusted.
        """
        session = self._session or self._open()
        try:
            async with session.request(
                self._method,
                url,
                data=body,
                headers=headers,
                allow_redirects=False,  # the key would go along
                proxy=self._proxy,
            ) as response:
                return Response(response.status, response.headers, await response.read())
        except aiohttp.ClientConnectorCertificateError as error:
            raise Fatal(_trouble(endpoint, "its certificate is not trusted", error)) from error
        except aiohttp.ConnectionTimeoutError as error:
            raise ServerFault(_trouble(endpoint, "no connection", error), sent=False) from error
        except aiohttp.ClientConnectorError as error:
            if isinstance(error.os_error, ssl.SSLError):
                raise Fatal(_trouble(endpoint, "it does not speak TLS", error)) from error
            raise ServerFault(_trouble(endpoint, "no connection", error), sent=False) from error
        except TimeoutError as error:
            raise ServerFault(
                f"{endpoint.address}: no whole reply within {self._seconds:g} s (timeout_seconds)"
            ) from error
        except (aiohttp.ClientError, OSError) as error:
            raise ServerFault(_trouble(endpoint, "the connection broke", error)) from error

    async def close(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    def _open(self) -> aiohttp.ClientSession:
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_SECONDS),
            timeout=self._timeout,
            cookie_jar=aiohttp.DummyCookieJar(),  # no call may depend on an earlier one
        )
        return self._session


def _proxy_for(url: URL) -> str | None:
    """The proxy that the environment names for `url`; looked up once, not for every request."""
    if url.host is None or proxy_bypass(url.host):
        return None
    return getproxies().get(url.scheme)


def _trouble(endpoint: Endpoint, what: str, error: Exception) -> str:
    return endpoint.mask(f"{endpoint.address}: {what} ({str(error) or type(error).__name__})")
