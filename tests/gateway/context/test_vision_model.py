"""A model is shown images until its server takes the request only without them."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from agent.errors import AgentError, KeyRefused, ModelDown, RequestRejected, UnknownModel
from agent.model import ModelRequest, Piece, TextPiece
from agent.models.offline import OFFLINE
from gateway.context.vision_model import VisionModel

pytestmark = pytest.mark.anyio

PICTURE = {"type": "image_url", "image_url": {"url": "https://example.org/a.png"}}
LOOK = {"role": "user", "content": [{"type": "text", "text": "look"}, PICTURE]}
HI = {"role": "user", "content": "hi"}
NO = "this model does not support image input"
TOLD = "look\n[an image that you cannot see]"


class Server:
    """A model by script: so many pieces of text, then an error or the end."""

    def __init__(self, *script: tuple[int, Exception | None], name: str = "model") -> None:
        self.name = name
        self.script = list(script)
        self.asked: list[Any] = []
        self.closed = False

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        self.asked.append(request.messages[-1]["content"])
        pieces, error = self.script.pop(0) if self.script else (1, None)
        for _ in range(pieces):
            yield TextPiece("x")
        if error is not None:
            raise error

    async def aclose(self) -> None:
        self.closed = True


async def answer(model: VisionModel, message: dict[str, Any]) -> int:
    """Ask; returns how many pieces came."""
    return len([piece async for piece in model.stream(ModelRequest([message]))])


async def test_a_model_is_shown_images_and_plain_words_as_they_are(tmp_path: Path) -> None:
    server = Server()
    model = VisionModel(server, tmp_path)
    assert await answer(model, LOOK) == await answer(model, HI) == 1
    assert server.asked == [LOOK["content"], "hi"]
    assert model.name == "model"


@pytest.mark.parametrize("refusal", [RequestRejected(NO), UnknownModel(NO), ModelDown(NO)])
async def test_e8_a_model_that_takes_the_request_only_without_images_is_told_of_them(
    tmp_path: Path, refusal: Exception
) -> None:
    server = Server((0, refusal))
    model = VisionModel(server, tmp_path)
    with capture_logs() as logs:
        assert await answer(model, LOOK) == 1
        await answer(model, LOOK)
    assert server.asked == [LOOK["content"], TOLD, TOLD]
    assert [log["event"] for log in logs] == ["model.images_refused"]


async def test_a_model_that_refuses_it_without_images_too_is_not_called_blind(
    tmp_path: Path,
) -> None:
    server = Server((0, RequestRejected("no")), (0, RequestRejected("still no")))
    model = VisionModel(server, tmp_path)
    with pytest.raises(RequestRejected, match="still no"):
        await answer(model, LOOK)
    await answer(model, LOOK)
    assert server.asked[-1] == LOOK["content"]


@pytest.mark.parametrize("script", [(1, ModelDown("cut")), (0, KeyRefused("no"))])
async def test_an_error_that_is_not_about_images_goes_up(
    tmp_path: Path, script: tuple[int, Exception]
) -> None:
    server = Server(script)
    with pytest.raises(AgentError):
        await answer(VisionModel(server, tmp_path), LOOK)
    assert len(server.asked) == 1


async def test_the_offline_model_is_told_of_images_from_the_start(tmp_path: Path) -> None:
    server = Server(name=OFFLINE)
    with capture_logs() as logs:
        await answer(VisionModel(server, tmp_path), LOOK)
    assert (server.asked, logs) == ([TOLD], [])


async def test_closing_closes_the_model(tmp_path: Path) -> None:
    server = Server()
    await VisionModel(server, tmp_path).aclose()
    assert server.closed


async def test_one_picture_that_is_refused_says_nothing_of_the_others(tmp_path: Path) -> None:
    server = Server((0, RequestRejected("the picture is broken")))
    model = VisionModel(server, tmp_path)
    await answer(model, LOOK)
    await answer(model, LOOK)
    assert server.asked == [LOOK["content"], TOLD, LOOK["content"]]
