"""Entities as the fake Telegram checks, orders and finds them; offsets are UTF-16 units."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes.telegram.client import Api
from tests.fakes.telegram.entities import detected, is_link
from tests.fakes.telegram.server import FakeTelegram

TEXT = "ab😀cd efgh"


def entity(kind: str, offset: int, length: int, **more: object) -> dict[str, Any]:
    return {"type": kind, "offset": offset, "length": length, **more}


@pytest.fixture
def api(api: Api, telegram: FakeTelegram) -> Api:
    telegram.private_chat(telegram.user(7, "Ann"))
    return api


@pytest.mark.parametrize(
    ("wrong", "description"),
    [
        ("bold", "can't parse entities JSON object"),
        (["bold"], "can't parse MessageEntity: expected an Object"),
        ([entity("sparkle", 0, 1)], "can't parse MessageEntity: Unsupported type specified"),
        (
            [{"type": "bold", "offset": "0", "length": 1}],
            'can\'t parse MessageEntity: Field "offset" must be of type Number',
        ),
        ([entity("bold", -1, 1)], "receive an entity with incorrect offset"),
        ([entity("bold", 11, 1)], "entity begins after the end of the text at UTF-16 offset 11"),
        (
            [entity("bold", 8, 4)],
            (
                "entity beginning at UTF-16 offset 8 ends after the end of the text at "
                "UTF-16 offset 12"
            ),
        ),
        ([entity("bold", 3, 2)], "entity begins in a middle of a UTF-16 symbol at UTF-16 offset 3"),
        (
            [entity("bold", 0, 3)],
            (
                "entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at "
                "UTF-16 offset 3"
            ),
        ),
        ([entity("text_link", 0, 2)], "can't parse MessageEntity: Can't find field \"url\""),
        (
            [entity("text_link", 0, 2, url="./README.md")],
            "entity URL './README.md' is invalid: Wrong HTTP URL",
        ),
    ],
)
async def test_a_wrong_entity_refuses_the_whole_message(
    api: Api, wrong: object, description: str
) -> None:
    refused = await api.refusal("sendMessage", chat_id=7, text=TEXT, entities=wrong)
    assert refused == f"400 Bad Request: {description}"


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        # Of no length: dropped.
        ([entity("bold", 0, 0)], []),
        # Well nested: left alone, the outer one first.
        (
            [entity("italic", 0, 2), entity("bold", 0, 6)],
            [entity("bold", 0, 6), entity("italic", 0, 2)],
        ),
        # Overlapping bold and italic: cut at each other's borders.
        (
            [entity("bold", 0, 6), entity("italic", 4, 6)],
            [
                entity("bold", 0, 4),
                entity("bold", 4, 2),
                entity("italic", 4, 2),
                entity("italic", 6, 4),
            ],
        ),
        # Within code there is nothing else.
        ([entity("code", 0, 6), entity("bold", 0, 6)], [entity("code", 0, 6)]),
        (
            [entity("bold", 0, 10), entity("pre", 4, 2)],
            [entity("bold", 0, 4), entity("pre", 4, 2), entity("bold", 6, 4)],
        ),
        # Of two links that overlap the later one goes.
        (
            [entity("text_link", 0, 6, url="https://a.org"), entity("mention", 4, 6)],
            [entity("text_link", 0, 6, url="https://a.org")],
        ),
        # A quotation may hold anything.
        (
            [entity("blockquote", 0, 11), entity("code", 0, 2), entity("bold", 4, 2)],
            [entity("blockquote", 0, 11), entity("code", 0, 2), entity("bold", 4, 2)],
        ),
    ],
)
async def test_entities_are_kept_well_nested(
    api: Api, telegram: FakeTelegram, given: list[dict[str, Any]], kept: list[dict[str, Any]]
) -> None:
    await api("sendMessage", chat_id=7, text=TEXT, entities=given)
    assert telegram.messages(7)[0].entities == kept


def test_mentions_commands_and_addresses_are_found_in_what_people_write() -> None:
    text = "😀 /new@tapeway_bot hi @ann_b, see https://a.org/x?y=1. me@a.org example.com/z"
    encoded = text.encode("utf-16-le")
    found = detected(text)
    spans = [(2 * it["offset"], 2 * (it["offset"] + it["length"])) for it in found]
    named = [encoded[start:end].decode("utf-16-le") for start, end in spans]
    kinds = [it["type"] for it in found]
    assert list(zip(kinds, named, strict=True)) == [
        ("bot_command", "/new@tapeway_bot"),
        ("mention", "@ann_b"),
        ("url", "https://a.org/x?y=1"),
        ("email", "me@a.org"),
        ("url", "example.com/z"),
    ]


@pytest.mark.parametrize("text", ["a/b", "@", "@a", "x@ann", "1.5", "/", "and/or", "a.b"])
def test_what_only_looks_like_an_entity_is_none(text: str) -> None:
    assert detected(text) == []


@pytest.mark.parametrize(
    ("url", "right"),
    [
        ("https://a.org", True),
        ("http://a.org:80/x", True),
        ("a.org/x", True),
        ("tg://user?id=1", True),
        ("localhost", False),
        ("http://localhost:3000", False),
        ("/etc/passwd", False),
        ("ftp://a.org", False),
        ("http://[", False),
        ("https://a b.org", False),
        ("", False),
    ],
)
def test_a_link_leads_to_a_host_with_a_dot(url: str, right: bool) -> None:
    assert is_link(url) is right
