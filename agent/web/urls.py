"""Which URLs a page may be fetched from, judged by their text alone."""

from __future__ import annotations

import re
from typing import Final

from yarl import URL

from agent.errors import ToolRefused

MAX_URL: Final = 2048  # maximum characters of a URL
PORTS: Final = (80, 443)
FIRST_FREE_PORT: Final = 1024
"""Below it, only the ports of HTTP are open: other services misread a request as their own."""

_UNFIT: Final = re.compile(r"[\x00-\x20\x7f-\xa0\\\u2028\u2029]")


class PageRefused(ToolRefused):
    """A page that is not fetched; the message gives the model the reason."""


class NotReached(PageRefused):
    """A page whose server is not reached: its address is not public, or nothing answers there.

    The message says which; who must not learn the names of a private network is not shown it.
    """


def checked(text: str) -> URL:
    """Return a URL that may be asked for if its addresses are public; raises PageRefused."""
    if len(text) > MAX_URL or _UNFIT.search(text):
        raise PageRefused("this is not a URL: it is too long, or has spaces or control characters")
    url = parsed(text)
    host, port = url.host, url.port
    if url.scheme not in ("http", "https") or not host or "%" in host:
        raise PageRefused("only addresses that begin with http:// or https:// can be fetched")
    if url.user is not None or url.password is not None:
        raise PageRefused("a URL with a user name or a password is not fetched")
    if port not in PORTS and (port or 0) < FIRST_FREE_PORT:
        raise PageRefused(f"pages are not fetched from port {port}")
    return url.with_fragment(None)


def parsed(text: str) -> URL:
    """Return the URL that a text is; raises PageRefused."""
    try:
        url = URL(text)
        url.host, url.port  # noqa: B018 - they are parsed when they are read
    except (ValueError, IndexError):  # an IndexError of "http://[::1]@"
        raise PageRefused("this is not a URL that can be fetched") from None
    return url
