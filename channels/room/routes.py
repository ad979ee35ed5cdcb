"""The HTTP routes of rooms: an event stream, posting and stopping.

The gateway authenticates requests, but nobody checks the names: everybody with access is trusted.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Annotated, Final
from uuid import UUID, uuid4

import anyio
import orjson
from pydantic import BaseModel, StringConstraints, ValidationError
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from channels.errors import InboundRefused
from channels.message import InboundMessage
from channels.room.channel import RoomChannel
from channels.room.hub import Json

KEEP_ALIVE_SECONDS: Final = 15.0
"""Seconds of silence after which an event stream sends a comment to stay open."""

MAX_BODY_BYTES: Final = 1_000_000  # maximum size of the body of a post
MAX_ROOM_CHARACTERS: Final = 80
Id = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9_-]{1,64}$")]
Name = Annotated[
    str,
    StringConstraints(
        strip_whitespace=True, min_length=1, max_length=60, pattern=r"^[^\x00-\x1f\x7f]+$"
    ),
]


class RoomPerson(BaseModel, frozen=True):
    """The author of a post."""

    id: Id
    name: Name


class Post(BaseModel, frozen=True):
    """A message from the page or the terminal; a retry repeats the `id`."""

    id: UUID
    person: RoomPerson
    text: Annotated[str, StringConstraints(min_length=1, max_length=200_000)]
    to_agent: bool = True
    reply_to: Annotated[str, StringConstraints(max_length=200)] | None = None


class Stop(BaseModel, frozen=True):
    """A request to stop an answer: the one with the id `answer`, or the person's newest."""

    person: RoomPerson
    answer: Annotated[str, StringConstraints(max_length=200)] | None = None


Read = Callable[[str, Post], InboundMessage]
_Endpoint = Callable[[Request], Awaitable[Response]]


def room_routes(channel: RoomChannel, prefix: str, read: Read) -> list[Route]:
    """Return the HTTP routes of a channel's rooms; `read` parses a post in a room."""

    async def events(request: Request) -> Response:
        room = _room(request)
        name = request.query_params.get("name", "").strip()[:60]
        person = {"id": request.query_params.get("person", "")[:64], "name": name} if name else None
        return StreamingResponse(
            _stream(channel, room, person),
            media_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )

    async def post(request: Request) -> Response:
        message = Post.model_validate_json(await _body(request))
        if not message.text.strip():
            raise InboundRefused("The message is empty.")
        await channel.submit(read(_room(request), message))
        return JSONResponse({"id": str(message.id)}, status_code=202)

    async def stop(request: Request) -> Response:
        wanted = Stop.model_validate_json(await _body(request))
        asked = read(_room(request), stop_post(wanted.person))
        stopped = await channel.host.stop_answer(asked, wanted.answer)
        return JSONResponse({"stopped": stopped})

    return [
        Route(f"{prefix}/{{room}}/events", events),
        Route(f"{prefix}/{{room}}/messages", _guarded(channel, post), methods=["POST"]),
        Route(f"{prefix}/{{room}}/stop", _guarded(channel, stop), methods=["POST"]),
    ]


def is_room(name: str) -> bool:
    """Return whether the page can open a room of this name, whose URL is built from it."""
    if not name.isprintable() or name.strip() != name or "/" in name or name in ("", ".", ".."):
        return False
    return len(name.encode("utf-16-le")) <= 2 * MAX_ROOM_CHARACTERS  # the page counts as UTF-16


def stop_post(person: RoomPerson) -> Post:
    """Return a post that says who presses Stop; it is never stored."""
    return Post(id=uuid4(), person=person, text=",stop")


def _guarded(channel: RoomChannel, endpoint: _Endpoint) -> _Endpoint:
    async def answer(request: Request) -> Response:
        try:
            return await endpoint(request)
        except ValidationError as cause:
            first = cause.errors(include_url=False, include_context=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            return _refusal(f"The message is invalid: {where}: {first['msg']}.")
        except InboundRefused as cause:
            return _refusal(str(cause))
        except Exception:
            # The post was not stored, so retrying with the same id is safe.
            channel.host.log_exception("channel.accept_failed")
            return JSONResponse({"error": "Not saved. Try again later."}, status_code=503)

    return answer


def _refusal(sentence: str) -> JSONResponse:
    return JSONResponse({"error": sentence}, status_code=422)


async def _body(request: Request) -> bytes:
    if not request.headers.get("content-type", "").startswith("application/json"):
        raise InboundRefused("Send the message as application/json.")
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MAX_BODY_BYTES:
            raise InboundRefused("The message is too long. Send it in parts.")
    return bytes(body)


def _room(request: Request) -> str:
    return str(request.path_params["room"])[:MAX_ROOM_CHARACTERS]


async def _stream(
    channel: RoomChannel, room: str, person: Json | None
) -> AsyncGenerator[bytes, None]:
    async with channel.hub.listen(room, person) as events:
        for past in await channel.opening(room):
            yield _event(past)
        while True:
            event: Json | None = None
            with anyio.move_on_after(KEEP_ALIVE_SECONDS):
                try:
                    event = await events.receive()
                except (anyio.EndOfStream, anyio.ClosedResourceError):
                    return
            yield _event(event) if event is not None else b": still here\n\n"


def _event(event: Json) -> bytes:
    return b"data: " + orjson.dumps(event) + b"\n\n"
