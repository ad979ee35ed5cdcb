"""Parses attachments: photos, files, and attachments without a file, such as a location."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from channels.message import Media, MediaKind
from channels.telegram.details import DETAILS, MAX_DETAIL, detail_of, poll_attachments
from channels.telegram.fields import Raw, part, parts, string, whole

_FILES: Final[Mapping[str, tuple[MediaKind, str]]] = {
    "animation": ("video", "animation"),
    "audio": ("audio", "audio file"),
    "document": ("file", "file"),
    "video": ("video", "video"),
    "video_note": ("video", "video message"),
    "voice": ("audio", "voice message"),
    "voice_note": ("audio", "voice message"),  # its name in rich messages
}
FIELDS: Final = frozenset((*_FILES, *DETAILS, "photo", "live_photo"))
"""Fields of a message that are attachments."""

_IMAGES: Final = ("image/jpeg", "image/png", "image/webp", "image/gif")


def media_of(raw: Raw) -> tuple[Media, ...]:
    """Return the attachments of a message, of a poll's option, or of a block.

    Telegram repeats an animation as a document, a live photo as a photo and a venue as a location,
    so that older bots understand it.
    """
    live = part(raw, "live_photo")
    if sizes := parts(raw, "photo") or parts(live, "photo"):
        return (_photo(sizes, "live photo" if live else "photo"),)
    if live:
        return (_file(live, "video", "live photo"),)
    for name, (kind, label) in _FILES.items():
        if found := part(raw, name):
            return (_file(found, kind, label),)
    for name in DETAILS:
        if raw.get(name):
            return (_described(name, raw[name]), *_inside(name, part(raw, name)))
    return ()


def file_in(value: Any, label: str) -> tuple[Media, ...]:
    """Return the file that an object of an unknown kind is, if it is one."""
    if isinstance(value, list):
        sizes = [one for one in value if isinstance(one, Mapping) and string(one, "file_id")]
        return (_photo(sizes, label),) if sizes else ()
    if isinstance(value, Mapping) and string(value, "file_id"):
        return (_file(value, "file", label),)
    return ()


def _photo(sizes: Iterable[Raw], label: str) -> Media:
    largest = max(sizes, key=lambda one: whole(one, "width") * whole(one, "height"))
    return _file({**largest, "mime_type": "image/jpeg"}, "image", label)


def _file(raw: Raw, kind: MediaKind, label: str) -> Media:
    mime = string(raw, "mime_type")
    if kind == "file" and mime in _IMAGES:
        kind, label = "image", "image"
    name, title = string(raw, "file_name"), string(raw, "title")
    song = " - ".join(one for one in (string(raw, "performer"), title if name else "") if one)
    return Media(
        kind,
        label,
        file=string(raw, "file_id"),
        name=name or title,
        mime=mime,
        size=whole(raw, "file_size"),
        width=whole(raw, "width"),
        height=whole(raw, "height"),
        seconds=whole(raw, "duration"),
        detail=song[:MAX_DETAIL],
    )


def _described(name: str, raw: Any) -> Media:
    live = name == "location" and isinstance(raw, Mapping) and whole(raw, "live_period")
    label = "live location" if live else name.replace("_", " ")
    return Media("other", label, detail=detail_of(name, raw))


def _inside(name: str, raw: Raw) -> Iterable[Media]:
    """Yield the attachments that an attachment has itself."""
    holders: Iterable[Raw] = ()
    if name == "poll":
        holders = poll_attachments(raw)
    elif name == "paid_media":
        holders = parts(raw, "paid_media")
    elif name == "game":
        holders = ({"photo": raw.get("photo")},)
    for one in holders:
        yield from media_of(one)
