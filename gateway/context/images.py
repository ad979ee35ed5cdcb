"""Images for a model: fetched when a turn takes their messages, and stored as files.

The tape refers to them by digest. Instead of an unusable image, the model gets a description.
"""

from __future__ import annotations

import base64
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path
from secrets import token_hex
from typing import Any, Final

import anyio
import anyio.to_thread

from agent.image_parts import map_images
from channels.errors import ChannelError, MediaRefused
from channels.message import Media
from gateway.context.selection import selected_ids
from gateway.logs import get_log
from gateway.pipeline.turn import Turn
from gateway.services import Services
from tape.context import MESSAGE_MEDIA
from tape.entry import MESSAGE, Entry, event
from tape.private_file import open_private

SCHEME: Final = "tapeway:media/"
MAX_REQUEST_CHARACTERS: Final = 24_000_000
"""Maximum total size of the images in a request, in base64 characters."""

MAX_IMAGES: Final = 4  # maximum images per turn; the newest are used
MIMES: Final = {"jpg": "image/jpeg", "png": "image/png", "webp": "image/webp", "gif": "image/gif"}

Message = Mapping[str, Any]


async def load_images(services: Services, turn: Turn) -> None:
    """Fetch the images of the messages that a turn takes, and record their references."""
    if not services.settings.media.images:
        return
    numbers = turn.pictured
    if turn.question.turn_id:  # A resumed turn takes nothing: the tape lists its messages.
        numbers = tuple(selected_ids(await turn.tape.find(turn=turn.id)))
    if not numbers:
        return
    entries = await turn.tape.entries(numbers)
    shown = [entries[number] for number in numbers if number in entries]
    wanted = [(entry, media) for entry in shown for media in _images(entry)]
    own = await turn.tape.find(turn=turn.id)
    loaded = {entry.payload["data"]["entry"] for entry in own if entry.name == MESSAGE_MEDIA}
    found: dict[int, dict[str, list[str]]] = {}
    for entry, media in wanted[-MAX_IMAGES:]:
        if entry.id in loaded:
            continue
        kept = found.setdefault(entry.id, {"images": [], "refused": []})
        try:
            kept["images"].append(await _fetch(services, entry, media))
        except MediaRefused as refused:
            kept["refused"].append(f"this {media.label} cannot be shown: {refused}")
    events = [event(MESSAGE_MEDIA, {"entry": number, **kept}) for number, kept in found.items()]
    if events:
        await turn.log.record(*events)


def _images(entry: Entry) -> Iterator[Media]:
    if entry.kind != MESSAGE:
        return
    for values in entry.meta.get("media", ()):
        if values.get("kind") == "image" and values.get("file"):
            yield Media(**values)


async def _fetch(services: Services, entry: Entry, media: Media) -> str:
    """Fetch and store an image, and return its reference; raises MediaRefused."""
    settings = services.settings.media
    channel = services.router.channels.get(str(entry.meta.get("channel", "")))
    if channel is None or "media" not in channel.capabilities:
        raise MediaRefused("its channel is gone")
    data = b""
    with anyio.move_on_after(settings.download_seconds) as scope:
        try:
            data = await channel.fetch(media, settings.max_bytes)
        except MediaRefused:
            raise
        except Exception as cause:
            if not isinstance(cause, ChannelError):
                get_log().error("media.fetch_failed", exc_info=cause)
            raise MediaRefused("it could not be fetched") from cause
    if scope.cancelled_caught:
        raise MediaRefused(f"it did not arrive within {settings.download_seconds:g} s")
    if len(data) > settings.max_bytes:
        raise MediaRefused("it is larger than announced")
    suffix = await anyio.to_thread.run_sync(_check, data, settings.max_pixels)
    name = f"{hashlib.sha256(data).hexdigest()}.{suffix}"
    folder = services.settings.home_path / "media"
    try:
        await anyio.to_thread.run_sync(_keep, folder, name, data)
    except OSError as cause:
        get_log().error("media.not_kept", why=str(cause))
        raise MediaRefused("it could not be stored") from cause
    return SCHEME + name


def _check(data: bytes, most_pixels: int) -> str:
    module = import_module("gateway.context.image_header")
    suffix: str = module.check_image(data, most_pixels)
    return suffix


def _keep(folder: Path, name: str, data: bytes) -> None:
    path = folder / name
    if path.exists():
        return
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    part = folder / f".{name}.{token_hex(8)}"  # Two turns may store the same image at once.
    with os.fdopen(open_private(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "wb") as file:
        file.write(data)
    part.replace(path)


def with_bytes(messages: Sequence[Message], home: Path) -> list[Message]:
    """Replace the newest images, up to a maximum, with data URLs, and the others with notes."""
    left = MAX_REQUEST_CHARACTERS

    def show(url: str) -> str | None:
        nonlocal left
        shown = _data_url(url, home) if left > 0 else None
        left -= len(shown or "")
        return shown

    return [map_images(message, show) for message in reversed(messages)][::-1]


def _data_url(url: str, home: Path) -> str | None:
    if not url.startswith(SCHEME):
        return url
    path = home / "media" / Path(url.removeprefix(SCHEME)).name
    try:
        data = path.read_bytes()
    except OSError:
        return None
    mime = MIMES.get(path.suffix.removeprefix("."), "application/octet-stream")
    return f"data:{mime};base64,{base64.b64encode(data).decode()}"
