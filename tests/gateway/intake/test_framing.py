"""How a message of a person reads to a model."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from channels.message import Author, Media, Quote
from gateway.intake.framing import describe, frame
from tests.gateway.intake.test_access import MESSAGE

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)


def test_a_group_s_message_has_chat_author_id_and_its_own_time_and_is_quoted() -> None:
    message = replace(
        MESSAGE, chat_title="Ops", thread_id="5", sender=Author("7", "Ada"), text="one\ntwo"
    )
    assert frame(message) == "[Ops | thread 5 | Ada (id 7) | 2026-01-01 00:00Z]\n> one\n> two"


def test_a_private_message_is_not_quoted() -> None:
    message = replace(MESSAGE, chat_kind="private", sender=Author("7", "Ada"), text="one")
    assert frame(message) == "[private chat | Ada (id 7) | 2026-01-01 00:00Z]\none"


@given(text=TEXT, name=TEXT, title=TEXT)
@settings(deadline=None)
def test_g2_nothing_that_a_person_writes_or_is_called_looks_like_a_header(
    text: str, name: str, title: str
) -> None:
    message = replace(MESSAGE, text=text, sender=Author("7", name), chat_title=title)
    header, *lines = frame(message).split("\n")
    assert header.count("[") == header.count("]") == 1
    assert lines
    assert all(line.startswith(">") for line in lines)


@given(text=TEXT)
@settings(deadline=None)
def test_g3_the_frame_of_a_message_is_the_same_each_time(text: str) -> None:
    message = replace(MESSAGE, text=text)
    assert frame(message) == frame(message)


def test_e1_what_is_replied_to_and_forwarded_is_told_with_its_author() -> None:
    quoted = replace(MESSAGE, text="yes", chat_title="Ops", quote=Quote("Bob", "8", "go?\n[x]"))
    assert frame(quoted).splitlines()[1:] == ['[in reply to Bob (id 8): "go? x"]', "> yes"]
    ours = replace(quoted, quote=Quote("Tapeway", "1", "hm", ours=True))
    assert frame(ours).splitlines()[1] == '[in reply to you: "hm"]'
    forwarded = replace(MESSAGE, chat_kind="private", text="a\nb", forwarded=Quote("Bob"))
    assert frame(forwarded).splitlines()[1:] == ["[forwarded from Bob]", "> a", "> b"]


def test_e8_what_came_with_a_message_is_named_behind_its_text() -> None:
    file = Media("file", "file", "f", "a.pdf", "application/pdf", 1_500_000)
    assert frame(replace(MESSAGE, text="see", media=(file,))).splitlines()[1:] == [
        "> see",
        '[file, "a.pdf", application/pdf, 1.5 MB]',
    ]
    assert len(frame(replace(MESSAGE, text="", media=(file,))).splitlines()) == 2
    assert frame(replace(MESSAGE, text="")).splitlines()[1:] == ["> "]


@pytest.mark.parametrize(
    ("media", "told"),
    [
        (Media("image", "photo", mime="image/jpeg", width=9, height=8), "photo, 9x8"),
        (
            Media("audio", "voice message", mime="audio/ogg", seconds=3),
            "voice message, audio/ogg, 3 s",
        ),
        (Media("file", "file", size=999), "file, 999 bytes"),
        (Media("file", "file", size=1_499), "file, 1 kB"),
        (Media("other", "sticker", detail="😀"), "sticker, 😀"),
    ],
)
def test_e8_media_are_named_by_what_is_known(media: Media, told: str) -> None:
    assert describe(media) == told


@given(text=TEXT)
@settings(deadline=None)
def test_g2_nothing_of_media_quotes_and_forwards_looks_like_a_header(text: str) -> None:
    media = Media("file", "file", text, text, text, detail=text)
    quote = Quote(text, text, text)
    message = replace(MESSAGE, text=text, media=(media,), quote=quote, forwarded=quote)
    lines = frame(message).split("\n")
    headers = [line for line in lines if line.startswith("[")]
    assert len(headers) == 4
    assert all(line.count("[") == line.count("]") == 1 for line in headers)
    assert all(line.startswith(">") for line in lines if line not in headers)
