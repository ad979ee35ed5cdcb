"""No redirect of a platform's server is followed: another host would get the token and the text."""

from __future__ import annotations

from typing import Final

import aiohttp
import yarl

STATUSES: Final = (301, 302, 303, 307, 308)


class Redirected(aiohttp.ClientError):
    """The server redirects; the text is the status and the host it names."""

    def __init__(self, status: int, host: str) -> None:
        super().__init__(f"it answered with {status}, to {host}")
        self.status = status


async def refuse_redirects(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Raise Redirected instead of following; a middleware for every session with a token."""
    response = await handler(request)
    if response.status in STATUSES:
        target = response.headers.get("Location", "")
        response.close()
        raise Redirected(response.status, _host(response.url, target))
    return response


def _host(url: yarl.URL, target: str) -> str:
    try:
        # Its path or query may hold what it was asked for, the token among it.
        return str(url.join(yarl.URL(target)).origin())
    except ValueError:
        return "another address"
