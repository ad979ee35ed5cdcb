"""The route by which a person asks for an image that stands in an answer of their room."""

from __future__ import annotations

from typing import Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from channels.errors import MediaRefused
from channels.room.channel import RoomChannel
from channels.room.routes import guarded, room_of
from channels.web.format import linked_images

HEADERS: Final = {
    "Cache-Control": "no-store",  # what is erased must not come back from a cache
    "Content-Disposition": "attachment",
}


def linked_image_route(channel: RoomChannel, prefix: str) -> Route:
    """Return the route of images that the gateway fetches for the people of a room."""

    async def linked(request: Request) -> Response:
        room, session = room_of(channel, request)
        text = await channel.host.said(channel.name, room, request.path_params["answer"])
        urls = linked_images(text or "")
        number = int(request.path_params["number"])
        if number >= len(urls):
            return JSONResponse({"error": "This is no image of this room."}, status_code=404)
        try:
            data, mime = await channel.host.fetch_image(urls[number], session.person)
        except MediaRefused as refused:
            sentence = f"The image can't be shown: {refused}."
            return JSONResponse({"error": sentence}, status_code=422)
        return Response(data, media_type=mime, headers=HEADERS)

    path = "{room}/answers/{answer}/images/{number:int}"
    return Route(f"{prefix}/{path}", guarded(channel, linked))
