"""The stream of what changes: one for each browser, whose tabs share it."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from typing import Any, Final

import anyio
import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import BaseRoute

from channels.room.session import NOBODY
from gateway.access.administrators import RightsUnknown
from gateway.console.answers import console_route
from gateway.console.chats import key_of
from gateway.console.pulse import ALL, CHAT, ConsoleChange, Pulse
from gateway.console.rights import Rights
from gateway.console.visitor import Visitor
from gateway.errors import GatewayError
from gateway.http.auth import Gatekeeper
from gateway.services import Services
from tape.errors import TapeError

GONE: Final = b"event: gone\ndata: {}\n\n"
UNSURE: Final = b"event: unsure\ndata: {}\n\n"
TOO_MANY: Final = "Too many browsers follow the console for you."


class _Sight:
    """Which chats a visitor sees, as was found out since the last check of their rights."""

    def __init__(self, visitor: Visitor) -> None:
        self._visitor = visitor
        self._sees: dict[str, bool] = {}

    async def shown(self, changes: Iterable[ConsoleChange]) -> list[dict[str, Any]]:
        return [
            {"topic": one.topic, "data": _data(one)}
            for one in changes
            if one.topic != CHAT or await self._is_seen(one.session_id)
        ]

    async def _is_seen(self, session_id: str) -> bool:
        if session_id not in self._sees:
            try:
                self._sees[session_id] = await self._visitor.sees_chat(session_id)
            except RightsUnknown:
                self._sees[session_id] = False
        return self._sees[session_id]


class LiveStreams:
    """Serves the stream, and ends it when its visitor may no longer look.

    While their platform does not say whether they may, it says that, and nothing else.
    """

    def __init__(self, services: Services, pulse: Pulse, rights: Rights, gate: Gatekeeper) -> None:
        self._every = services.intervals.console_rights
        self._most = services.bounds.console_streams
        self._pulse = pulse
        self._rights = rights
        self._gate = gate
        self._open: dict[str, int] = {}

    def routes(self) -> list[BaseRoute]:
        return [console_route("/live", self._live)]

    async def _live(self, request: Request) -> Any:
        visitor = await self._rights.visitor(request)
        if self._open.get(visitor.person, 0) >= self._most:
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
                administered = await visitor.administered()
                first, checked_at = _Sight(visitor), anyio.current_time()
                sight: _Sight | None = first
                missed = await first.shown(self._pulse.since(last))
                yield b"retry: 2000\n" + _event(self._pulse.newest, missed)
                while True:
                    beat, left = None, checked_at + self._every - anyio.current_time()
                    with anyio.move_on_after(max(0, left)):
                        beat = await beats.receive()
                    if beat is not None and sight is not None:
                        yield _event(self._pulse.id_of(beat), await sight.shown(beat.changes))
                    if beat is not None:
                        continue
                    was_sure, before = sight is not None, administered
                    try:
                        visitor = await self._visitor_now(request)
                        administered = await visitor.administered()
                        sight, says = _Sight(visitor), b": still here\n\n"
                    except RightsUnknown:
                        sight, says = None, UNSURE
                    checked_at = anyio.current_time()
                    yield says
                    if sight is not None and not (was_sure and administered == before):
                        yield _event(self._pulse.newest, await sight.shown([ConsoleChange(ALL)]))
        except HTTPException:
            yield GONE
        except (anyio.EndOfStream, anyio.ClosedResourceError, TapeError, GatewayError):
            return
        finally:
            self._open[person] -= 1
            if not self._open[person]:
                del self._open[person]

    async def _visitor_now(self, request: Request) -> Visitor:
        """Return who sent a request, whose session may have ended since; raises as `visitor`."""
        request.state.session = await self._gate.session(request.scope) or NOBODY
        return await self._rights.visitor(request)


def _data(change: ConsoleChange) -> dict[str, Any]:
    if change.topic != CHAT:
        return {}
    return {"chat": key_of(change.session_id), "size": change.size}


def _event(number: str, changes: list[dict[str, Any]]) -> bytes:
    return b"id: " + number.encode() + b"\ndata: " + orjson.dumps(changes) + b"\n\n"
