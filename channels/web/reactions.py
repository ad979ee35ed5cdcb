"""The route by which people say what they think of an answer: everybody in the room sees counts."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from channels.room.channel import RoomChannel
from channels.room.routes import Text, body_of, guarded, room_of


class Thumb(BaseModel, frozen=True):
    """What a person thinks of an answer; "" takes it back."""

    answer: Text
    value: Literal["up", "down", ""]


def reaction_route(channel: RoomChannel, prefix: str) -> Route:
    """Return the route of a channel's rooms that takes reactions."""

    async def react(request: Request) -> Response:
        thumb = Thumb.model_validate_json(await body_of(request))
        room, session = room_of(channel, request)
        found = await channel.host.react(
            channel.name, room, thumb.answer, session.person, thumb.value
        )
        if found is None:
            return JSONResponse({"error": "This is no answer of this room."}, status_code=404)
        event = {"type": "reactions", "id": thumb.answer, "reactions": found.counts()}
        mine = found.by.get(session.person, "")
        channel.hub.publish(room, event)
        channel.hub.publish(room, {**event, "mine": mine}, session.person)
        return JSONResponse({**event, "mine": mine})

    return Route(f"{prefix}/{{room}}/reactions", guarded(channel, react), methods=["POST"])
