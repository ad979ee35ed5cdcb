"""Read where a server sends a request on to; no redirect is followed.

Another host would get the API key and the whole chat. So a redirect is an error whose sentence
names the address to set.
"""

from __future__ import annotations

import httpx2


def moved_to(response: httpx2.Response, path: str) -> str | None:
    """Return the base address that a redirect of `path` leads to, without a password or query.

    It is "" if the redirect names no usable address, and None if the answer is no redirect.
    """
    if not 300 <= response.status_code < 400:
        return None
    try:
        target = response.request.url.join(response.headers["location"])
    except (KeyError, ValueError, httpx2.InvalidURL):
        return ""
    if target.scheme not in ("http", "https"):
        return ""
    bare = target.copy_with(userinfo=b"", query=None, fragment=None)
    return str(bare).rstrip("/").removesuffix(path).rstrip("/")
