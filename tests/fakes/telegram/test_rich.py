"""What the fake Telegram takes, refuses and shows of rich messages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.base.http import JsonObject
from tests.fakes.telegram.client import Api
from tests.fakes.telegram.rich import MAX_BLOCKS, MAX_CHARACTERS, MAX_COLUMNS, MAX_DEPTH
from tests.fakes.telegram.rich_reader import addresses
from tests.fakes.telegram.server import FakeTelegram

GROUP = -100
CELL = {"align": "left", "valign": "top", "text": "a"}


def paragraph(text: Any = "a") -> JsonObject:
    return {"type": "paragraph", "text": text}


def rich(*blocks: Any, **more: Any) -> JsonObject:
    return {"blocks": list(blocks), "skip_entity_detection": True, **more}


def listing(*items: Any) -> JsonObject:
    return {"type": "list", "items": list(items)}


def inside(depth: int) -> JsonObject:
    """Return a paragraph within as many levels, itself included."""
    block = paragraph()
    for _ in range(depth - 1):
        block = {"type": "blockquote", "blocks": [block]}
    return block


def table(columns: int) -> JsonObject:
    return {"type": "table", "cells": [[CELL] * columns]}


@pytest.fixture(autouse=True)
def group(telegram: FakeTelegram) -> None:
    telegram.group(GROUP)


REFUSED: list[tuple[str, object, str]] = [
    ("no object", "text", "object expected"),
    ("nothing", rich(), "CONTENT_REQUIRED"),
    ("no words", rich({"type": "divider"}), "CONTENT_REQUIRED"),
    ("an empty heading", rich({"type": "heading", "size": 1, "text": ""}), "CONTENT_REQUIRED"),
    ("empty code", rich(paragraph(), {"type": "pre", "text": ""}), "CONTENT_REQUIRED"),
    ("an empty item", rich(listing({"blocks": []})), "CONTENT_REQUIRED"),
    ("an empty quotation", rich({"type": "blockquote", "blocks": []}), "CONTENT_REQUIRED"),
    ("two forms", rich(paragraph(), markdown="a"), "InputRichMessage"),
    ("a search for names", {"blocks": [paragraph()]}, "skip_entity_detection"),
    ("an image", rich({"type": "photo", "photo": {"media": "https://a.org"}}), "InputRichBlock"),
    ("buttons", rich({"type": "buttons", "buttons": []}), "InputRichBlock"),
    ("a block of no kind", rich("text"), "InputRichBlock"),
    ("a mention", rich(paragraph({"type": "mention", "username": "ada"})), "RichText"),
    (
        "a link to a user",
        rich(paragraph({"type": "url", "text": "a", "url": "tg://user?id=7"})),
        "URL_INVALID",
    ),
    ("a field", rich(paragraph() | {"caption": "b"}), "no field caption"),
    ("a link to nowhere", rich(paragraph({"type": "url", "text": "a", "url": "a"})), "URL_INVALID"),
    (
        "half a number",
        rich(listing({"blocks": [paragraph()], "value": 1}, {"blocks": [inside(1)]})),
        "LIST_INVALID",
    ),
    ("a cell without sides", rich({"type": "table", "cells": [[{"text": "a"}]]}), "TableCell"),
    ("a heading of size 7", rich({"type": "heading", "size": 7, "text": "a"}), "SIZE_INVALID"),
    ("many blocks", rich(*[paragraph()] * (MAX_BLOCKS + 1)), "BLOCKS_TOO_MANY"),
    ("many rows", rich({"type": "table", "cells": [[CELL]] * MAX_BLOCKS}), "BLOCKS_TOO_MANY"),
    ("many items", rich(listing(*[{"blocks": [paragraph()]}] * 250)), "BLOCKS_TOO_MANY"),
    ("many levels", rich(inside(MAX_DEPTH + 1)), "DEPTH_INVALID"),
    ("many columns", rich(table(MAX_COLUMNS + 1)), "COLUMNS_TOO_MANY"),
    ("many characters", rich(paragraph("a" * (MAX_CHARACTERS + 1))), "TEXT_TOO_LONG"),
]


@pytest.mark.parametrize("case", REFUSED, ids=[case[0] for case in REFUSED])
async def test_it_refuses(case: tuple[str, object, str], api: Api) -> None:
    _name, message, why = case
    refusal = await api.refusal("sendRichMessage", chat_id=GROUP, rich_message=message)
    assert refusal.startswith("400 Bad Request: ")
    assert why in refusal


LIMITS = {
    "blocks": rich(*[paragraph()] * MAX_BLOCKS),
    "levels": rich(inside(MAX_DEPTH)),
    "columns": rich(table(MAX_COLUMNS)),
    "characters": rich(paragraph("a" * MAX_CHARACTERS)),
}


@pytest.mark.parametrize("message", LIMITS.values(), ids=LIMITS)
async def test_what_is_just_within_a_limit_is_taken(message: JsonObject, api: Api) -> None:
    assert await api("sendRichMessage", chat_id=GROUP, rich_message=message)


async def test_its_words_and_links_are_shown(telegram: FakeTelegram, api: Api) -> None:
    link = {"type": "url", "text": {"type": "bold", "text": "here"}, "url": "https://a.org"}
    boxed = {"blocks": [paragraph("done")], "has_checkbox": True, "is_checked": True}
    message = rich(
        {"type": "heading", "size": 1, "text": "Title"},
        paragraph(["look ", link, {"type": "mathematical_expression", "expression": "x^2"}]),
        listing({"blocks": [paragraph("one")], "value": 3}),
        listing(boxed),
        {"type": "table", "cells": [[CELL, {"align": "left", "valign": "top"}]]},
        {"type": "blockquote", "blocks": [{"type": "pre", "text": "code"}, {"type": "divider"}]},
        {"type": "mathematical_expression", "expression": "y"},
    )
    await api("sendRichMessage", chat_id=GROUP, rich_message=message)
    (sent,) = telegram.messages(GROUP)
    lines = [
        "Title",
        "look herex^2",
        "3. one",
        "\u2022 \u2611 done",
        "a | ",
        "> code",
        "> \u2015",
        "y",
    ]
    assert sent.text.split("\n") == lines
    assert addresses(sent.rich) == ["https://a.org"]


async def test_text_and_rich_messages_are_edited_into_each_other(
    telegram: FakeTelegram, api: Api
) -> None:
    place = {"chat_id": GROUP, "message_id": (await api("sendMessage", chat_id=GROUP, text="a"))}
    place["message_id"] = place["message_id"]["message_id"]
    await api("editMessageText", **place, rich_message=rich(paragraph("b")))
    same = await api.refusal("editMessageText", **place, rich_message=rich(paragraph("b")))
    assert "message is not modified" in same
    (sent,) = telegram.messages(GROUP)
    assert "text" not in sent.json
    await api("editMessageText", **place, text="c")
    assert sent.history == ["a", "b", "c"]
    assert sent.rich is None
    both = {"text": "d", "rich_message": rich(paragraph())}
    assert "together" in await api.refusal("editMessageText", **place, **both)


async def test_a_draft_is_rich_in_private_chats_only(telegram: FakeTelegram, api: Api) -> None:
    telegram.private_chat(telegram.user(7, "Ada"))
    draft = {"draft_id": 5, "rich_message": rich(paragraph("half"))}
    await api("sendRichMessageDraft", chat_id=7, **draft)
    assert telegram.drafts == {(7, 5): "half"}
    assert telegram.draft_history[0].rich is not None
    assert "PEER_INVALID" in await api.refusal("sendRichMessageDraft", chat_id=GROUP, **draft)


async def test_an_older_server_knows_neither_the_methods_nor_the_parameter() -> None:
    async with FakeTelegram(knows_rich=False) as telegram, Api(telegram) as api:
        telegram.group(GROUP)
        message = rich(paragraph())
        for method in ("sendRichMessage", "sendRichMessageDraft"):
            refusal = await api.refusal(method, chat_id=GROUP, rich_message=message, draft_id=1)
            assert refusal == "404 Not Found: method not found"
        sent = await api("sendMessage", chat_id=GROUP, text="a")
        place = {"chat_id": GROUP, "message_id": sent["message_id"]}
        refusal = await api.refusal("editMessageText", **place, rich_message=message)
        assert "message text is empty" in refusal
