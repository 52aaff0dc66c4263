"""Which proxy the environment names for an address."""

from __future__ import annotations

from urllib.request import getproxies, proxy_bypass

from yarl import URL

from askew.errors import ConfigError
from askew.privacy.locality import is_loopback


def proxy_for(url: URL) -> str | None:
    """The proxy for `url`; None for this machine itself, whatever the environment says.

    What is asked of a server on this machine must not leave it: `--local-only` lets such a server
    pass.

    Raises:
        ConfigError: it is of a kind that cannot be used.
    """
    if url.host is None or is_loopback(url.host) or proxy_bypass(url.authority):
        return None
    proxy = getproxies().get(url.scheme)
    if not proxy:
        return None
    scheme = proxy.partition("://")[0].lower() if "://" in proxy else "http"
    if scheme not in ("http", "https"):
        raise ConfigError(
            f"the environment variable {url.scheme.upper()}_PROXY names a proxy of the kind "
            f"{scheme!r}; askew goes through http and https ones. Name such a one, or the host "
            f"{url.host} in NO_PROXY."
        )
    return proxy if "://" in proxy else f"http://{proxy}"
