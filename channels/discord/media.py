"""Parses attachments, and parts of a message that have a label but no file, such as stickers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from mimetypes import MimeTypes
from typing import Any, Final
from urllib.parse import urlsplit

from channels.discord.guild_cache import Raw
from channels.message import Media, MediaKind

MAX_DETAIL: Final = 500
VOICE: Final = 1 << 13  # the message flag of a voice message
IMAGES: Final[Mapping[bytes, str]] = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF8": "image/gif",
}
"""How the files begin that models can see; WebP has its mark at the ninth byte."""

ACTIVITIES: Final[Mapping[int, str]] = {1: "join", 2: "watch", 3: "listen", 5: "ask to join"}

_SHOWN: Final = ("image/jpeg", "image/png", "image/webp", "image/gif")
_KINDS: Final[Mapping[str, MediaKind]] = {"audio": "audio", "video": "video"}
_UNTYPED: Final = ("", "application/octet-stream", "binary/octet-stream")
_OWN_HOSTS: Final = ("cdn.discordapp.com", "media.discordapp.net")
_MORE_NAMES: Final[Mapping[str, str]] = {
    ".webp": "image/webp",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".m4a": "audio/mp4",
    ".flac": "audio/flac",
    ".webm": "video/webm",
    ".mkv": "video/x-matroska",
    ".log": "text/plain",
    ".md": "text/markdown",
    ".ts": "text/plain",
}
_BY_NAME: Final = MimeTypes()  # Python's own table, since each machine has another one


def media_of(raw: Raw) -> tuple[Media, ...]:
    voice = bool(count(raw.get("flags")) & VOICE)
    files = [_file(one, voice=voice) for one in raw.get("attachments") or ()]
    return (*files, *_stickers(raw), *_activity(raw))


def type_of_file(name: str, mime: str) -> str:
    """Return the type of a file by its name if it has none, or "" if it is not known."""
    found = mime.partition(";")[0].strip().lower()
    if found not in _UNTYPED:
        return found
    suffix = name[name.rfind(".") :].lower() if "." in name else ""
    return _MORE_NAMES.get(suffix) or _BY_NAME.guess_type(name)[0] or ""


def type_by_bytes(start: bytes) -> str:
    """Return the type of an image that begins with these bytes, or "" for anything else."""
    if start[:4] == b"RIFF" and start[8:12] == b"WEBP":
        return "image/webp"
    return next((mime for mark, mime in IMAGES.items() if start.startswith(mark)), "")


def as_image(media: Media, mime: str) -> Media:
    return replace(media, kind="image", label="image", mime=mime)


def linked(kind: MediaKind, label: str, item: Raw) -> Media:
    """Return a picture or film that an address leads to; only Discord's own files are fetched."""
    url = str(item.get("url") or "")
    is_own = _host(url) in _OWN_HOSTS
    words = [str(item.get("description") or ""), "" if is_own else url]
    return Media(
        kind,
        label,
        file=url if is_own else "",
        name=str(item.get("name") or ""),
        mime=str(item.get("content_type") or ""),
        size=count(item.get("size")),
        width=count(item.get("width")),
        height=count(item.get("height")),
        detail=", ".join(part for part in words if part)[:MAX_DETAIL],
    )


def _host(url: str) -> str | None:
    try:
        return urlsplit(url).hostname
    except ValueError:  # such as "http://[": a page may name any picture
        return None


def address(url: str) -> str:
    """Return an address without the signature that Discord renews each day."""
    return url.partition("?")[0]


def count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and 0 <= value < 2**63 else 0


def _file(raw: Raw, *, voice: bool) -> Media:
    name = str(raw.get("title") or raw.get("filename") or "")
    mime = type_of_file(str(raw.get("filename") or ""), str(raw.get("content_type") or ""))
    kind = _KINDS.get(mime.partition("/")[0], "file")
    label: str = {"audio": "audio file"}.get(kind, kind)
    if mime in _SHOWN or (not mime and raw.get("width") and raw.get("height")):
        kind = label = "image"
    elif voice:
        kind, label = "audio", "voice message"
    return Media(
        kind,
        label,
        file=str(raw.get("url") or ""),
        name=name,
        mime=mime,
        size=count(raw.get("size")),
        width=count(raw.get("width")),
        height=count(raw.get("height")),
        seconds=count(raw.get("duration_secs")),
        detail=str(raw.get("description") or "")[:MAX_DETAIL],
    )


def _stickers(raw: Raw) -> Iterator[Media]:
    for sticker in raw.get("sticker_items") or raw.get("stickers") or ():
        words = [str(sticker.get(name) or "") for name in ("name", "description")]
        yield Media("other", "sticker", detail=": ".join(filter(None, words))[:MAX_DETAIL])


def _activity(raw: Raw) -> Iterator[Media]:
    activity = raw.get("activity")
    if activity:
        what = ACTIVITIES.get(count(activity.get("type")), "take part")
        name = str((raw.get("application") or {}).get("name") or "")
        detail = f"{what}: {name}" if name else what
        yield Media("other", "invitation to an activity", detail=detail[:MAX_DETAIL])
