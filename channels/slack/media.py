"""The files of a message: described when the message arrives, fetched only when needed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from channels.errors import MediaRefused, SendRefused
from channels.message import Media, MediaKind
from channels.slack.api import SlackApi

Raw = Mapping[str, Any]

IMAGES: Final = ("image/jpeg", "image/png", "image/webp", "image/gif")
_KINDS: Final[Mapping[str, tuple[MediaKind, str]]] = {
    "audio": ("audio", "audio file"),
    "video": ("video", "video"),
}
_GONE: Final = ("tombstone", "hidden_by_limit")


def media_of(event: Raw, account: str) -> tuple[Media, ...]:
    files = event.get("files")
    if not isinstance(files, list):
        return ()
    return tuple(_media(one, account) for one in files if isinstance(one, Mapping))


def _media(raw: Raw, account: str) -> Media:
    if raw.get("mode") in _GONE:
        return Media("other", "file that Slack no longer provides")
    mime = str(raw.get("mimetype") or "")
    kind, label = _KINDS.get(mime.partition("/")[0], ("file", "file"))
    if mime in IMAGES:
        kind, label = "image", "image"
    if raw.get("subtype") == "slack_audio":
        label = "voice message"
    return Media(
        kind,
        label,
        file=f"{account}/{raw['id']}",
        name=str(raw.get("name") or raw.get("title") or ""),
        mime=mime,
        size=int(raw.get("size") or 0),
        width=int(raw.get("original_w") or 0),
        height=int(raw.get("original_h") or 0),
        seconds=int(raw.get("duration_ms") or 0) // 1000,
    )


async def fetch(api: SlackApi, file_id: str, most: int) -> bytes:
    """Return a file of at most `most` bytes; raises MediaRefused or another ChannelError."""
    try:
        found = (await api.call("files.info", file=file_id)).get("file") or {}
    except SendRefused as refused:
        raise MediaRefused(f"Slack does not provide it ({refused})") from refused
    if int(found.get("size") or 0) > most:
        raise MediaRefused(f"it is larger than my limit of {most // 1_000_000} MB")
    url = str(found.get("url_private_download") or found.get("url_private") or "")
    if not url:
        raise MediaRefused("Slack does not say where it is")
    return await api.download(url, most, str(found.get("mimetype") or ""))
