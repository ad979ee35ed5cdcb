"""Pictures that people send, and those that the model is shown."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from PIL import Image

from tests.fakes.openai.script import Request


def picture(width: int = 40, height: int = 30) -> bytes:
    """Return a small red image."""
    data = BytesIO()
    Image.new("RGB", (width, height), "red").save(data, "PNG")
    return data.getvalue()


def images_of(request: Request) -> list[str]:
    """Return the addresses of the images that the model was shown."""
    contents: list[Any] = [message["content"] for message in request.body["messages"]]
    parts = [part for content in contents if isinstance(content, list) for part in content]
    return [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
