"""The HTTP routes of rooms: an event stream, posting, stopping, pressing buttons, and why.

A request says a name, which only shows; the person's id and role are those of the session.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import replace
from functools import partial
from typing import Annotated, Final
from uuid import UUID, uuid4

import anyio
import orjson
from pydantic import Base64Bytes, BaseModel, Field, StringConstraints, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from channels.commands import as_written
from channels.errors import InboundRefused
from channels.message import InboundMessage
from channels.room.channel import MAX_HISTORY, RoomChannel
from channels.room.hub import Json
from channels.room.session import NOBODY, PageSession

KEEP_ALIVE_SECONDS: Final = 15.0
"""Seconds of silence after which an event stream sends a comment to stay open."""

MAX_BODY_BYTES: Final = 1_000_000  # maximum size of the body of a post
MAX_ROOM_CHARACTERS: Final = 80
MAX_FILES: Final = 4  # maximum files of a post
ERASED: Final = "erased"
"""An event upon which each stream of a room shows its past once more, without what is gone."""

Text = Annotated[str, StringConstraints(max_length=200)]
UNFIT: Final = "\x00-\x1f\x7f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
"""What no name holds: control characters, and what reverses the text beside it."""

Name = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=60, pattern=f"^[^{UNFIT}]+$"),
]


class RoomPerson(BaseModel, frozen=True):
    """The author of a post, by the name that they chose."""

    name: Name


class Attached(BaseModel, frozen=True):
    """A file that is posted with a message, in base64."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=200, pattern=f"^[^{UNFIT}]+$")]
    mime: Annotated[str, StringConstraints(max_length=100, pattern=r"^[a-z]+/[\w.+-]+$")]
    data: Base64Bytes


class Post(BaseModel, frozen=True):
    """A message from the page or the terminal; a retry repeats the `id`.

    again   the own message that is asked once more: those of its images that are kept go with this
    """

    id: UUID
    person: RoomPerson
    text: Annotated[str, StringConstraints(max_length=200_000)]
    to_agent: bool = True
    reply_to: Text | None = None
    files: tuple[Attached, ...] = Field((), max_length=MAX_FILES)
    again: Text | None = None


class Stop(BaseModel, frozen=True):
    """A request to stop an answer: the one with the id `answer`, or the person's newest."""

    person: RoomPerson
    answer: Text | None = None


class Press(BaseModel, frozen=True):
    """A press of a button of a message; a retry repeats the `id`."""

    id: UUID
    person: RoomPerson
    message: Text
    button: Text


Read = Callable[[str, Post, PageSession], Awaitable[InboundMessage]]
_Endpoint = Callable[[Request], Awaitable[Response]]


