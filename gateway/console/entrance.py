"""Enter and leave the console: by a one-time link, with the page's session, or to read one tape."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute

from gateway.access.console_door import SESSION_HOURS
from gateway.clock import Clock
from gateway.console.answers import API, console_route, door_route, refusal
from gateway.console.parts import ConsoleParts
from gateway.console.rights import COOKIE, NOT_FOR_YOU, READER_COOKIE, Rights
from gateway.http.auth import Gatekeeper, client_of
from gateway.http.json_route import json_body
from gateway.http.limits import network_of
from gateway.logs import get_log

LINK_ENDED: Final = "This link has ended. Ask the person who gave it to you for another one."
LINK_BUSY: Final = "Too many browsers open links just now: try again in a moment."
USED: Final = "This link was used or has expired. Send `/console` once more, in private."
ADMITTED_EACH_SECONDS: Final = 1.0  # seconds between two admissions of one address
MAX_ADDRESSES: Final = 4096


@dataclass(slots=True)
class Admissions:
    """When somebody at each address was last admitted by a link."""

    _clock: Clock
    _at: dict[str, float] = field(default_factory=dict)

    def may_enter(self, host: str) -> bool:
        """Return whether an address has its turn, and record it if so.

        Who asks too early does not have to wait longer for it.
        """
        now, key = self._clock.monotonic(), network_of(host)
        if now - self._at.get(key, float("-inf")) < ADMITTED_EACH_SECONDS:
            return False
        self._at.pop(key, None)
        if len(self._at) >= MAX_ADDRESSES:
            del self._at[next(iter(self._at))]
        self._at[key] = now
        return True


@dataclass(frozen=True, slots=True)
class Entrance:
    """Lets people of the platforms in, each with a link of their own."""

    _parts: ConsoleParts
    _rights: Rights
    _gate: Gatekeeper
    _admissions: Admissions

    def routes(self) -> list[BaseRoute]:
        return [
            door_route("/code", self._use_code),
            door_route("/link", self._use_link),
            console_route("/me", self._me),
            console_route("/leave", self._leave, "POST"),
        ]

    async def _use_code(self, request: Request) -> Response:
        code = str((await json_body(request)).get("code", ""))[:200]
        guest = await self._parts.door.holder(code)
        if guest is None:
            return self._refuse(request, USED)
        # The role may have changed since the link was given: then, it opens nothing.
        if await self._rights.visitor_of(guest) is None:
            return refusal(403, NOT_FOR_YOU)
        cookie = await self._parts.door.redeem(code, guest)
        if cookie is None:
            return refusal(403, USED)
        get_log().info("console.entered", person=f"{guest.channel}:{guest.person}")
        response = JSONResponse({})
        self._set_cookie(request, response, COOKIE, cookie, SESSION_HOURS * 3600, API)
        return response

    async def _use_link(self, request: Request) -> Response:
        """Trade a link's secret for a cookie that opens its tape; any number of browsers may.

        One browser of an address may in a second, so that nobody takes the place of all others.
        """
        secret = str((await json_body(request)).get("link", ""))[:200]
        link = await self._parts.links.holder(secret)
        if link is None:
            return self._refuse(request, LINK_ENDED)
        if not self._admissions.may_enter(client_of(request.scope)):
            return refusal(429, LINK_BUSY)
        reader = await self._rights.admitted(link)
        admitted = await self._parts.links.admit(link) if reader else None
        if reader is None or admitted is None:
            return refusal(403, LINK_ENDED)
        get_log().info("console.link_opened", link=link.link_id, chat=link.session_id)
        cookie, seconds = admitted
        key = reader.chat.key
        response = JSONResponse({"chat": key})
        self._set_cookie(request, response, READER_COOKIE, cookie, seconds, f"{API}/tape/{key}")
        return response

    def _refuse(self, request: Request, sentence: str) -> Response:
        """Refuse a wrong secret; of those of one address, one a second is answered."""
        if not self._gate.wrong.is_answered(client_of(request.scope)):
            return PlainTextResponse("Too many wrong links.\n", status_code=429)
        return refusal(403, sentence)

    def _set_cookie(
        self, request: Request, response: Response, name: str, cookie: str, seconds: int, path: str
    ) -> None:
        response.set_cookie(
            name,
            cookie,
            max_age=seconds,
            path=path,
            httponly=True,
            samesite="strict",
            secure=self._gate.is_https(request.scope),
        )

    async def _me(self, request: Request) -> Any:
        visitor = await self._rights.visitor(request)
        return {
            "person": visitor.person,
            "name": visitor.name,
            "role": visitor.role.name.lower(),
            "account": visitor.guest.account_id if visitor.guest else "",
            "instance": visitor.is_instance_owner,
            "agent": self._parts.services.settings.agent.name,
            "currency": self._parts.services.settings.agent.currency,
        }

    async def _leave(self, request: Request) -> Any:
        await self._parts.door.end(request.cookies.get(COOKIE, ""))
        response = JSONResponse({})
        response.delete_cookie(COOKIE, path=API)
        return response
