"""The web channel: rooms where several people talk with the agent."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import UTC, datetime
from functools import cached_property
from typing import ClassVar, Final

import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from channels.capabilities import Feature
from channels.errors import MediaRefused
from channels.host import ChannelEvent
from channels.message import InboundMessage, Media, MessageLink
from channels.room.channel import RoomChannel
from channels.room.reasoning import ReasoningFeed
from channels.room.routes import (
    ERASED,
    MAX_FILES,
    Attached,
    Post,
    is_room,
    room_of,
    room_routes,
    session_of,
)
from channels.room.session import PageSession
from channels.traits import Traits
from channels.web.attached import IMAGES, attached, name_of
from channels.web.format import to_html
from channels.web.growing import settled
from channels.web.inbound import parse
from channels.web.linked import linked_image_route
from channels.web.outbound import page_routes
from channels.web.reactions import reaction_route
from channels.web.settings import WebSettings
from channels.web.titles import title_route

PREFIX: Final = "/api/rooms"
MAX_INLINE: Final = 2_000
"""Maximum characters that are drawn on the event loop: some Markdown takes long."""


class WebChannel(RoomChannel):
    """The channel of the rooms on the gateway's own page."""

    name: ClassVar[str] = "web"
    capabilities = RoomChannel.capabilities | {"buttons", "media"}
    features: ClassVar[frozenset[Feature]] = frozenset({"groups"})
    # Enter is pressed on purpose: nothing waits for another message.
    traits: Traits = Traits(edit_interval=0.06, edit_rest=5.0, debounce=0.0, adds_to_waiting=True)

    def __init__(self, settings: WebSettings) -> None:
        super().__init__()
        self.settings = settings

    @cached_property
    def _reasoning(self) -> ReasoningFeed:
        return ReasoningFeed(self.hub, self.host.clock)

    async def on_event(self, event: ChannelEvent, message: InboundMessage) -> None:
        await super().on_event(event, message)
        # A message of another channel may be answered here; its chat is not the owner's own.
        if self.settings.reasoning and message.owner:
            self._reasoning.take(event, message)

    def to_html(self, text: str) -> str:
        return to_html(text)

    def settled(self, text: str) -> str:
        return settled(text)

    async def draw_ahead(self, texts: Iterable[str], *, growing: bool = False) -> None:
        for text in texts:
            if len(text) > MAX_INLINE:
                await anyio.to_thread.run_sync(_draw, text, growing)

    def link_to(self, place: MessageLink) -> str:
        return f"#{place.message_id}"

    def routes(self) -> list[Route]:
        listed = Route("/api/rooms", self._list_rooms)
        image = Route("/api/rooms/{room}/messages/{message}/images/{number:int}", self._image)
        rooms = room_routes(self, PREFIX, self.read)
        own = [listed, image, linked_image_route(self, PREFIX), reaction_route(self, PREFIX)]
        return [*page_routes(), *own, title_route(self, PREFIX), *rooms]

    def erased(self, room: str) -> None:
        self.hub.publish(room, {"type": ERASED})

    def admits(self, session: PageSession, room: str) -> bool:
        return session.admits(room)

    async def answer_press(self, press: InboundMessage, text: str) -> None:
        event = {"type": "pressed", "id": press.message_id, "text": text}
        self.hub.publish(press.chat_id, event, press.sender.id)

    async def fetch(self, media: Media, most: int) -> bytes:
        if media.size > most:
            raise MediaRefused(f"it is larger than {most // 1_000_000} MB")
        data = await self.host.kept_file(media.file)
        if data is None:
            raise MediaRefused("it is no longer kept")
        return data

    async def _image(self, request: Request) -> Response:
        room, _session = room_of(self, request)
        number = int(request.path_params["number"])
        found = await self._kept_image(room, request.path_params["message"], number)
        if found is None:
            raise HTTPException(404, "This room has no such image.")
        # What is erased must not come back from a cache.
        return Response(found.data, media_type=found.mime, headers={"Cache-Control": "no-store"})

    async def _kept_image(
        self, room: str, message: str, number: int, among: Collection[str] | None = None
    ) -> Attached | None:
        """Return an image of a message that its room still shows, or None."""
        found = await self.host.image(self.name, room, message, number)
        if found is None or found.mime not in IMAGES:
            return None
        if among is not None and found.file not in among:
            return None
        data = await self.host.kept_file(found.file)
        if data is None:
            return None
        return Attached.model_construct(name=found.name, mime=found.mime, data=data)

    async def _list_rooms(self, request: Request) -> Response:
        rooms, session = await self.host.rooms(self.name), session_of(request)
        names = rooms if session.owner else session.rooms
        known = [{"room": one, "title": rooms.get(one, "")} for one in names if is_room(one)]
        return JSONResponse(known, headers={"Cache-Control": "no-store"})

    async def read(self, room: str, post: Post, session: PageSession) -> InboundMessage:
        """Turn a post in a room into a message."""
        if post.again is not None:
            # Copies of other people's images would outlive the erasure of their messages.
            own = {name_of(room, session.person, post.again, place) for place in range(MAX_FILES)}
            asked = [await self._kept_image(room, post.again, n, own) for n in range(MAX_FILES)]
            images = tuple(image for image in asked if image is not None)
            post = post.model_copy(update={"files": (*post.files, *images)[:MAX_FILES]})
        others = [str(person["name"]) for person in await self.hub.people(room)]
        date = datetime.now(UTC).isoformat(timespec="microseconds")
        message = parse(room, post, session, date, self.host.agent_name, others)
        try:
            for media, data in attached(room, session.person, post):
                if media.file:
                    await self.host.keep_file(media.file, data)
        except Exception:
            await self.host.drop_files(message)
            raise
        return message

    async def submit(self, message: InboundMessage) -> bool:
        try:
            is_new = await super().submit(message)
        except Exception:
            await self.host.drop_files(message)
            raise
        if not is_new:
            await self.host.drop_files(message)
        return is_new


def _draw(text: str, growing: bool) -> None:
    """Draw a text, which is kept."""
    to_html(settled(text) if growing else text)
