"""Text files: a long paste becomes the message's own text, other files become excerpts."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import pytest

from channels.content import MAX_BYTES
from channels.discord.content import read_content
from channels.discord.text_files import TextFiles, is_paste, text_of
from channels.errors import ChannelDown, MediaRefused
from channels.message import Author, Excerpt, InboundMessage, Media, Quote
from tests.channels.discord.raw import ME, guild_cache, message

URL: Final = "https://cdn.discordapp.com/attachments/1/2/"
PNG: Final = b"\x89PNG\r\n\x1a\n" + b"\0" * 90


def file(name: str = "log.txt", mime: str = "text/plain", size: int = 9) -> Media:
    return Media("file", "file", file=URL + name, name=name, mime=mime, size=size)


def heard(*media: Media, text: str = "", **more: object) -> InboundMessage:
    found = InboundMessage(
        channel="discord",
        chat_id="200",
        ext_id="200/5000",
        message_id="5000",
        sender=Author("7", "Ada"),
        text=text,
        date="2026-01-01T00:00:00+00:00",
        media=media,
        incomplete=True,
    )
    return replace(found, **more)  # type: ignore[arg-type]


async def completed(
    given: InboundMessage, data: bytes | Exception = b"the words", own: str = ""
) -> InboundMessage:
    async def fetch(_media: Media) -> bytes:
        if isinstance(data, Exception):
            raise data
        return data[: MAX_BYTES + 1]

    return await TextFiles(fetch, own).read(given)


async def test_a_text_file_becomes_an_excerpt_that_names_it() -> None:
    found = await completed(heard(file(), text="why?"))
    assert (found.text, found.media, found.incomplete) == ("why?", (), False)
    assert found.excerpts == (Excerpt("text file", "the words", "Ada", "7", media=(file(),)),)


async def test_a_paste_becomes_the_messages_own_text() -> None:
    paste = file("message.txt")
    found = await completed(heard(paste, text="@Tapeway"), own=paste.file)
    assert (found.text, found.media, found.excerpts) == ("@Tapeway\nthe words", (), ())


async def test_files_of_quotes_and_forwards_are_read_as_well() -> None:
    quote = Quote("Bob", "8", media=(file(),))
    forwarded = Excerpt("forwarded message", author="Bob", media=(file("message.txt"),))
    both = Excerpt("forwarded message", "look", "Zed", media=(file(),))
    found = await completed(heard(text="and?", quote=quote, excerpts=(forwarded, both)))
    assert found.quote is not None
    assert (found.quote.text, len(found.quote.media)) == ("the words", 1)
    assert [(one.label, one.text, one.author) for one in found.excerpts] == [
        ("forwarded message", "the words", "Bob"),
        ("forwarded message", "look", "Zed"),
        ("text file", "the words", "Zed"),
    ]


async def test_a_quote_tells_the_words_of_a_file_from_those_of_its_message() -> None:
    found = await completed(heard(text="and?", quote=Quote("Bob", "8", "why?", media=(file(),))))
    assert found.quote is not None
    assert found.quote.text == "why?\ntext file: the words"


async def test_an_image_without_a_type_is_one_by_its_first_bytes() -> None:
    big = file("strange", "", 5_000_000)
    found = await completed(heard(big), PNG + b"\0" * 100_000)
    assert [(one.kind, one.label, one.mime) for one in found.media] == [
        ("image", "image", "image/png")
    ]


@pytest.mark.parametrize("start", [b"\xff\xd8\xff\xe0", b"GIF89a", b"RIFF\0\0\0\0WEBPVP8 "])
async def test_every_kind_of_image_that_a_model_sees_is_known_by_its_bytes(start: bytes) -> None:
    found = await completed(heard(file("x", "")), start + b"\0" * 20)
    assert [one.kind for one in found.media] == ["image"]


async def test_what_is_neither_text_nor_image_stays_a_file() -> None:
    odd = file("strange", "")
    assert (await completed(heard(odd), b"\x7fELF\0\0\1")).media == (odd,)


async def test_a_file_that_is_not_given_is_named() -> None:
    found = await completed(heard(file(), text="why?"), MediaRefused("it does not exist"))
    assert (found.media, found.excerpts) == ((file(),), ())
    assert found.omitted == ('the text of "log.txt" (it does not exist)',)


async def test_a_file_that_may_be_given_later_is_asked_for_again() -> None:
    with pytest.raises(ChannelDown):
        await completed(heard(file()), ChannelDown("the network is away"))


async def test_texts_that_are_too_long_together_say_where_they_were_cut() -> None:
    found = await completed(heard(file("a.txt"), file("b.txt")), b"x" * 40_000)
    assert sum(len(one.text) for one in found.excerpts) == MAX_BYTES
    assert found.omitted == (f"the last {80_000 - MAX_BYTES} characters",)


@pytest.mark.parametrize(
    ("name", "mime", "size", "is_read"),
    [
        ("log.txt", "text/plain; charset=utf-8", 9, True),
        ("log.txt", None, 9, True),
        ("data", "application/json; charset=utf-8", 9, True),
        ("new", "application/x-never-seen", 9, True),
        ("strange", None, 5_000_000, True),  # it may be an image
        ("log.txt", "text/plain", MAX_BYTES + 1, False),
        ("plan.pdf", None, 9, False),
        ("a.zip", "application/zip", 9, False),
        ("a.mp3", "audio/mpeg", 9, False),
        ("a.png", None, 9, False),
    ],
)
def test_files_that_may_be_texts_are_looked_up_later(
    name: str, mime: str | None, size: int, is_read: bool
) -> None:
    attachment = {"filename": name, "content_type": mime, "size": size, "url": URL + name}
    raw = message("see", attachments=[attachment])
    assert read_content(raw, ME, guild_cache()).incomplete is is_read
    forward = message("", message_snapshots=[{"message": {"attachments": [attachment]}}])
    assert read_content(forward, ME, guild_cache()).incomplete is is_read


def test_only_a_sole_file_of_discords_name_without_words_is_a_paste() -> None:
    paste = file("message.txt")
    assert is_paste("", [paste])
    assert not is_paste("here is the log", [paste])
    assert not is_paste("", [paste, file()])
    assert not is_paste("", [file()])


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("Grüße".encode(), "Grüße"),
        (b"\xef\xbb\xbfa", "a"),
        ("Grüße".encode("utf-16"), "Grüße"),
        ("Grüße".encode("cp1252"), "Grüße"),
        (b"\x1b[31mred\x1b[0m", "\x1b[31mred\x1b[0m"),
        (b"a\0b", None),
        (b"\xff\xfea", None),
        (b"", ""),
    ],
)
def test_a_text_is_read_in_its_encoding_and_other_bytes_are_none(
    data: bytes, text: str | None
) -> None:
    assert text_of(data) == text
