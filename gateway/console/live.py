"""The stream of what changes: one for each browser, whose tabs share it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass
from typing import Any, Final

import anyio
import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import BaseRoute

from gateway.console.answers import console_route
from gateway.console.chats import key_of
from gateway.console.pulse import CHAT, Change, Pulse
from gateway.console.rights import Rights
from gateway.console.visitor import Visitor
from tape.errors import StoreUnavailable

CHECK_SECONDS: Final = 5.0
"""Seconds after which a stream finds out what its visitor may see now; it says so to stay open."""

MAX_STREAMS: Final = 16  # of one person
GONE: Final = b"event: gone\ndata: {}\n\n"
TOO_MANY: Final = "Too many browsers follow the console for you."


@dataclass(slots=True)
class _Sight:
    """Which chats a visitor sees for the next seconds; None is every one."""

    sessions: frozenset[str] | None

    @classmethod
    async def of(cls, visitor: Visitor) -> _Sight:
        if visitor.is_instance_owner:
            return cls(None)
        return cls(frozenset(chat.session_id for chat in await visitor.chats()))

    def shown(self, changes: Iterable[Change]) -> list[dict[str, Any]]:
        return [
            {"topic": one.topic, "data": _data(one)}
            for one in changes
            if self.sessions is None or one.topic != CHAT or one.session_id in self.sessions
        ]


class LiveStreams:
    """Serves the stream, and ends it when its visitor may no longer look."""

    def __init__(self, pulse: Pulse, rights: Rights) -> None:
        self._pulse = pulse
        self._rights = rights
        self._open: dict[str, int] = {}

    def routes(self) -> list[BaseRoute]:
        return [console_route("/live", self._live)]

    async def _live(self, request: Request) -> Any:
        visitor = await self._rights.visitor(request)
        if self._open.get(visitor.person, 0) >= MAX_STREAMS:
            raise HTTPException(429, TOO_MANY)
        last = request.headers.get("last-event-id", "") or request.query_params.get("last", "")
        return StreamingResponse(
            self._events(request, visitor, last),
            media_type="text/event-stream",
            headers={"X-Accel-Buffering": "no"},
        )

    async def _events(
        self, request: Request, visitor: Visitor, last: str
    ) -> AsyncGenerator[bytes, None]:
        person = visitor.person
        self._open[person] = self._open.get(person, 0) + 1
        try:
            async with self._pulse.listen() as beats:
                sight = await _Sight.of(visitor)
                missed = sight.shown(self._pulse.since(last))
                yield b"retry: 2000\n" + _event(self._pulse.newest, missed)
                checked_at = anyio.current_time()
                while True:
                    beat, left = None, checked_at + CHECK_SECONDS - anyio.current_time()
                    with anyio.move_on_after(max(0, left)):
                        try:
                            beat = await beats.receive()
                        except (anyio.EndOfStream, anyio.ClosedResourceError):
                            return
                    if beat is not None:
                        yield _event(self._pulse.id_of(beat), sight.shown(beat.changes))
                        continue
                    try:
                        found = await self._again(request)
                    except StoreUnavailable:
                        return
                    if found is None:
                        yield GONE
                        return
                    sight, checked_at = found, anyio.current_time()
                    yield b": still here\n\n"
        finally:
            self._open[person] -= 1
            if not self._open[person]:
                del self._open[person]

    async def _again(self, request: Request) -> _Sight | None:
        """Return what the visitor of a stream sees now, or None if they may no longer look."""
        try:
            return await _Sight.of(await self._rights.visitor(request))
        except HTTPException:
            return None


def _data(change: Change) -> dict[str, Any]:
    if change.topic != CHAT:
        return {}
    return {"chat": key_of(change.session_id), "size": change.size}


def _event(number: str, changes: list[dict[str, Any]]) -> bytes:
    return b"id: " + number.encode() + b"\ndata: " + orjson.dumps(changes) + b"\n\n"
