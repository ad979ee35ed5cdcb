"""What intake writes down of a message, and what it takes out of it first."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from channels.message import Author, Excerpt, InboundMessage, Media, Quote
from gateway.intake.entry_meta import clean, cleaned, is_command, meta_of, refusal_event
from tape.entry import dump
from tests.kit.plain_channels import MESSAGE
from tests.kit.rows import row_of

ANY_TEXT = st.text(st.characters(exclude_categories=[]), max_size=20)


def test_meta_holds_the_ids_and_what_was_decided_and_nothing_empty() -> None:
    assert meta_of(row_of(MESSAGE), "person:7") == {
        "inbox": 3,
        "author": "7",
        "name": "123456789",
        "text": "a secret question",
        "channel": "plain",
        "chat": "-100",
        "message_id": "1",
        "said_at": "2026-01-01T00:00:00+00:00",
        "addressed": True,
        "why": "mention",
        "lane": "person:7",
    }


def test_meta_has_the_text_also_when_there_is_none_and_names_media() -> None:
    photo = Media("image", "photo", file="f", size=5)
    meta = meta_of(row_of(replace(MESSAGE, text="", media=(photo,))), None)
    assert meta["text"] == ""
    assert meta["media"] == [{"kind": "image", "label": "photo", "file": "f", "size": 5}]
    assert "lane" not in meta


@pytest.mark.parametrize(
    ("change", "command"),
    [({"text": "/help", "command": ",help"}, True), ({"text": ",lol"}, False)],
)
def test_what_is_taken_in_as_a_command_is_marked(change: dict[str, object], command: bool) -> None:
    said = replace(MESSAGE, **change)  # type: ignore[arg-type]
    assert is_command(said) is command
    assert ("command" in meta_of(row_of(said), None)) is command


def test_a_comma_to_nobody_is_no_command() -> None:
    assert "command" not in meta_of(row_of(replace(MESSAGE, command=",a", addressed=False)), None)


def test_b7_who_is_not_let_in_is_told_of_without_a_word_of_the_text() -> None:
    entry = refusal_event("access.refused", row_of(MESSAGE), "not on the list")
    assert "secret" not in str((entry.payload, entry.meta))
    assert entry.payload["data"] == {"author": "7", "why": "not on the list", "inbox": 3}


def test_nul_and_lone_surrogates_are_taken_out() -> None:
    assert clean("a\x00b\ud800c\U0001f600") == "ab?c\U0001f600"


@given(text=ANY_TEXT, size=st.integers())
def test_d7_whatever_a_platform_says_can_be_written_down(text: str, size: int) -> None:
    media = Media("file", text, text, text, text, size, size, size, size, text)
    quote = Quote(text, text, text, media=(media,))
    message = InboundMessage(
        channel="plain",
        chat_id=text,
        ext_id=text,
        message_id=text,
        sender=Author(text, text),
        text=text,
        date="2026-01-01",
        chat_title=text,
        thread_id=text,
        reply_to=text,
        mentions=(text,),
        why=text,
        alt_id=text,
        media=(media,),
        quote=quote,
        forwarded=quote,
        excerpts=(Excerpt(text, text, text, text, text, (media,)),),
        omitted=(text,),
        edited=text,
        command=text,
        joins=text,
        change=text,
        to_chat=text,
    )
    written = dump(cleaned(message).to_payload())
    assert "\\u0000" not in written
    assert 0 <= cleaned(message).media[0].size < 2**53


def test_meta_says_whose_words_came_with_a_message_and_none_of_them() -> None:
    photo = Media("image", "photo", file="f")
    said = replace(
        MESSAGE,
        quote=Quote("Zed", "8", "a quoted word", media=(photo,)),
        excerpts=(
            Excerpt("forwarded message", "their words", "Eve", "9", media=(photo,)),
            Excerpt("first post", "my words", ours=True),
        ),
        omitted=("3 more files",),
    )
    meta = meta_of(row_of(said), None)
    shown = [{"kind": "image", "label": "photo", "file": "f"}]
    assert meta["quote"] == {"author": "8", "name": "Zed", "media": shown}
    assert meta["excerpts"] == [
        {"label": "forwarded message", "author": "9", "name": "Eve", "media": shown},
        {"label": "first post", "author": "ours"},
    ]
    assert meta["omitted"] == ["3 more files"]
    assert "words" not in dump(meta)
    assert "quoted" not in dump(meta)


@pytest.mark.parametrize(
    ("change", "taint"),
    [
        ({"quote": Quote("Zed", "8", media=(Media("image", "photo"),))}, ["file", "quote"]),
        ({"excerpts": (Excerpt("mail", "x"),)}, ["quote"]),
        ({"excerpts": (Excerpt("link preview", "x", source="page"),)}, ["page"]),
        (
            {"excerpts": (Excerpt("card", "x", media=(Media("image", "photo"),), source="page"),)},
            ["file", "page"],
        ),
        ({"omitted": ("3 more files",)}, None),
    ],
)
def test_g2_what_came_with_a_message_taints_it(
    change: dict[str, object], taint: list[str] | None
) -> None:
    said = replace(MESSAGE, **change)  # type: ignore[arg-type]
    assert meta_of(row_of(said), None).get("taint") == taint


def test_f4_secrets_are_taken_out_of_every_part_of_a_message() -> None:
    media = Media("file", "file", name="a key")
    excerpt = Excerpt("a key", "a key", "a key", media=(media,))
    quote = Quote("a key", "8", "a key", media=(media,))
    said = replace(
        MESSAGE, text="a key", excerpts=(excerpt,), quote=quote, omitted=("a key",), command=",key"
    )
    written = dump(cleaned(said, lambda text: text.replace("key", "***")).to_payload())
    assert "key" not in written
