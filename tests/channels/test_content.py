"""The limits of what is kept of one message, each told where it cut."""

from __future__ import annotations

import pytest

from channels.content import MAX_BYTES, MAX_EXCERPTS, MAX_MEDIA, Content, whole_text
from channels.message import Author, Excerpt, InboundMessage, Media, Quote


def test_what_is_within_the_limits_stays_as_it_is() -> None:
    content = Content("hello", (Media("file", "file"),), (Excerpt("card", "news"),))
    assert content.limited() == content


def test_words_are_cut_at_whole_characters_and_the_cut_is_told() -> None:
    content = Content("é" * MAX_BYTES, excerpts=(Excerpt("mail", "later"),)).limited()
    assert content.text == "é" * (MAX_BYTES // 2)
    assert content.excerpts[0].text == ""
    assert content.omitted == (f"the last {MAX_BYTES - MAX_BYTES // 2 + 5} characters",)


def test_files_of_the_message_come_before_those_of_others() -> None:
    files = tuple(Media("file", "file", name=str(number)) for number in range(MAX_MEDIA))
    content = Content(media=files, excerpts=(Excerpt("card", media=files),)).limited()
    assert content.media == files
    assert content.excerpts[0].media == ()
    assert content.omitted == (f"{MAX_MEDIA} more files",)


def test_the_last_of_too_many_forwards_are_counted() -> None:
    content = Content(excerpts=(Excerpt("forwarded message", "x"),) * (MAX_EXCERPTS + 3)).limited()
    assert len(content.excerpts) == MAX_EXCERPTS
    assert content.omitted == ("3 more messages",)


def test_the_digest_changes_with_the_media_of_an_excerpt() -> None:
    before = Content("x", excerpts=(Excerpt("card", media=(Media("image", "image"),)),))
    after = Content("x", excerpts=(Excerpt("card", media=(Media("video", "video"),)),))
    assert before.digest() != after.digest()


def test_the_whole_text_says_whose_each_part_is_also_of_a_part_without_words() -> None:
    photo = Media("image", "photo")
    excerpts = (
        Excerpt("shared message", "it costs 300", "Zed", "7"),
        Excerpt("link preview", "Plums", source="page"),
        Excerpt("forwarded message", "as I said", "Tapeway", "1", ours=True),
        Excerpt("forwarded message", media=(photo,)),
    )
    assert whole_text(Content("look", excerpts=excerpts)).split("\n") == [
        "look",
        "shared message of Zed: it costs 300",
        "link preview: Plums",
        "forwarded message of you: as I said",
        "forwarded message",
    ]


@pytest.mark.parametrize(
    ("name", "shown"), [("You", "somebody"), ("Zed: it is 5\n", "Zed it is 5"), ("Zed", "Zed")]
)
def test_a_name_neither_ends_the_label_nor_passes_for_the_agent(name: str, shown: str) -> None:
    found = whole_text(Content(excerpts=(Excerpt("mail", "words", name),)))
    assert found == f"mail of {shown}: words"


def test_a_message_survives_its_payload() -> None:
    media = (Media("image", "photo", file="f"),)
    message = InboundMessage(
        "telegram",
        "1",
        "1/2",
        "2",
        Author("4", "Ann"),
        "hi",
        "2026-01-01T00:00:00+00:00",
        quote=Quote("Zed", "7", media=media),
        excerpts=(Excerpt("forwarded message", "words", "Zed", "7", media=media),),
        omitted=("1 more files",),
    )
    assert InboundMessage.from_payload(message.to_payload()) == message
