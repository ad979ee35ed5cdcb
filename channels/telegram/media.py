"""Parses attachments: photos, files, and attachments without a file, such as a location."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from channels.message import Media, MediaKind
from channels.telegram.fields import Raw

_FILES: Final[Mapping[str, tuple[MediaKind, str]]] = {
    "animation": ("video", "animation"),
    "audio": ("audio", "audio file"),
    "document": ("file", "file"),
    "video": ("video", "video"),
    "video_note": ("video", "video message"),
    "voice": ("audio", "voice message"),
}
_IMAGES: Final = ("image/jpeg", "image/png", "image/webp", "image/gif")


def media_of(raw: Raw) -> tuple[Media, ...]:
    if sizes := raw.get("photo"):
        largest = max(sizes, key=lambda one: int(one.get("width", 0)) * int(one.get("height", 0)))
        return (_file({**largest, "mime_type": "image/jpeg"}, "image", "photo"),)
    for name, (kind, label) in _FILES.items():
        if raw.get(name):
            return (_file(raw[name], kind, label),)
    for name, describe in _OTHERS.items():
        if raw.get(name):
            return (Media("other", name.replace("_", " "), detail=describe(raw[name])[:500]),)
    return ()


def _file(raw: Raw, kind: MediaKind, label: str) -> Media:
    mime = str(raw.get("mime_type") or "")
    if kind == "file" and mime in _IMAGES:
        kind, label = "image", "image"
    return Media(
        kind,
        label,
        file=str(raw["file_id"]),
        name=str(raw.get("file_name") or raw.get("title") or ""),
        mime=mime,
        size=int(raw.get("file_size") or 0),
        width=int(raw.get("width") or 0),
        height=int(raw.get("height") or 0),
        seconds=int(raw.get("duration") or 0),
    )


def _contact(raw: Raw) -> str:
    name = " ".join(str(raw[key]) for key in ("first_name", "last_name") if raw.get(key))
    return f"{name} {raw.get('phone_number', '')}".strip()


def _poll(raw: Raw) -> str:
    options = ", ".join(str(option.get("text", "")) for option in raw.get("options", ()))
    return f"{raw.get('question', '')} ({options})"


_OTHERS: Final[Mapping[str, Callable[[Any], str]]] = {
    "sticker": lambda raw: str(raw.get("emoji") or ""),
    "venue": lambda raw: f"{raw.get('title', '')}, {raw.get('address', '')}",
    "location": lambda raw: f"{raw.get('latitude')}, {raw.get('longitude')}",
    "contact": _contact,
    "poll": _poll,
    "dice": lambda raw: f"{raw.get('emoji', '')} {raw.get('value', '')}".strip(),
    **dict.fromkeys(
        ("game", "story", "paid_media", "invoice", "giveaway", "checklist"), lambda _raw: ""
    ),
}
