"""Messages whose words stand in blocks: rich text that an app or another bot sent."""

from __future__ import annotations

from typing import Any

import pytest

from channels.message import Media, Quote
from channels.telegram.fields import covered
from channels.telegram.rich_blocks import read_rich
from tests.channels.telegram.raw import BOB, BOT, GROUP, PRIVATE, Json, read, said

MENTION = {"type": "mention", "text": "@tapeway_bot", "username": "tapeway_bot"}


def paragraph(*text: Any) -> Json:
    return {"type": "paragraph", "text": list(text)}


def rich(*blocks: Any, chat: Json = GROUP, **more: Any) -> Json:
    """Return the update of a rich message."""
    return said(None, chat, rich_message={"blocks": list(blocks)}, **more)


ITEMS = [
    {"label": "1.", "blocks": [paragraph("apples"), paragraph("green ones")]},
    {"label": "\u2022", "has_checkbox": True, "is_checked": True, "blocks": [paragraph("pears")]},
    {"label": "\u2022", "has_checkbox": True, "blocks": [paragraph("plums")]},
]
CELLS = [
    [{"text": "Day", "is_header": True}, {"text": "Who|what"}],
    [{"text": "Monday\n", "colspan": 1}, {"text": ["An", {"type": "bold", "text": "na"}]}],
    [{"text": "closed", "colspan": 2}],
]
QUOTED = {"type": "blockquote", "blocks": [paragraph("one"), paragraph("two")], "credit": "Zed"}

BLOCKS: list[tuple[str, Json, str]] = [
    ("paragraph", paragraph("a ", {"type": "bold", "text": ["b", "c"]}), "a bc"),
    ("heading", {"type": "heading", "size": 2, "text": "Lunch"}, "## Lunch"),
    ("code", {"type": "pre", "language": "py", "text": "a\nb"}, "```py\na\nb\n```"),
    ("footer", {"type": "footer", "text": "last"}, "last"),
    ("divider", {"type": "divider"}, "---"),
    ("formula", {"type": "mathematical_expression", "expression": "x^2"}, "$$x^2$$"),
    ("anchor", {"type": "anchor", "name": "top"}, ""),
    ("list", {"type": "list", "items": ITEMS}, "1. apples\n  green ones\n- [x] pears\n- [ ] plums"),
    ("quotation", QUOTED, "> one\n> two\n> \u2014 Zed"),
    ("long quotation", {"type": "expandable_blockquote", "text": "one\ntwo"}, "> one\n> two"),
    ("pull quotation", {"type": "pullquote", "text": "one", "credit": "Z"}, "> one\n> \u2014 Z"),
    (
        "table",
        {"type": "table", "cells": CELLS, "caption": "Duties"},
        "Duties\n| Day | Who\\|what |\n| --- | --- |\n| Monday  | Anna |\n| closed | |",
    ),
    (
        "details",
        {"type": "details", "summary": "More", "blocks": [paragraph("inside")]},
        "More\n  inside",
    ),
    (
        "collage",
        {"type": "collage", "blocks": [paragraph("in")], "caption": {"text": "c", "credit": "Z"}},
        "in\nc\n\u2014 Z",
    ),
    (
        "buttons",
        {
            "type": "buttons",
            "buttons": [
                {"text": "Go", "url": "https://x.org"},
                {"text": "App", "web_app": {"url": "https://y.org"}},
                {"text": "Copy", "copy_text": {"text": "1234"}},
                {"text": "No"},
            ],
        },
        "[Go](https://x.org)\n[App](https://y.org)\nCopy (1234)\nNo",
    ),
]


@pytest.mark.parametrize(("_name", "block", "text"), BLOCKS)
def test_every_kind_of_block_is_read(_name: str, block: Json, text: str) -> None:
    assert read_rich({"blocks": [block]})[0].text == text
    nested = {"type": "details", "summary": "s", "blocks": [block]}
    wanted = "\n  ".join(["s", *text.split("\n")]).rstrip()
    assert read_rich({"blocks": [nested]})[0].text == wanted


