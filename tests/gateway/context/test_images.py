"""Images: fetched when a turn takes their message, kept as files, shown or told of."""

from __future__ import annotations

import base64
import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from agent.image_parts import has_images, without_images
from channels.errors import ChannelDown, MediaRefused
from channels.message import Media
from gateway.context.image_header import check_image
from gateway.context.images import SCHEME, with_bytes
from gateway.storage.kept_files import HomeFiles
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import GroupChat
from tests.kit.gateways import gateway_of, settled
from tests.kit.images import MediaChannel, bomb, image
from tests.kit.plain_channels import MESSAGE, Brings

PIXELS = 1_000_000


@pytest.mark.parametrize(
    ("kind", "suffix"), [("PNG", "png"), ("JPEG", "jpg"), ("WEBP", "webp"), ("GIF", "gif")]
)
def test_an_image_is_known_by_its_bytes(kind: str, suffix: str) -> None:
    assert check_image(image(kind), PIXELS) == suffix


def test_a_photo_with_a_second_picture_in_it_is_a_jpeg() -> None:
    several = image("MPO", save_all=True, append_images=[Image.new("RGB", (2, 3))])
    assert check_image(several, PIXELS) == "jpg"


@pytest.mark.parametrize(
    "data", [b"", b"hello", b"<svg/>", image()[:40], image("TIFF"), image("BMP")]
)
def test_what_is_no_image_is_refused(data: bytes) -> None:
    with pytest.raises(MediaRefused, match="no image that I can read"):
        check_image(data, PIXELS)


def test_an_image_that_claims_too_many_pixels_is_refused_before_it_is_unpacked() -> None:
    with pytest.raises(MediaRefused, match="too many pixels \\(60000x60000\\)"):
        check_image(bomb(), 40_000_000)
    assert check_image(image(size=(10, 10)), 100) == "png"
    with pytest.raises(MediaRefused):
        check_image(image(size=(10, 10)), 99)


def pictured(*urls: str) -> dict[str, Any]:
    parts = [{"type": "image_url", "image_url": {"url": url}} for url in urls]
    return {"role": "user", "content": [{"type": "text", "text": "look"}, *parts]}


async def test_references_become_bytes_just_before_the_call(tmp_path: Path) -> None:
    (tmp_path / "media").mkdir()
    (tmp_path / "media" / "a.png").write_bytes(b"png")
    plain = {"role": "user", "content": "hi"}
    data = base64.b64encode(b"png").decode()
    given = [plain, pictured(f"{SCHEME}a.png", "https://x/y.jpg")]
    shown = await with_bytes(given, HomeFiles(tmp_path / "media", 10**9))
    assert shown == [plain, pictured(f"data:image/png;base64,{data}", "https://x/y.jpg")]
    assert has_images(shown)
    assert not has_images([plain])


@pytest.mark.parametrize("name", ["gone.png", "../secret.png"])
async def test_an_image_that_is_not_among_the_kept_ones_is_told_of(
    tmp_path: Path, name: str
) -> None:
    (tmp_path / "media").mkdir()
    (tmp_path / "secret.png").write_bytes(b"secret")
    (told,) = await with_bytes([pictured(SCHEME + name)], HomeFiles(tmp_path / "media", 10**9))
    assert told["content"] == "look\n[an image that you cannot see]"


def test_a_model_that_cannot_see_is_told_of_images() -> None:
    (told,) = without_images([pictured(f"{SCHEME}a.png")])
    assert told == {"role": "user", "content": "look\n[an image that you cannot see]"}


def down() -> bytes:
    raise ChannelDown("away")


def refused() -> bytes:
    raise MediaRefused("Telegram does not give it out")


def broken() -> bytes:
    raise ValueError("a bug")


async def seen(tmp_path: Path, *files: str, **more: str) -> Any:
    """Ask about some files; returns what the model was shown of the question."""
    found = {
        "red": image, "down": down, "refused": refused, "broken": broken,
        "bomb": bomb, "large": lambda: b"x" * 2_000,
    }  # fmt: skip
    channel = MediaChannel(found)
    media = tuple(Media("image", "photo", file=name) for name in files)
    async with (
        FakeOpenAI() as server,
        gateway_of(tmp_path, server, Brings(channel), ACCESS__MODE="open", **more) as gateway,
    ):
        await channel.host.accept([replace(MESSAGE, media=media)])
        await settled(gateway, "plain:-100")
        assert len(channel.posts) == 1
    return server.requests[0].body["messages"][-1]["content"]


async def test_e8_an_image_reaches_a_model_that_can_see_and_is_kept(tmp_path: Path) -> None:
    text, picture = await seen(tmp_path, "red")
    assert "] a secret question\n[photo]" in text["text"]
    data = base64.b64encode(image()).decode()
    assert picture["image_url"]["url"] == f"data:image/png;base64,{data}"
    kept = tmp_path / "media" / f"{hashlib.sha256(image()).hexdigest()}.png"
    assert kept.read_bytes() == image()


@pytest.mark.parametrize(
    ("file", "told"),
    [
        ("bomb", "it has too many pixels (60000x60000)"),
        ("down", "it could not be fetched"),
        ("broken", "it could not be fetched"),
        ("refused", "Telegram does not give it out"),
        ("large", "it is larger than announced"),
        ("slow", "it did not arrive within 0.05 s"),
    ],
)
async def test_e8_an_image_that_cannot_be_shown_is_told_of_with_the_reason(
    tmp_path: Path, file: str, told: str
) -> None:
    seconds = "0.05" if file == "slow" else "60"
    content = await seen(tmp_path, file, MEDIA__DOWNLOAD_SECONDS=seconds, MEDIA__MAX_BYTES="1000")
    assert f"[this photo cannot be shown: {told}]" in content


async def test_of_many_images_the_last_few_are_shown(tmp_path: Path) -> None:
    content = await seen(tmp_path, *["down"] * 3, *["red"] * 4)
    assert [part["type"] for part in content] == ["text", *["image_url"] * 4]
    assert "cannot be shown" not in content[0]["text"]


async def test_images_can_be_switched_off(tmp_path: Path) -> None:
    assert isinstance(await seen(tmp_path, "red", MEDIA__IMAGES="false"), str)
    assert not (tmp_path / "media").exists()


async def test_a_channel_that_gives_nothing_out_is_told_of(group: GroupChat) -> None:
    await group.hear(replace(MESSAGE, media=(Media("image", "photo", file="f"),)))
    assert "its channel is gone" in str(group.model.requests[0].body["messages"][-1])
