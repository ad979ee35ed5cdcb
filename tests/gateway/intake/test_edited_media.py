"""Edits that change something else than words: a picture, a card, a poll, a place."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from channels.message import Excerpt, InboundMessage, Media
from tape.entry import Entry
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import GroupChat, open_group
from tests.kit.images import MediaChannel, image
from tests.kit.plain_channels import MESSAGE

SMALL = Media("image", "photo", file="a", width=640, height=480, size=1000)
LARGE = Media("image", "photo", file="b", width=800, height=600, size=2000)
WELL = replace(MESSAGE, ext_id="-100/9", message_id="9", text="well?")


def edit(of: InboundMessage, number: int = 1, **what: Any) -> InboundMessage:
    new = replace(of, edited="2026-01-01T00:01:00+00:00", **what)
    return replace(new, kind="edit", ext_id=f"{of.ext_id}/edit/{number}")


def told(entries: list[Entry]) -> list[str]:
    data = [one.payload["data"] for one in entries if one.name == "message.edit"]
    return [one.get("changed", "") for one in data]


def last_prompt(group: GroupChat) -> str:
    return str(group.model.requests[-1].body["messages"])


POLL = Media("other", "poll", detail="Tea?")
PLACE = Media("other", "location", detail="1.0, 2.0")
CARD = Excerpt("link preview", "Plums for all", source="page")


@pytest.mark.parametrize(
    ("before", "after", "what", "shows"),
    [
        ({"media": (SMALL,)}, {"media": (LARGE,)}, "photo", "[photo, 800x600"),
        ({"media": (POLL,)}, {"media": (replace(POLL, detail="Coffee?"),)}, "poll", "Coffee?"),
        ({"media": (PLACE,)}, {"media": (replace(PLACE, detail="3.0"),)}, "location", "3.0"),
        ({"excerpts": ()}, {"excerpts": (CARD,)}, "link preview", ">> Plums for all"),
        ({"media": (SMALL,)}, {"media": ()}, "photo", "] look"),
        ({"media": (SMALL,)}, {"media": (SMALL, POLL)}, "poll", "Tea?"),
        (
            {"media": (Media("other", "hologram", detail="a"),)},
            {"media": (Media("other", "hologram", detail="b"),)},
            "hologram",
            "[hologram, b]",
        ),
    ],
)
async def test_a4_what_changed_beside_the_words_is_told_by_its_name(
    group: GroupChat, before: dict[str, Any], after: dict[str, Any], what: str, shows: str
) -> None:
    asked = replace(MESSAGE, text="look", **before)
    entries = await group.hear_each(asked, edit(asked, **after), WELL)
    assert told(entries) == [what]
    shown = last_prompt(group).partition(f"[The {what} of the following message was changed.")[2]
    assert shows in shown
    assert "] look" in shown


@pytest.mark.parametrize("text", ["look", ""])
async def test_an_edit_that_changes_nothing_is_not_told(group: GroupChat, text: str) -> None:
    asked = replace(MESSAGE, text=text, media=(SMALL,), excerpts=(CARD,))
    again = replace(SMALL, file="another key of the same file")
    entries = await group.hear_each(asked, edit(asked, media=(again,)))
    assert told(entries) == []


async def test_an_edit_that_only_brings_a_preview_removes_nothing(group: GroupChat) -> None:
    aside = replace(MESSAGE, addressed=False, text="look", media=(SMALL,))
    preview = replace(edit(aside, media=(), excerpts=(CARD,)), edited="")
    entries = await group.hear_each(aside, preview, WELL)
    assert told(entries) == ["link preview"]
    shown = last_prompt(group)
    assert "[photo, 640x480" in shown
    assert ">> Plums for all" in shown


async def test_a_preview_that_comes_after_the_answer_is_no_news(group: GroupChat) -> None:
    asked = replace(MESSAGE, text="look", media=(SMALL,))
    preview = replace(edit(asked, media=(), excerpts=(CARD,)), edited="")
    assert told(await group.hear_each(asked, preview, WELL)) == []
    assert "Plums for all" not in last_prompt(group)


async def test_words_and_pictures_that_change_together_are_told_as_the_edit(
    group: GroupChat,
) -> None:
    asked = replace(MESSAGE, text="look", media=(SMALL,))
    entries = await group.hear_each(asked, edit(asked, text="see", media=(LARGE,)), WELL)
    assert told(entries) == [""]
    assert "was edited and now reads:]" in last_prompt(group)


async def test_a_picture_that_an_edit_brings_asks_as_the_message_would(group: GroupChat) -> None:
    aside = replace(MESSAGE, addressed=False, text="this one", media=(SMALL,))
    asking = edit(aside, addressed=True, why="mention", text="@bot this one", media=(LARGE,))
    entries = await group.hear_each(aside, asking)
    assert "[photo, 800x600" in last_prompt(group)
    assert "640x480" not in last_prompt(group)
    (asked,) = [one for one in entries if one.meta.get("edit_of")]
    assert [one["width"] for one in asked.meta["media"]] == [800]


async def test_an_edit_of_an_album_changes_one_of_its_pictures(group: GroupChat) -> None:
    group.channel.traits = replace(group.channel.traits, join_wait=0.1)
    first = replace(MESSAGE, text="look", joins="a", media=(SMALL,))
    second = replace(first, ext_id="-100/2", message_id="2", text="", media=(POLL,))
    await group.hear(first, second)
    entries = await group.hear_each(edit(second, media=(PLACE,)), edit(first, 2), WELL)
    assert told(entries) == ["location and poll"]
    shown = last_prompt(group).rpartition("was changed.")[2]
    assert "[photo, 640x480" in shown
    assert "[location, 1.0, 2.0]" in shown
    assert "[poll" not in shown


@pytest.mark.parametrize("asks", [False, True])
async def test_a_late_part_with_a_new_caption_still_says_what_came_before_it(
    group: GroupChat, asks: bool
) -> None:
    group.channel.traits = replace(group.channel.traits, join_wait=0.1)
    first = replace(MESSAGE, text="look", joins="a", media=(SMALL,))
    late = replace(first, ext_id="-100/2", message_id="2", text="", media=(LARGE,))
    await group.hear_each(first, late, edit(late, text="the plan", addressed=asks))
    await group.hear_each(*([] if asks else [replace(WELL, reply_to="1")]))
    shown = last_prompt(group).rpartition("] the plan")[2]
    assert "[photo, 800x600" in shown
    assert "[more of an album: 1 picture of it was seen before]" in shown


async def test_a_deleted_picture_of_an_album_leaves_the_others(group: GroupChat) -> None:
    group.channel.traits = replace(group.channel.traits, join_wait=0.1)
    first = replace(MESSAGE, addressed=False, text="look", joins="a", media=(SMALL,))
    second = replace(first, ext_id="-100/2", message_id="2", text="", media=(LARGE,))
    await group.hear(first, second)
    gone = replace(first, kind="delete", ext_id="-100/1/deleted", text="", media=())
    await group.hear_each(gone, replace(WELL, reply_to=None))
    assert "[photo, 800x600" in last_prompt(group)
    assert "640x480" not in last_prompt(group)


PICTURES: dict[str, Callable[[], bytes]] = {"a": lambda: image(), "b": lambda: image(size=(5, 5))}


def pictures(group: GroupChat) -> list[bytes]:
    """Return the pictures in the last request."""
    said = group.model.requests[-1].body["messages"]
    parts = [part for one in said if isinstance(one["content"], list) for part in one["content"]]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [base64.b64decode(url.partition("base64,")[2]) for url in urls]


@pytest.mark.parametrize("addressed", [False, True])
async def test_a_picture_that_was_replaced_is_the_one_that_the_model_sees(
    model: FakeOpenAI, tmp_path: Path, *, addressed: bool
) -> None:
    channel = MediaChannel(PICTURES)
    async with open_group(tmp_path, model, channel=channel, BUFFER__DEBOUNCE="0.3") as group:
        said = replace(MESSAGE, addressed=addressed, text="look", media=(SMALL,))
        await group.hear(said, edit(said, media=(LARGE,)), WELL)
        assert pictures(group) == [PICTURES["b"]()]


async def test_a_picture_that_is_replaced_after_the_answer_is_shown_at_the_next_turn(
    model: FakeOpenAI, tmp_path: Path
) -> None:
    async with open_group(tmp_path, model, channel=MediaChannel(PICTURES)) as group:
        said = replace(MESSAGE, text="look", media=(SMALL,))
        await group.hear_each(said, edit(said, media=(LARGE,)), WELL)
        assert pictures(group) == [PICTURES["a"](), PICTURES["b"]()]
