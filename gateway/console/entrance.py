"""Enter and leave the console: by a one-time link, or with the page's own session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from gateway.access.console_door import SESSION_HOURS
from gateway.console.answers import API, console_route, refusal
from gateway.console.parts import ConsoleParts
from gateway.console.rights import COOKIE, NOT_FOR_YOU, Rights
from gateway.errors import AdminError
from gateway.http.auth import WrongLogins, client_of
from gateway.http.json_route import json_body
from gateway.logs import get_log

USED: Final = "This link was used or has expired. Send `/console` once more, in private."


@dataclass(frozen=True, slots=True)
class Entrance:
    """Lets people of the platforms in, each with a link of their own."""

    _parts: ConsoleParts
    _rights: Rights
    _wrong: WrongLogins

    def routes(self) -> list[BaseRoute]:
        return [
            Route("/console/code", self._use_code, methods=["POST"]),
            console_route("/me", self._me),
            console_route("/leave", self._leave, "POST"),
        ]

    async def _use_code(self, request: Request) -> Response:
        try:
            code = str((await json_body(request)).get("code", ""))[:200]
        except AdminError as refused:
            return refusal(422, str(refused))
        guest = await self._parts.door.holder(code)
        if guest is None:
            if not self._wrong.is_answered(client_of(request.scope)):
                return PlainTextResponse("Too many wrong links.\n", status_code=429)
            return refusal(403, USED)
        # The role may have changed since the link was given: then, it opens nothing.
        if await self._rights.visitor_of(guest) is None:
            return refusal(403, NOT_FOR_YOU)
        cookie = await self._parts.door.redeem(code, guest)
        if cookie is None:
            return refusal(403, USED)
        get_log().info("console.entered", person=f"{guest.channel}:{guest.person}")
        response = JSONResponse({}, headers={"Cache-Control": "no-store"})
        response.set_cookie(
            COOKIE,
            cookie,
            max_age=SESSION_HOURS * 3600,
            path=API,
            httponly=True,
            samesite="strict",
            secure=self._is_https(request),
        )
        return response

    def _is_https(self, request: Request) -> bool:
        """Whether browsers reach the gateway by HTTPS, also if a proxy does not say so."""
        public = self._parts.services.settings.http.public_url
        return request.scope["scheme"] == "https" or public.startswith("https:")

    async def _me(self, request: Request) -> Any:
        visitor = await self._rights.visitor(request)
        return {
            "person": visitor.person,
            "name": visitor.name,
            "role": visitor.role.name.lower(),
            "account": visitor.guest.account_id if visitor.guest else "",
            "instance": visitor.is_instance_owner,
            "agent": self._parts.services.settings.agent.name,
        }

    async def _leave(self, request: Request) -> Any:
        await self._parts.door.end(request.cookies.get(COOKIE, ""))
        response = JSONResponse({})
        response.delete_cookie(COOKIE, path=API)
        return response
