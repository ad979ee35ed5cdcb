"""The images in a request's messages, and the notes that stand in for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from agent.model import Message


def has_images(messages: Sequence[Message]) -> bool:
    return any(_references(message) for message in messages)


def without_images(messages: Sequence[Message]) -> list[Message]:
    """Replace images with notes, for a model without vision."""
    return [map_images(message, lambda _url: None) for message in messages]


def map_images(message: Message, show: Callable[[str], str | None]) -> Message:
    """Replace the URL of each image with what `show` returns, and the image with a note if None."""
    if not _references(message):
        return message
    texts: list[str] = []
    images: list[Mapping[str, Any]] = []
    for part in message["content"]:
        if part.get("type") != "image_url":
            texts.append(str(part.get("text", "")))
            continue
        shown = show(str(part["image_url"]["url"]))
        if shown is None:
            texts.append("[an image that you cannot see]")
        else:
            images.append({"type": "image_url", "image_url": {"url": shown}})
    text = "\n".join(texts)
    content = [{"type": "text", "text": text}, *images] if images else text
    return {**message, "content": content}


def _references(message: Message) -> bool:
    content = message.get("content")
    return isinstance(content, list) and any(part.get("type") == "image_url" for part in content)
