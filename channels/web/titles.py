"""The route by which the people of a room give it a title."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, StringConstraints
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from channels.room.channel import RoomChannel
from channels.room.routes import UNFIT, body_of, guarded, room_of


class RoomTitle(BaseModel, frozen=True):
    """What a room is to be called; with "", it has its id again."""

    title: Annotated[
        str, StringConstraints(strip_whitespace=True, max_length=80, pattern=f"^[^{UNFIT}]*$")
    ]


def title_route(channel: RoomChannel, prefix: str) -> Route:
    """Return the route of a channel's rooms that takes titles from whoever may write there."""

    async def give(request: Request) -> Response:
        wanted = RoomTitle.model_validate_json(await body_of(request))
        room, session = room_of(channel, request)
        title, at = await channel.host.give_title(channel.name, room, wanted.title, session.person)
        event = {"type": "title", "title": title, "titled_at": at}
        channel.hub.publish(room, event)
        return JSONResponse(event)

    return Route(f"{prefix}/{{room}}/title", guarded(channel, give), methods=["POST"])
