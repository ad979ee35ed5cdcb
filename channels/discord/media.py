"""Parses attachments, and parts of a message that have a label but no file, such as polls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from channels.discord.guild_cache import Raw
from channels.message import Media, MediaKind

MAX_DETAIL: Final = 500
VOICE: Final = 1 << 13  # the message flag of a voice message
_IMAGES: Final = ("image/jpeg", "image/png", "image/webp", "image/gif")
_KINDS: Final[Mapping[str, MediaKind]] = {"audio": "audio", "video": "video"}


def media_of(raw: Raw) -> tuple[Media, ...]:
    voice = bool(_count(raw.get("flags")) & VOICE)
    files = [_file(one, voice=voice) for one in raw.get("attachments") or ()]
    return (*files, *_others(raw))


def _file(raw: Raw, *, voice: bool) -> Media:
    mime = str(raw.get("content_type") or "").partition(";")[0].strip()
    kind = _KINDS.get(mime.partition("/")[0], "file")
    label: str = {"audio": "audio file"}.get(kind, kind)
    if mime in _IMAGES:
        kind = label = "image"
    elif voice:
        kind, label = "audio", "voice message"
    return Media(
        kind,
        label,
        file=str(raw.get("url") or ""),
        name=str(raw.get("title") or raw.get("filename") or ""),
        mime=mime,
        size=_count(raw.get("size")),
        width=_count(raw.get("width")),
        height=_count(raw.get("height")),
        seconds=_count(raw.get("duration_secs")),
    )


def _others(raw: Raw) -> Iterator[Media]:
    for sticker in raw.get("sticker_items") or ():
        yield Media("other", "sticker", detail=str(sticker.get("name") or "")[:MAX_DETAIL])
    poll = raw.get("poll")
    if poll:
        question = str((poll.get("question") or {}).get("text") or "")
        answers = [(one.get("poll_media") or {}).get("text") for one in poll.get("answers") or ()]
        text = f"{question} ({', '.join(str(one) for one in answers if one)})"
        yield Media("other", "poll", detail=text[:MAX_DETAIL])


def cards(raw: Raw) -> str:
    """Return the text of the cards and components that bots and webhooks add to a message."""
    lines = [line for embed in raw.get("embeds") or () for line in _card(embed)]
    lines += _components(raw.get("components") or ())
    return "\n".join(line for line in lines if line)


def _card(embed: Raw) -> Iterator[str]:
    if embed.get("type", "rich") != "rich":  # a preview of a link in the message
        return
    yield str((embed.get("author") or {}).get("name") or "")
    for name in ("title", "description"):
        yield str(embed.get(name) or "")
    for one in embed.get("fields") or ():
        yield f"{one.get('name', '')}: {one.get('value', '')}"
    yield str((embed.get("footer") or {}).get("text") or "")


def _components(given: Sequence[Raw], depth: int = 0) -> list[str]:
    lines: list[str] = []
    for one in given:
        lines += [str(one[name]) for name in ("content", "label") if one.get(name)]
        inner = one.get("components")
        if isinstance(inner, list) and depth < 5:
            lines += _components(inner, depth + 1)
    return lines


def _count(value: Any) -> int:
    return int(value) if isinstance(value, int | float) and 0 <= value < 2**63 else 0