INLINES: list[tuple[Json, str]] = [
    ({"type": "url", "text": "here", "url": "https://x.org/a"}, "[here](https://x.org/a)"),
    ({"type": "url", "text": "x.org/a", "url": "https://x.org/a"}, "x.org/a"),
    ({"type": "email_address", "text": "me", "email_address": "a@x.org"}, "[me](mailto:a@x.org)"),
    ({"type": "phone_number", "text": "+12", "phone_number": "+12"}, "+12"),
    ({"type": "bank_card_number", "text": "42", "bank_card_number": "42"}, "42"),
    ({"type": "text_mention", "text": "Bob", "user": BOB}, "Bob"),
    ({"type": "mention", "text": "Bob", "username": "bob_x"}, "Bob @bob_x"),
    ({"type": "custom_emoji", "custom_emoji_id": "5", "alternative_text": "👍"}, "👍"),
    ({"type": "mathematical_expression", "expression": "y"}, "$y$"),
    ({"type": "hashtag", "text": "#a", "hashtag": "a"}, "#a"),
    ({"type": "bot_command", "text": "/a", "bot_command": "a"}, "/a"),
    ({"type": "button", "button": {"text": "Go", "url": "https://x.org"}}, "[Go](https://x.org)"),
    ({"type": "date_time", "text": "noon", "unix_time": 5, "date_time_format": "t"}, "noon"),
    ({"type": "reference_link", "text": "1", "reference_name": "n"}, "1"),
    ({"type": "code", "text": "x"}, "`x`"),
]


@pytest.mark.parametrize(("inline", "text"), INLINES)
def test_every_kind_of_inline_text_is_read(inline: Json, text: str) -> None:
    assert read_rich({"blocks": [paragraph("a ", inline, " b")]})[0].text == f"a {text} b"


def test_a_block_of_an_unknown_kind_gives_its_words_and_its_files() -> None:
    block = {
        "type": "hologram",
        "hologram_id": "7",
        "title": "Old",
        "sides": [{"text": {"type": "bold", "text": "left"}}, {"text": "right"}],
        "shape": {"type": "cube", "caption": {"text": "a caption"}},
        "hologram": {"file_id": "f", "file_size": 3},
        "blocks": [paragraph("below")],
    }
    words, media = read_rich({"blocks": [paragraph("above"), block]})
    assert words.text == "above\n\nOld\nleft\nright\na caption\nbelow"
    assert media == (Media("file", "hologram", file="f", size=3),)


def test_an_inline_text_of_an_unknown_kind_gives_its_words_in_its_line() -> None:
    glow = {
        "type": "glow",
        "colour_id": "red",
        "text": ["very ", {"type": "italic", "text": "red"}],
    }
    assert read_rich({"blocks": [paragraph("it is ", glow, "!")]})[0].text == "it is very red!"


def test_a_field_of_a_rich_message_that_is_not_known_is_read() -> None:
    assert read_rich({"title": "News", "blocks": [paragraph("a")]})[0].text == "News\na"


def test_the_files_of_a_rich_message_come_in_order_and_are_bounded() -> None:
    photo = [{"file_id": "p", "width": 3, "height": 2}]
    found = read(
        rich(
            {"type": "photo", "photo": photo, "caption": {"text": "the pond"}},
            {"type": "voice_note", "voice_note": {"file_id": "v", "duration": 2}},
            {"type": "map", "location": {"latitude": 1, "longitude": 2}},
            {"type": "document", "document": {"file_id": "d", "file_name": "a.pdf"}},
        )
    )
    assert found.text == "the pond"
    assert [one.label for one in found.media] == ["photo", "voice message", "map", "file"]
    assert found.media[2].detail == "1, 2"
    many = read(rich(*[{"type": "photo", "photo": photo}] * 25))
    assert (len(many.media), many.omitted) == (20, ("5 more files",))


