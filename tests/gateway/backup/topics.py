"""Two topics of a private chat, in one of which somebody passed on what others wrote and showed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from channels.message import Excerpt, InboundMessage, Media, Quote
from tape.entry import utc_iso
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.chats import open_group
from tests.kit.images import MediaChannel, image
from tests.kit.plain_channels import MESSAGE
from tests.kit.waiting import Patience

CHAT: Final = "7"
SESSION: Final = f"plain:{CHAT}"
ROSES, TRAINS = "40", "41"
PHOTO: Final = Media("image", "photo", file="roses")

Shown = list[dict[str, Any]]


def said(number: int, topic: str, text: str) -> InboundMessage:
    """Make a message in a topic."""
    return replace(
        MESSAGE,
        chat_id=CHAT,
        chat_kind="private",
        thread_id=topic,
        ext_id=f"{CHAT}/{number}",
        message_id=str(number),
        text=text,
        date=utc_iso(datetime.now(UTC)),
    )


async def begin(home: Path, model: FakeOpenAI) -> list[Shown]:
    """Have both topics begin; return what the model was shown in each."""
    forward = Excerpt("forwarded message", "Rumpel grows roses", "Zed", "8", media=(PHOTO,))
    quote = Quote("Eve", "9", "Vienna has roses", media=(PHOTO,))
    roses = replace(
        said(1, ROSES, "which ones?"), excerpts=(forward,), quote=quote, omitted=("3 more files",)
    )
    return await _say(home, model, roses, said(2, TRAINS, "the train to Linz"))


async def go_on(home: Path, model: FakeOpenAI, **more: str) -> list[Shown]:
    """Have both topics go on in another home; return what the model was shown in each."""
    return await _say(home, model, said(3, ROSES, "and?"), said(4, TRAINS, "and?"), **more)


def same(begun: Sequence[Shown], later: Sequence[Shown]) -> bool:
    """Return whether each topic goes on behind the very same messages."""
    return [topic[: len(before)] for before, topic in zip(begun, later, strict=True)] == begun


async def _say(
    home: Path, model: FakeOpenAI, *messages: InboundMessage, **more: str
) -> list[Shown]:
    model.enqueue(*[Text(("I see.",)) for _ in messages])
    before, channel = len(model.requests), MediaChannel({"roses": lambda: image(size=(5, 6))})
    async with open_group(home, model, channel=channel, **more) as group:
        patience = Patience("what was said is answered")
        for number, one in enumerate(messages, start=1):
            await group.accept(one)
            while len(group.posts) < number:
                await patience.pause()
    return [one.body["messages"] for one in model.requests[before:]]
