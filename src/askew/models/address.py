"""A base URL as the user typed it -> the address that is called. Pure.

People write the address of one and the same server with or without "/v1", with one slash too many,
or with the whole path of an endpoint; each form must call the same place, and none may be cut.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from askew.errors import ConfigError
from askew.privacy.key_forms import VARIABLE
from askew.privacy.locality import is_loopback

LONG_USER = 8
SHORTEST_SECRET = 4  # characters; a shorter one would be found in words that are none
_ENDPOINTS = re.compile(r"(/chat)?/completions$")


@dataclass(frozen=True, slots=True)
class Address:
    """Where to send requests, with what belongs in no log kept apart."""

    base: str  # scheme, host, port and path; no userinfo, no query, no slash at the end
    query: str = field(default="", repr=False)  # sent with every request; may hold a secret
    user: str = field(default="", repr=False)
    password: str = field(default="", repr=False)

    @property
    def host(self) -> str:
        """The host's name or number, without the port."""
        return urlsplit(self.base).hostname or ""

    @property
    def loopback(self) -> bool:
        """Whether the server runs on this machine."""
        return is_loopback(self.host)

    @property
    def secrets(self) -> tuple[str, ...]:
        """What must stand in no message, should a server quote it: userinfo and query values."""
        found = [value for name, value in parse_qsl(self.query) if name.lower() != "api-version"]
        found.append(self.password)
        if len(self.user) >= LONG_USER:  # some services take a key there
            found.append(self.user)
        if basic := self.basic_auth:
            found.append(basic.removeprefix("Basic "))
        return tuple(value for value in found if len(value) >= SHORTEST_SECRET)

    @property
    def basic_auth(self) -> str | None:
        """The Authorization header that the userinfo stands for (RFC 7617); None without one."""
        if not self.user:
            return None
        pair = f"{self.user}:{self.password}".encode()
        return f"Basic {base64.b64encode(pair).decode()}"

    def filled(self, value_of: Callable[[str], str]) -> Address:
        """The address with its variables filled in: "https://${USER}:${PASSWORD}@host/v1".

        Args:
            value_of: gives the value of an environment variable. A value that stands in a query is
                written as one, whatever signs it holds.
        """
        if not VARIABLE.search(f"{self.user} {self.password} {self.query}"):
            return self
        return replace(
            self,
            user=VARIABLE.sub(lambda found: value_of(found[1]), self.user),
            password=VARIABLE.sub(lambda found: value_of(found[1]), self.password),
            query=VARIABLE.sub(lambda found: quote(value_of(found[1]), safe=""), self.query),
        )

    def endpoint(self, path: str) -> str:
        """The full URL of one endpoint, with the query: for sending, not for showing."""
        url = f"{self.base}/{path}" if path else self.base
        return f"{url}?{self.query}" if self.query else url


def parse_address(url: str, *, empty_path: str = "/v1") -> Address:
    """The address that `url` means.

    Args:
        url: with scheme; userinfo, query and slashes at the end are welcome. A path that ends in
            "/chat/completions" or "/completions" stands for its base.
        empty_path: the path of a URL that has none.

    Raises:
        ConfigError: no URL of a web server.

    >>> parse_address("http://127.0.0.1:9").endpoint("chat/completions")
    'http://127.0.0.1:9/v1/chat/completions'
    >>> parse_address("http://me:secret@127.0.0.1:9/api//v1/").base
    'http://127.0.0.1:9/api/v1'
    """
    parts = split_url(url, "base_url")
    path = re.sub(r"/{2,}", "/", parts.path).rstrip("/")
    return _address(parts, _ENDPOINTS.sub("", path) or empty_path)


def exact_address(url: str, setting: str) -> Address:
    """The address of one endpoint, its path left as it is."""
    parts = split_url(url, setting)
    return _address(parts, parts.path)


def split_url(url: str, setting: str) -> SplitResult:
    """The parts of a URL, checked; `setting` is its name in messages."""
    shown = re.sub(r"//[^/@]*@", "//…@", url)  # a password may stand before the host
    try:
        url.encode()  # raises where no request could hold it: half a surrogate pair
        parts = urlsplit(url.strip())
        _ = parts.port  # raises where it is no number
    except ValueError as error:
        raise ConfigError(f"{setting} {shown!r} is no URL: {error}.") from error
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ConfigError(
            f"{setting} {shown!r} is no web address. "
            "Write it with its scheme, e.g. http://127.0.0.1:8000/v1"
        )
    return parts


def _address(parts: SplitResult, path: str) -> Address:
    host_and_port = parts.netloc.rpartition("@")[2]
    return Address(
        base=f"{parts.scheme}://{host_and_port}{path}",
        query=parts.query,
        user=unquote(parts.username or ""),
        password=unquote(parts.password or ""),
    )
