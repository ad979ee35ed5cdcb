"""E8: images and files; on every channel that can fetch them."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from tests.contracts.pictures import images_of, picture
from tests.kit.play import playing, prompt_of
from tests.kit.promised import promises


@promises("E8")
async def test_e8_an_image_reaches_the_model_as_it_is(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        chat, data = play.chat(), picture()
        said = await play.stage.send_image(chat, play.person(), data, "what colour is this?")
        await play.settle()
        play.answer(said)
        (shown,) = images_of(play.model.requests[-1])
        head, _, body = shown.partition(",")
        assert head == "data:image/png;base64"
        assert base64.b64decode(body) == data
        assert "what colour is this?" in str(play.model.requests[-1].body)


@promises("E8", "groups")
async def test_e8_an_image_that_nobody_asked_about_is_shown_when_somebody_does(
    channel: str, tmp_path: Path
) -> None:
    async with playing(channel, tmp_path) as play:
        group, bob = play.stage.group(), play.person("Bob")
        await play.stage.send_image(group, bob, picture(), "", mention=False)
        await play.settle()
        assert play.model.requests == []
        await play.ask(group, bob, "what colour was that?")
        assert len(images_of(play.model.requests[-1])) == 1


@promises("E8")
async def test_e8_a_file_is_named_with_its_type_and_size(channel: str, tmp_path: Path) -> None:
    async with playing(channel, tmp_path) as play:
        chat, data = play.chat(), b"x" * 12_000
        said = await play.stage.send_file(
            chat, play.person(), data, "plan.pdf", "application/pdf", "what is this?"
        )
        await play.settle()
        play.answer(said)
        assert images_of(play.model.requests[-1]) == []
        asked = prompt_of(play.model)
        assert all(part in asked for part in ("plan.pdf", "application/pdf", "12 kB"))


@promises("E8")
@pytest.mark.parametrize(
    ("data", "why"),
    [
        (picture(2000, 1000), "too many pixels (2000x1000)"),
        (picture() + b"\0" * 30_000, "larger than"),
        (b"GIF89a and then nothing", "no image that I can read"),
        (b"", "no image that I can read"),
    ],
    ids=["too many pixels", "too large", "broken", "empty"],
)
async def test_e8_an_image_that_cannot_be_shown_says_why(
    channel: str, tmp_path: Path, data: bytes, why: str
) -> None:
    async with playing(
        channel, tmp_path, MEDIA__MAX_BYTES="20000", MEDIA__MAX_PIXELS="1000000"
    ) as play:
        said = await play.stage.send_image(play.chat(), play.person(), data, "what is it?")
        await play.settle()
        play.answer(said)
        assert images_of(play.model.requests[-1]) == []
        assert why in prompt_of(play.model)
