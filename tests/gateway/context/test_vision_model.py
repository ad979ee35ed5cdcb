"""A model is shown images; the offline model gets a note for each."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

from agent.model import ModelRequest, Piece, TextPiece
from agent.models.offline import OFFLINE
from gateway.context.vision_model import VisionModel
from gateway.storage.kept_files import HomeFiles

PICTURE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
LOOK = {"role": "user", "content": [{"type": "text", "text": "look"}, PICTURE]}
HI = {"role": "user", "content": "hi"}
TOLD = "look\n[an image that you cannot see]"


class Server:
    """A model that keeps what it is asked, and says one thing."""

    def __init__(self, name: str = "model") -> None:
        self.name = name
        self.asked: list[Any] = []
        self.closed = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        self.asked.append(request.messages[-1]["content"])
        yield TextPiece("x")

    async def aclose(self) -> None:
        self.closed = True


async def answer(model: VisionModel, message: dict[str, Any]) -> int:
    """Ask; returns how many pieces came."""
    return len([piece async for piece in model.stream(ModelRequest([message]))])


async def test_a_model_is_shown_images_and_plain_words_as_they_are(tmp_path: Path) -> None:
    server = Server()
    model = VisionModel(server, HomeFiles(tmp_path, 10**9))
    assert await answer(model, LOOK) == await answer(model, HI) == 1
    assert server.asked == [LOOK["content"], "hi"]
    assert model.name == "model"


async def test_the_offline_model_is_told_of_images_from_the_start(tmp_path: Path) -> None:
    server = Server(name=OFFLINE)
    await answer(VisionModel(server, HomeFiles(tmp_path, 10**9)), LOOK)
    assert server.asked == [TOLD]


async def test_closing_closes_the_model(tmp_path: Path) -> None:
    server = Server()
    await VisionModel(server, HomeFiles(tmp_path, 10**9)).aclose()
    assert server.closed
