"""The timeline of a tape, its replay, and its chapters as files."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from gateway.console.answers import console_route
from gateway.console.chats import ConsoleChat
from gateway.console.parts import ConsoleParts
from gateway.console.reads import PAGE
from gateway.console.rights import Rights
from gateway.console.screens.deck import about
from gateway.console.timeline.changes import changes_after
from gateway.console.timeline.chapter import chapter_text
from gateway.console.timeline.lanes import lane_names
from gateway.console.timeline.overview import (
    chapter_beside,
    hits_of,
    lanes_between,
    map_of,
    page_around,
)
from gateway.console.timeline.past import room_at, steps_after
from gateway.errors import AdminError
from gateway.redaction.redactor import Redactor
from tape.entry import as_date
from tape.query import ID_SPACE

MAX_SEARCHED: Final = 500  # maximum characters of a search
ABOUT_MORE: Final = frozenset({"inbox", "account", "heard", "why", "sent", "recognized"})

Answer = Callable[[ConsoleChat, Request], Awaitable[Any]]


def timeline_routes(parts: ConsoleParts, rights: Rights) -> list[BaseRoute]:
    """Return the routes of the timeline, the replay, and the chapters of a tape."""
    reads, agent = parts.reads, parts.services.settings.agent.name
    redactor = parts.services.redactor

    async def tape(chat: ConsoleChat, _request: Request) -> Any:
        return {**about(chat), **await map_of(reads, chat.tape)}

    async def page(chat: ConsoleChat, request: Request) -> Any:
        return _clean(redactor, await page_around(reads, chat.tape, _where(request)))

    async def changed(chat: ConsoleChat, request: Request) -> Any:
        return await changes_after(reads, chat.tape, _number(request, "after"))

    async def beside(chat: ConsoleChat, request: Request) -> Any:
        at, back = _number(request, "at") or 1, "back" in request.query_params
        return await chapter_beside(reads, chat.tape, at, back=back)

    async def lanes(chat: ConsoleChat, request: Request) -> Any:
        first, last = _number(request, "first") or 1, _number(request, "last") or 1
        return await lanes_between(reads, chat.tape, first, last)

    async def names(chat: ConsoleChat, request: Request) -> Any:
        return await lane_names(reads, chat.tape, request.query_params.getlist("lane"))

    async def hits(chat: ConsoleChat, request: Request) -> Any:
        words = request.query_params.get("q", "")[:MAX_SEARCHED]
        return _clean(redactor, await hits_of(reads, chat.tape, words))

    async def room(chat: ConsoleChat, request: Request) -> Any:
        return await room_at(reads, chat.tape, _date(request, "date"))

    async def steps(chat: ConsoleChat, request: Request) -> Any:
        return await steps_after(reads, chat.tape, _number(request, "after") or 0)

    async def chapter(chat: ConsoleChat, request: Request) -> Any:
        anchor = request.path_params["anchor"]
        found = await chapter_text(reads, chat.tape, anchor, chat.title)
        if request.path_params["form"] == "md":
            return _file(found.markdown(agent), f"chapter-{anchor}.md", "text/markdown")
        return _file(found.html(agent), f"chapter-{anchor}.html", "text/html")

    route = partial(_tape_route, rights)
    return [
        route("", tape, shared=True),
        route("/page", page, shared=True),
        route("/chapter", beside, shared=True),
        route("/changed", changed, shared=True),
        route("/lanes", lanes, shared=True),
        route("/names", names, shared=True),
        route("/search", hits),
        route("/room", room),
        route("/steps", steps),
        route("/chapter/{anchor:int}.{form}", chapter),
    ]


def _tape_route(rights: Rights, path: str, answer: Answer, *, shared: bool = False) -> BaseRoute:
    """Return a route about a tape; readers with a link to it may use it if it is `shared`."""

    async def asked(request: Request) -> Any:
        if not shared:
            _visitor, chat = await rights.chat(request)
            return await answer(chat, request)
        reader, chat = await rights.reading(request)
        answered = await answer(chat, request)
        return answered if reader is None else for_readers(answered)

    return console_route(f"/tape/{{chat}}{path}", asked)


def _clean(redactor: Redactor, answered: dict[str, Any]) -> dict[str, Any]:
    """Return an answer whose reasons, which may be a provider's words, have no secret."""
    for row in answered["rows"]:
        if "why" in row:
            row["why"] = redactor.clean(row["why"])
    return answered


def for_readers(answered: dict[str, Any]) -> dict[str, Any]:
    """Return an answer without what is about more than its tape, such as numbers of the inbox."""
    found = {name: value for name, value in answered.items() if name not in ABOUT_MORE}
    if "rows" in found:
        found["rows"] = [
            {name: value for name, value in row.items() if name not in ABOUT_MORE}
            for row in found["rows"]
        ]
    return found


def _where(request: Request) -> dict[str, Any]:
    """Return which page is asked for; see `page_around`."""
    where: dict[str, Any] = {"limit": max(min(_number(request, "limit") or PAGE, PAGE), 1)}
    for name in ("after", "before", "around"):
        if (value := _number(request, name)) is not None:
            where[name] = value
    if "date" in request.query_params:
        where["date"] = _date(request, "date")
    return where


def _number(request: Request, name: str) -> int | None:
    given = request.query_params.get(name)
    if given is None:
        return None
    if not (given.isascii() and given.isdigit() and len(given) <= len(str(ID_SPACE))):
        raise AdminError(f"{name} is a number")
    return min(int(given), ID_SPACE)


def _date(request: Request, name: str) -> str:
    try:
        return as_date(request.query_params.get(name, ""))
    except ValueError as cause:
        raise AdminError(f"{name} is a date, such as 2026-01-31T10:31Z") from cause


def _file(text: str, name: str, kind: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type=f"{kind}; charset=utf-8", headers=headers)
