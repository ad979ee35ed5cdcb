"""Images for a model: fetched when a turn takes their messages, and kept.

The tape refers to them by digest. Instead of an unusable image, the model gets a description.
"""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
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
from gateway.storage.kept_files import KeptFiles
from tape.context import MESSAGE_EDIT, MESSAGE_MEDIA, is_edit
from tape.entry import EVENT, MESSAGE, Entry, event
from tape.errors import TapeError
from tape.excerpts import foreign_media
from tape.taken_messages import MEDIA_FROM

SCHEME: Final = "tapeway:media/"
MAX_REQUEST_CHARACTERS: Final = 24_000_000
"""Maximum total size of the images in a request, in base64 characters."""

MAX_IMAGES: Final = 4  # maximum images that a turn takes at once; the newest are used
WHOSE: Final = "whose"
"""The key of an event with the ids of whose its images are, "" for the sender's own."""

MIMES: Final = {"jpg": "image/jpeg", "png": "image/png", "webp": "image/webp", "gif": "image/gif"}

Message = Mapping[str, Any]


async def load_images(services: Services, turn: Turn, also: Sequence[int] = ()) -> None:
    """Fetch the images of the messages that a turn takes, and record their references.

    `also` are the messages that it takes while it runs.
    """
    if not services.settings.media.images:
        return
    numbers: Sequence[int] = also or turn.pictured
    if turn.question.turn_id and not also:  # It takes nothing now: the tape lists its messages.
        numbers = tuple(selected_ids(await turn.tape.find(turn=turn.id)))
    if not numbers:
        return
    entries = await turn.tape.entries(numbers)
    shown = [entries[number] for number in numbers if number in entries]
    newest = await _edited_media(turn, numbers)
    own = await turn.tape.find(turn=turn.id)
    loaded = {entry.payload["data"]["entry"] for entry in own if entry.name == MESSAGE_MEDIA}
    found = _left_out([entry for entry in shown if entry.id not in loaded], newest)
    for entry, media, whose in _wanted(shown, newest):
        if entry.id in loaded:
            continue
        kept = found.setdefault(entry.id, {"images": [], "refused": []})
        try:
            kept["images"].append(await _fetch(services, entry, media))
            if whose or WHOSE in kept:
                kept.setdefault(WHOSE, [""] * (len(kept["images"]) - 1)).append(whose)
        except MediaRefused as refused:
            kept["refused"].append(f"this {media.label} cannot be shown: {refused}")
    events = [event(MESSAGE_MEDIA, {"entry": number, **kept}) for number, kept in found.items()]
    if events:
        await turn.log.record(*events)


def _wanted(shown: Sequence[Entry], edits: Mapping[int, Entry]) -> list[tuple[Entry, Media, str]]:
    """Return the images to fetch, with whose they are if not the sender's; theirs go first."""
    now = [(entry, edits.get(entry.id, entry)) for entry in shown]
    own = [(entry, media, "") for entry, said in now for media in images_of(said)][-MAX_IMAGES:]
    newest = [(entry, *one) for entry, said in reversed(now) for one in foreign_images_of(said)]
    wanted = [*own, *newest[: MAX_IMAGES - len(own)]]
    places = {entry.id: place for place, entry in enumerate(shown)}
    return sorted(wanted, key=lambda one: places[one[0].id])


def foreign_images_of(entry: Entry) -> Iterator[tuple[Media, str]]:
    """Yield the images of a message's quote and excerpts, with the id of whose they are."""
    if entry.kind == MESSAGE or is_edit(entry):
        for whose, values in foreign_media(entry):
            if values.get("kind") == "image" and values.get("file"):
                yield Media(**values), whose


def _left_out(
    entries: Sequence[Entry], edits: Mapping[int, Entry]
) -> dict[int, dict[str, list[str]]]:
    """Return what to say about messages with several images, as not all of them are shown."""
    now = [(entry.id, edits.get(entry.id, entry)) for entry in entries]
    pictured = [number for number, said in now for _image in images_of(said)]
    count, shown = Counter(pictured), Counter(pictured[-MAX_IMAGES:])
    return {
        number: {"images": [], "refused": [_shown_of(shown[number], many)]}
        for number, many in count.items()
        if many > 1 and shown[number] < many
    }


def _shown_of(shown: int, many: int) -> str:
    if shown > 1:
        return f"only the last {shown} of these {many} pictures are shown"
    which = "only the last" if shown else "none"
    return f"{which} of these {many} pictures is shown"


def images_of(entry: Entry) -> Iterator[Media]:
    """Yield the images of a message, or of an edit, that its channel can fetch."""
    if entry.kind != MESSAGE and not is_edit(entry):
        return
    for values in entry.meta.get("media", ()):
        if values.get("kind") == "image" and values.get("file"):
            yield Media(**values)


async def _edited_media(turn: Turn, numbers: Sequence[int]) -> dict[int, Entry]:
    """Map messages to the newest edit that changed their attachments."""
    edits = await turn.tape.find(kinds=(EVENT,), name=MESSAGE_EDIT, about=tuple(numbers))
    own = [edit for edit in edits if is_edit(edit) and MEDIA_FROM in edit.payload["data"]]
    return {edit.payload["data"]["entry"]: edit for edit in own}


def files_of(entry: Entry) -> list[str]:
    """Return the keys of all images of a message: its sender's, its quote's and its excerpts'."""
    foreign = (media for media, _whose in foreign_images_of(entry))
    return [media.file for media in (*images_of(entry), *foreign)]


async def _fetch(services: Services, entry: Entry, media: Media) -> str:
    """Fetch and store an image, and return its reference; raises MediaRefused."""
    settings = services.settings.media
    named = entry.payload["data"][MEDIA_FROM] if is_edit(entry) else entry.meta.get("channel")
    channel = services.router.channels.get(str(named or ""))
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
    suffix = await image_suffix(data, settings.max_pixels)
    name = f"{hashlib.sha256(data).hexdigest()}.{suffix}"
    try:
        await services.files.put(name, data)
    except (OSError, TapeError) as cause:
        get_log().error("media.not_kept", why=str(cause))
        raise MediaRefused("it could not be stored") from cause
    return SCHEME + name


async def image_suffix(data: bytes, most_pixels: int) -> str:
    """Return the key of MIMES for an image's bytes; raises MediaRefused."""
    return await anyio.to_thread.run_sync(_check, data, most_pixels)


def _check(data: bytes, most_pixels: int) -> str:
    module = import_module("gateway.context.image_header")
    suffix: str = module.check_image(data, most_pixels)
    return suffix


async def with_bytes(messages: Sequence[Message], files: KeptFiles) -> list[Message]:
    """Replace the newest images, up to a maximum, with data URLs, and the others with notes."""
    urls: list[str] = []
    for message in reversed(messages):
        map_images(message, urls.append)
    left, found = MAX_REQUEST_CHARACTERS, []
    for url in urls:
        found.append(await _data_url(url, files) if left > 0 else None)
        left -= len(found[-1] or "")
    shown = iter(found)
    return [map_images(message, lambda _url: next(shown)) for message in reversed(messages)][::-1]


async def _data_url(url: str, files: KeptFiles) -> str | None:
    if not url.startswith(SCHEME):
        return url
    name = url.removeprefix(SCHEME)
    try:
        data = await files.get(name)
    except TapeError as cause:
        get_log().warning("media.not_read", why=str(cause))
        return None
    if data is None:
        return None
    mime = MIMES.get(name.rpartition(".")[2], "application/octet-stream")
    encoded = await anyio.to_thread.run_sync(base64.b64encode, data)
    return f"data:{mime};base64,{encoded.decode()}"