def room_routes(channel: RoomChannel, prefix: str, read: Read) -> list[Route]:
    """Return the HTTP routes of a channel's rooms; `read` parses a post in a room."""

    async def events(request: Request) -> Response:
        room, session = room_of(channel, request)
        name = re.sub(f"[{UNFIT}]", "", request.query_params.get("name", "")).strip()[:60]
        # An EventSource sets no headers, and the page's language may not be the browser's.
        stream = _stream(channel, room, session, name, request.query_params.get("language", ""))
        first = await anext(stream)  # a room that can't be read is no stream
        return StreamingResponse(
            _with(first, stream),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    async def post(request: Request) -> Response:
        posted = Post.model_validate_json(await body_of(request))
        room, session = room_of(channel, request)
        message = await read(room, posted, session)
        if not (message.text.strip() or message.media):
            raise InboundRefused("The message is empty.")
        await channel.submit(message)
        return JSONResponse({"id": str(posted.id)}, status_code=202)

    async def stop(request: Request) -> Response:
        wanted = Stop.model_validate_json(await body_of(request))
        room, session = room_of(channel, request)
        asked = await read(room, unstored_post(wanted.person), session)
        stopped = await channel.host.stop_answer(asked, wanted.answer)
        return JSONResponse({"stopped": stopped})

    async def press(request: Request) -> Response:
        pressed = Press.model_validate_json(await body_of(request))
        room, session = room_of(channel, request)
        message = replace(
            await read(room, unstored_post(pressed.person), session),
            kind="press",
            ext_id=f"press/{room}/{pressed.id}",
            message_id=await _message_of(channel, room, pressed),
            press=pressed.button,
            text="",
            addressed=False,
        )
        await channel.host.accept([message])
        return JSONResponse({"id": str(pressed.id)}, status_code=202)

    return [
        Route(f"{prefix}/{{room}}/events", guarded(channel, events)),
        Route(f"{prefix}/{{room}}/messages", guarded(channel, post), methods=["POST"]),
        Route(f"{prefix}/{{room}}/stop", guarded(channel, stop), methods=["POST"]),
        Route(f"{prefix}/{{room}}/press", guarded(channel, press), methods=["POST"]),
        *_facts_routes(channel, prefix, read),
    ]


def _facts_routes(channel: RoomChannel, prefix: str, read: Read) -> list[Route]:
    """Return the routes of what the page shows beside and below the messages."""

    async def track(request: Request) -> Response:
        room, _session = room_of(channel, request)
        newest = request.query_params.get("newest", "")
        limit = min(int(newest), MAX_HISTORY) if re.fullmatch("[0-9]{1,9}", newest) else 0
        found = await channel.host.track(channel.name, room, limit or MAX_HISTORY)
        return JSONResponse(found, headers={"Cache-Control": "no-store"})

    async def commands(request: Request) -> Response:
        room, session = room_of(channel, request)
        asked = await read(room, unstored_post(RoomPerson(name="somebody")), session)
        offered = await channel.host.commands(asked)
        accepted = request.headers.get("accept-language", "")
        say = partial(channel.host.translated, accepted=accepted)
        hint = partial(channel.command_hint, place=asked)
        known = [
            {"usage": usage, "about": as_written(say(what), hint)}
            for usage, what in offered.items()
        ]
        return JSONResponse(known, headers={"Vary": "Accept-Language"})

    async def why(request: Request) -> Response:
        room, session = room_of(channel, request)
        answer = request.query_params.get("answer", "")
        found = await channel.host.figures(channel.name, room, answer)
        if found is None:
            return JSONResponse({"error": "This is no answer of this room."}, status_code=404)
        if not session.owner:  # the console, to which it leads, is not for members
            del found["session"]
        return JSONResponse(found, headers={"Cache-Control": "no-store"})

    return [
        Route(f"{prefix}/{{room}}/commands", guarded(channel, commands)),
        Route(f"{prefix}/{{room}}/track", guarded(channel, track)),
        Route(f"{prefix}/{{room}}/why", guarded(channel, why)),
    ]


def session_of(request: Request) -> PageSession:
    """Return the session that the gateway's guard found."""
    found: PageSession = getattr(request.state, "session", NOBODY)
    return found


async def _message_of(channel: RoomChannel, room: str, pressed: Press) -> str:
    """Return the id of the message with a button: the answer replaces that one, and no other."""
    shown = await channel.host.history(channel.name, room, 1)
    below = (one.id for one in shown if pressed.button in [button.token for button in one.buttons])
    return next(below, pressed.message)


def is_room(name: str) -> bool:
    """Return whether the page can open a room of this name, whose URL is built from it."""
    if not name.isprintable() or name.strip() != name or "/" in name or name in ("", ".", ".."):
        return False
    return len(name.encode("utf-16-le")) <= 2 * MAX_ROOM_CHARACTERS  # the page counts as UTF-16


def unstored_post(person: RoomPerson) -> Post:
    """Return a post that says who presses Stop or a button; it is never stored."""
    return Post(id=uuid4(), person=person, text=",stop")


def guarded(channel: RoomChannel, endpoint: _Endpoint) -> _Endpoint:
    """Return an endpoint that answers a refusal with its sentence."""

    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except (ClientDisconnect, HTTPException):
            raise
        except ValidationError as cause:
            first = cause.errors(include_url=False, include_context=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            return _refusal(f"The message is invalid: {where}: {first['msg']}.")
        except InboundRefused as cause:
            return _refusal(str(cause))
        except Exception:
            if request.method == "GET":
                raise
            # The post was not stored, so retrying with the same id is safe.
            channel.host.log_exception("channel.accept_failed")
            return JSONResponse({"error": "Not saved. Try again later."}, status_code=503)

    return answer


def _refusal(sentence: str) -> JSONResponse:
    return JSONResponse({"error": sentence}, status_code=422)


async def body_of(request: Request) -> bytes:
    """Return the JSON of a post; raises InboundRefused if it is none, or too long."""
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise InboundRefused("Send the message as application/json.")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_BODY_BYTES:
            raise InboundRefused("The message is too long. Send it in parts.")
    return bytes(body)


def room_of(channel: RoomChannel, request: Request) -> tuple[str, PageSession]:
    """Return the room of a request and its session; raises HTTPException for who is no member."""
    room = str(request.path_params["room"])[:MAX_ROOM_CHARACTERS]
    session = session_of(request)
    if not channel.admits(session, room):
        raise HTTPException(403, "You are not a member of this room.")
    return room, session


async def _with(first: bytes, rest: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    async with aclosing(rest):
        yield first
        async for piece in rest:
            yield piece


async def _stream(
    channel: RoomChannel, room: str, session: PageSession, name: str, accepted: str
) -> AsyncGenerator[bytes, None]:
    say = partial(channel.host.translated, accepted=accepted) if accepted else str
    async with channel.hub.listen(room, session, name) as events:
        event: Json | None = {"type": ERASED}  # nothing is shown yet
        while True:
            if event is not None and event["type"] == ERASED:
                opening = await channel.opening(room, session)
                shown = {one["id"]: one for past in opening for one in past.get("messages", ())}
                for past in opening:
                    yield _event(channel.as_said(past, say))
            event = None
            with anyio.move_on_after(KEEP_ALIVE_SECONDS):
                try:
                    event = await events.receive()
                except (anyio.EndOfStream, anyio.ClosedResourceError):
                    return
                if event["type"] == ERASED or _is_known(event, shown):  # as the past was read
                    continue
            yield _event(channel.as_said(event, say)) if event else b": still here\n\n"


def _is_known(event: Json, shown: dict[str, Json]) -> bool:
    """Return whether the past has a message already, or the message that a draft became."""
    known = shown.get(event.get("message", {}).get("id"))
    if known is None or event["type"] == "draft":
        return known is not None
    del shown[known["id"]]  # another text or other buttons replace it
    return all(known[key] == event["message"][key] for key in ("text", "buttons"))


def _event(event: Json) -> bytes:
    return b"data: " + orjson.dumps(event) + b"\n\n"
