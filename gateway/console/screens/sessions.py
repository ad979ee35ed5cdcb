"""The sessions of the console: an owner sees who of their account has one, and ends it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.routing import BaseRoute

from gateway.access.console_door import ConsoleSession
from gateway.console.answers import console_route
from gateway.console.parts import ConsoleParts
from gateway.console.rights import Rights
from gateway.console.visitor import Visitor
from gateway.language.language import say
from gateway.logs import get_log

NO_SESSION: Final = "There is no such session, or you may not end it."


def session_routes(parts: ConsoleParts, rights: Rights) -> list[BaseRoute]:
    """Return the route that ends a session."""

    async def end(request: Request) -> Any:
        visitor, wanted = await rights.visitor(request), request.path_params["session"]
        found = None
        async for one in _owned(parts, visitor):
            if one.name == wanted:
                found = one
                break
        if found is None or not await parts.door.end_session(found):
            raise HTTPException(404, NO_SESSION)
        person = _person(found)
        get_log().info("console.session_ended", person=person, by=visitor.person)
        return {"done": say("The session of {person} has ended.", person=person)}

    return [console_route("/people/sessions/{session}/end", end, "POST")]


async def open_sessions(parts: ConsoleParts, visitor: Visitor) -> dict[str, Any]:
    """Return the newest sessions of a visitor's accounts, and whether there are more."""
    most, named = parts.services.bounds.console_sessions, parts.access.named
    found: list[dict[str, Any]] = []
    async for one in _owned(parts, visitor):
        if len(found) == most:
            return {"sessions": found, "more_sessions": True}
        found.append(
            {
                "session": one.name,
                "person": _person(one),
                "name": named(one.guest.channel, one.guest.account, one.guest.person),
                "account": one.guest.account,
                "since": one.opened_at,
                "until": one.expires_at,
            }
        )
    return {"sessions": found, "more_sessions": False}


async def _owned(parts: ConsoleParts, visitor: Visitor) -> AsyncIterator[ConsoleSession]:
    last = None
    while page := await parts.door.sessions(last):
        for one in page:
            if await visitor.sees_account(one.guest.channel, one.guest.account):
                yield one
        last = page[-1]


def _person(session: ConsoleSession) -> str:
    return f"{session.guest.channel}:{session.guest.person}"
