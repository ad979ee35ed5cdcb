"""Images that came with what a message quotes or passes on are shown as its own are, after them."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from channels.message import Excerpt, InboundMessage, Media, Quote
from tests.fakes.openai.script import Call, ToolCalls
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import open_group
from tests.kit.images import MediaChannel, image
from tests.kit.plain_channels import MESSAGE

SIZES = {name: (2, number) for number, name in enumerate("abcdefgh", 1)}
FILES = {name: (lambda size=size: image(size=size)) for name, size in SIZES.items()}


def photos(*names: str) -> tuple[Media, ...]:
    return tuple(Media("image", "photo", file=name) for name in names)


async def seen(model: FakeOpenAI, home: Path, asked: InboundMessage) -> tuple[int, list[Any]]:
    """Return how many images the model saw, and whose the tape says that they are."""
    async with open_group(home, model, channel=MediaChannel(dict(FILES))) as group:
        entries = await group.hear(asked)
    content = model.requests[0].body["messages"][-1]["content"]
    (media,) = [entry.payload["data"] for entry in entries if entry.name == "message.media"]
    pictures = [part for part in content if part["type"] == "image_url"]
    return len(pictures), media.get("whose", [])


@pytest.mark.parametrize(
    ("change", "whose"),
    [
        ({"quote": Quote("Zed", "8", media=photos("a"))}, ["8"]),
        ({"excerpts": (Excerpt("card", media=photos("a"), source="page"),)}, ["somebody"]),
        ({"excerpts": (Excerpt("mail", "x", media=photos("a")),)}, ["somebody"]),
        (
            {
                "media": photos("a", "b"),
                "quote": Quote("Zed", "8", media=photos("c")),
                "excerpts": (Excerpt("shared message", "", "Eve", "9", media=photos("d", "e")),),
            },
            ["", "", "8", "9"],
        ),
        ({"media": photos("a", "b", "c", "d"), "quote": Quote("Z", media=photos("e"))}, []),
    ],
)
async def test_e8_an_image_of_others_is_shown_after_the_message_s_own(
    model: FakeOpenAI, tmp_path: Path, change: dict[str, Any], whose: list[str]
) -> None:
    found, said = await seen(model, tmp_path, replace(MESSAGE, **change))
    assert said == whose
    assert found == (len(whose) or 4)


async def test_a_reply_to_one_of_two_photos_shows_which(model: FakeOpenAI, tmp_path: Path) -> None:
    first = replace(MESSAGE, media=photos("a"), text="one hall")
    second = replace(first, message_id="2", ext_id="-100/2", media=photos("b"), text="another")
    asked = replace(first, message_id="3", ext_id="-100/3", media=(), text="how old is it?")
    asked = replace(asked, reply_to="1", quote=Quote("Ann", "7", "one hall", media=photos("a")))
    async with open_group(tmp_path, model, channel=MediaChannel(dict(FILES))) as group:
        entries = await group.hear_each(first, second, asked)
    said = [one for one in entries if one.meta.get("message_id") == "3"]
    assert "replying to" in said[0].text
    assert "[photo" in said[0].text
    content = model.requests[-1].body["messages"][-1]["content"]
    assert [part["type"] for part in content].count("image_url") == 1


async def test_a_question_that_joins_a_turn_brings_the_images_of_others(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    gate = asyncio.Event()
    model.enqueue(ToolCalls((Call("c-1", "tape_info", "{}"),), gate=gate))
    card = Excerpt("shared message", "", "Eve", "9", media=photos("b"))
    joining = replace(MESSAGE, message_id="2", ext_id="-100/2", text="this one, I mean")
    joining = replace(joining, quote=Quote("Zed", "8", media=photos("a")), excerpts=(card,))
    channel = MediaChannel(dict(FILES))
    async with open_group(tmp_path, model, channel=channel, TURN__OVERLAP="steer") as group:
        await group.accept(MESSAGE)
        await model.wait_for_requests(1)
        await group.accept(joining)
        await group.gateway.taken_in()
        gate.set()
        entries = await group.settled()
    assert [entry.name for entry in entries].count("turn.start") == 1
    content = model.requests[-1].body["messages"][-1]["content"]
    assert [part["type"] for part in content].count("image_url") == 2
    (media,) = [entry.payload["data"] for entry in entries if entry.name == "message.media"]
    assert media["whose"] == ["8", "9"]