@pytest.mark.parametrize(
    ("block", "wanted", "why"),
    [
        (paragraph("hi ", MENTION), True, "mention"),
        (
            {"type": "list", "items": [{"label": "1.", "blocks": [paragraph(MENTION)]}]},
            True,
            "mention",
        ),
        ({"type": "table", "cells": [[{"text": [MENTION]}]]}, True, "mention"),
        (paragraph({"type": "text_mention", "text": "you", "user": BOT}), True, "mention"),
        (paragraph("what do you say, robin?"), True, "name"),
        (paragraph({"type": "code", "text": "robin"}), False, "said to the group"),
        ({"type": "pre", "text": "robin"}, False, "said to the group"),
        (
            paragraph({"type": "url", "text": "this", "url": "https://x.org/robin"}),
            False,
            "said to the group",
        ),
        (
            paragraph({"type": "mention", "text": "@bob_x", "username": "bob_x"}),
            False,
            "said to the group",
        ),
    ],
)
def test_b2_the_words_of_a_rich_message_count_as_a_text_s_do(
    block: Json, wanted: bool, why: str
) -> None:
    message = read(rich(block))
    assert (message.addressed, message.why) == (wanted, why)


def test_a_rich_message_names_whom_it_mentions_also_behind_wide_characters() -> None:
    update = rich(paragraph("😀 ", {"type": "mention", "text": "@bob_x", "username": "bob_x"}))
    assert read(update).mentions == ("@bob_x",)
    words, _media = read_rich(update["message"]["rich_message"])
    (entity,) = words.entities
    assert covered(words.text, entity) == "@bob_x"


def test_a_rich_message_is_quoted_and_forwarded_with_its_words() -> None:
    block = paragraph("Water boils at 90 degrees.")
    replied = {"message_id": 3, "from": BOB, "rich_message": {"blocks": [block]}}
    quote = read(said(reply_to_message=replied)).quote
    assert quote == Quote("Bob", "8", "Water boils at 90 degrees.")
    origin = {"type": "user", "sender_user": BOB}
    forward = read(rich(block, chat=PRIVATE, forward_origin=origin))
    assert (forward.text, forward.forwarded) == ("Water boils at 90 degrees.", Quote("Bob", "8"))


def test_words_chosen_of_a_rich_message_are_the_quote() -> None:
    replied = {"message_id": 3, "from": BOB, "rich_message": {"blocks": [paragraph("all of it")]}}
    chosen = {"text": "", "rich_texts": ["all", {"type": "bold", "text": " of"}], "is_manual": True}
    quote = read(said(reply_to_message=replied, quote=chosen)).quote
    assert quote == Quote("Bob", "8", "all of", chosen=True)


def test_a_command_at_the_beginning_of_a_rich_message_is_one() -> None:
    command = {"type": "bot_command", "text": "/help", "bot_command": "help"}
    assert read(rich(paragraph(command, " me"), chat=PRIVATE)).command == ",help me"
    for shown in ({"type": "pre", "text": "/help"}, {"type": "pullquote", "text": "/help"}):
        assert read(rich(shown, chat=PRIVATE)).command == ""


def test_a_long_rich_message_waits_for_no_other_part() -> None:
    assert read(rich(paragraph("x" * 5000))).joins == ""


@pytest.mark.parametrize("kind", ["details", "blockquote", "collage", "unheard_of"])
def test_blocks_in_blocks_without_end_are_read_to_a_depth(kind: str) -> None:
    block: Json = paragraph("the bottom")
    for _ in range(300):
        block = {"type": kind, "summary": "s", "blocks": [block]}
    assert "the bottom" not in read_rich({"blocks": [block]})[0].text


def test_links_in_links_and_wide_cells_take_a_moment() -> None:
    text: Any = "x"
    for number in range(300):
        text = {"type": "url", "text": text, "url": f"https://x.org/{number}"}
    wide = {"type": "table", "cells": [[{"text": "a", "colspan": 10**9}]]}
    words, _media = read_rich({"blocks": [paragraph(text), wide]})
    assert len(words.text) < 10_000


@pytest.mark.parametrize(
    "broken",
    [
        {"blocks": "no list"},
        {"blocks": [None, 3, "a word", ["more", {"type": 5}]]},
        {"blocks": [{"type": "list", "items": 5}, {"type": "table", "cells": [5, [5]]}]},
        {"blocks": [{"type": "photo", "photo": 5}, {"type": "map"}, {"type": "heading"}]},
        {"blocks": [paragraph({"type": "url"}, {"type": "mention"}, {"type": "button"})]},
    ],
)
def test_a_malformed_rich_message_is_read_as_far_as_it_goes(broken: Json) -> None:
    words, _media = read_rich({**broken, "title": "still here"})
    assert "still here" in words.text
