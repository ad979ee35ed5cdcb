"""What the bots without an SDK share."""

from __future__ import annotations

from typing import Self

import aiohttp


class HttpClient:
    """Keep an HTTP session while the context is open."""

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession()
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        await self.session.close()

    @property
    def session(self) -> aiohttp.ClientSession:
        """Return the HTTP session."""
        assert self._session is not None
        return self._session
