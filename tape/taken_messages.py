"""What stands in and above a message where a view shows it: images, a day, that it was edited."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from tape.entry import Entry

ASKED_IN: Final = "asked_in"
"""In an edit that asked: the lane of the message that it is, too, which has its text as well."""

MEDIA_FROM: Final = "media_from"
"""In an edit that changed the attachments: the channel from which the new ones are fetched."""

NOW_READS: Final = "The following message was edited and now reads:"


def with_media(entry: Entry, media: Entry | None) -> Entry:
    """Return a message with its images, and why others are not shown."""
    if media is None:
        return entry
    data = media.payload["data"]
    refused = "".join(f"\n[{why}]" for why in data.get("refused", ()))
    text = f"{entry.payload.get('content', '')}{refused}"
    images = [{"type": "image_url", "image_url": {"url": url}} for url in data.get("images", ())]
    content = [{"type": "text", "text": text}, *images] if images else text
    return replace(entry, payload={**entry.payload, "content": content})


def below(day: str, entry: Entry) -> Entry:
    """Return a message below a line in brackets."""
    content: Any = entry.payload.get("content")
    if isinstance(content, str):
        content = f"[{day}]\n{content}"
    elif isinstance(content, list):
        content = [{"type": "text", "text": f"[{day}]"}, *content]
    return replace(entry, payload={**entry.payload, "content": content})
