"""The routes that open and end sessions: login, single-use links, invitations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from channels.base import Channel
from channels.room.channel import RoomChannel
from channels.room.routes import is_room, session_of
from channels.room.session import NOBODY
from channels.web.outbound import SHARED, static_route
from gateway.errors import AdminError
from gateway.http.auth import COOKIE, GUEST_COOKIE, Gatekeeper, client_of, guest_of, page_of, same
from gateway.http.json_route import json_body, json_route
from gateway.http.sessions import SESSION_DAYS

LOGIN: Final = "/login"
MAX_FORM_BYTES: Final = 10_000
MAX_INVITED: Final = 100
MAX_INVITATION_MINUTES: Final = 30 * 24 * 60


def login_routes(gate: Gatekeeper) -> list[BaseRoute]:
    """Return the routes for everybody: the login form, and the use of a code."""

    async def page(request: Request) -> Response:
        return SHARED.answer(request, "login.html")

    async def log_in(request: Request) -> Response:
        given = await _form_token(request)
        right = given is not None and same(given.strip(), gate.token)
        if not right and not (session_of(request).owner and not given):
            if gate.wrong.is_answered(client_of(request.scope)):
                return RedirectResponse("/login?wrong=1", status_code=303)
            return _too_many()
        response = RedirectResponse("/", status_code=303)
        _set_cookie(gate, request, response, await gate.sessions.open())
        return response

    async def use_code(request: Request) -> Response:
        try:
            code = str((await json_body(request)).get("code", ""))[:200]
        except AdminError as refused:
            return JSONResponse({"error": str(refused)}, status_code=422)
        # Beside an owner, an invitation makes a guest, and leaves the owner be.
        session, guest = session_of(request), await gate.guest(request.scope)
        member = guest or (NOBODY if session.owner else session)
        found = await gate.sessions.redeem(code, member, is_owner=session.owner)
        if found is None:
            if not gate.wrong.is_answered(client_of(request.scope)):
                return _too_many()
            return JSONResponse({"error": "This link was used or has expired."}, status_code=403)
        is_guest = bool(found.room) and (guest is not None or bool(found.cookie))
        path = page_of(found.person if is_guest else "")
        response = JSONResponse({"room": found.room, "path": path})
        if found.cookie and is_guest:
            # By the second one, the login knows who comes back with an invitation to another room.
            for place in (path.rstrip("/"), LOGIN):
                _set_cookie(gate, request, response, found.cookie, GUEST_COOKIE, place)
        elif found.cookie:
            _set_cookie(gate, request, response, found.cookie)
        return response

    async def who(request: Request) -> Response:
        guest = await gate.guest(request.scope)
        headers = {"Cache-Control": "no-store"}
        return JSONResponse({"path": page_of(guest.person) if guest else ""}, headers=headers)

    return [
        static_route(),
        Route("/login", page, methods=["GET"]),
        Route("/login", log_in, methods=["POST"]),
        Route("/login/code", use_code, methods=["POST"]),
        Route("/login/guest", who),
    ]


def session_routes(gate: Gatekeeper, channels: Sequence[Channel]) -> list[BaseRoute]:
    """Return the routes for those who are let in; all but the first are the owner's."""
    sessions = gate.sessions

    async def end_own(request: Request) -> Response:
        await end(session_of(request).person)
        response = JSONResponse({})
        guest = guest_of(request.scope)
        if guest:
            response.delete_cookie(GUEST_COOKIE, page_of(guest).rstrip("/"))
            response.delete_cookie(GUEST_COOKIE, LOGIN)
        else:
            response.delete_cookie(COOKIE)
        return response

    async def listed(_request: Request) -> Any:
        return await sessions.listed()

    async def end_one(request: Request) -> Any:
        return {"ended": await end(str((await json_body(request)).get("person", "")))}

    async def invite(request: Request) -> Any:
        body = await json_body(request)
        room = str(body.get("room", ""))
        if not is_room(room):
            raise AdminError("room must be the name of a room")
        uses = _number(body, "uses", 1, MAX_INVITED)
        minutes = _number(body, "minutes", 24 * 60, MAX_INVITATION_MINUTES)
        return {"code": await sessions.issue(room=room, uses=uses, minutes=minutes)}

    async def withdraw(request: Request) -> Any:
        await sessions.withdraw(str((await json_body(request)).get("code", "")))
        return {}

    async def open_one(_request: Request) -> Any:
        return {"code": await sessions.issue()}

    async def end(person: str) -> bool:
        ended = await sessions.end(person)
        if ended:
            for channel in channels:
                if isinstance(channel, RoomChannel):
                    channel.hub.dismiss(person)
        return ended

    return [
        Route("/api/session/end", end_own, methods=["POST"]),
        json_route("/api/sessions", listed),
        json_route("/api/sessions/end", end_one, "POST"),
        json_route("/api/invitations", invite, "POST"),
        json_route("/api/invitations/withdraw", withdraw, "POST"),
        json_route("/api/codes", open_one, "POST"),
    ]


async def _form_token(request: Request) -> str | None:
    """Return the form's token, or None if the form is too long."""
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_FORM_BYTES:
            return None
    return parse_qs(body.decode("utf-8", "replace")).get("token", [""])[0]


def _number(body: dict[str, Any], name: str, default: int, most: int) -> int:
    value = body.get(name, default)
    if type(value) is not int or not 1 <= value <= most:
        raise AdminError(f"{name} must be a number from 1 to {most}")
    return value


def _too_many() -> Response:
    return PlainTextResponse(
        "Too many wrong logins. Try again in a second.\n",
        status_code=429,
        headers={"Retry-After": "1"},
    )


def _set_cookie(
    gate: Gatekeeper,
    request: Request,
    response: Response,
    cookie: str,
    name: str = COOKIE,
    path: str = "/",
) -> None:
    response.set_cookie(
        name,
        cookie,
        path=path,
        max_age=SESSION_DAYS * 24 * 3600,
        httponly=True,
        samesite="strict",
        secure=gate.is_https(request.scope),
    )
