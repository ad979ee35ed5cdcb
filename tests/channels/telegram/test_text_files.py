"""Text files, whose words are read once the message is accepted."""

from __future__ import annotations

from typing import Any

import pytest

from channels.errors import ChannelDown
from channels.message import Excerpt, Media
from channels.telegram.text_files import decoded, is_text_file
from tests.channels.telegram.bots import Running
from tests.channels.telegram.raw import BOB, PRIVATE, Json, read, said
from tests.fakes.base.faults import LostAnswer


def document(app: Running, data: bytes, **fields: Any) -> Json:
    """Return the field of a document that the fake has."""
    file = app.fake.world.file(data, "documents/file_{}.txt")
    return {
        "document": {**file.as_json(), "file_name": "a.txt", "mime_type": "text/plain", **fields}
    }


async def test_the_words_of_a_text_file_are_read_and_a_caption_stays_the_text(app: Running) -> None:
    fields = document(app, "one\ntwö".encode())
    message = read(said(None, PRIVATE, caption="what is it?", **fields))
    assert message.incomplete
    whole = await app.channel.complete(message)
    assert whole.excerpts == (Excerpt("text file", "one\ntwö", "Ada Lovelace", "7"),)
    assert (whole.text, whole.incomplete, whole.media) == ("what is it?", False, message.media)
    forward = read(
        said(None, PRIVATE, forward_origin={"type": "user", "sender_user": BOB}, **fields)
    )
    (excerpt,) = (await app.channel.complete(forward)).excerpts
    assert (excerpt.author, excerpt.author_id) == ("Bob", "8")


async def test_a_file_that_cannot_be_read_is_named(app: Running) -> None:
    gone = {"document": {"file_id": "gone", "file_name": "a.md"}}
    binary = document(app, b"MZ\x00\x01", file_name="b.txt")
    for fields, name in ((gone, "a.md"), (binary, "b.txt")):
        whole = await app.channel.complete(read(said(None, PRIVATE, **fields)))
        assert (whole.excerpts, whole.omitted) == ((), (f"the words of {name}",))


async def test_a_file_that_cannot_be_read_now_is_worth_another_try(app: Running) -> None:
    message = read(said(None, PRIVATE, **document(app, b"one")))
    app.fake.fail("getFile", LostAnswer())
    with pytest.raises(ChannelDown):
        await app.channel.complete(message)
    assert (await app.channel.complete(message)).excerpts[0].text == "one"


async def test_a_file_of_many_words_is_cut_and_says_so(app: Running) -> None:
    message = read(said(None, PRIVATE, caption="x" * 1000, **document(app, b"y" * 65_000)))
    whole = await app.channel.complete(message)
    assert len(whole.excerpts[0].text) == 64_536
    assert whole.omitted == ("the last 464 characters",)


@pytest.mark.parametrize(
    ("name", "mime", "size", "wanted"),
    [
        ("notes", "text/plain; charset=utf-8", 9, True),
        ("data.CSV", "", 9, True),
        ("a.bin", "application/vnd.api+json", 9, True),
        ("a.py", "application/octet-stream", 9, True),
        ("a.txt", "text/plain", 65_537, False),
        ("a.pdf", "application/pdf", 9, False),
        ("csv", "", 9, False),
        ("a.hologram", "application/x-of-tomorrow", 9, False),
    ],
)
def test_a_text_file_is_known_by_its_type_or_name(
    name: str, mime: str, size: int, wanted: bool
) -> None:
    assert is_text_file(Media("file", "file", "f", name=name, mime=mime, size=size)) is wanted


def test_bytes_are_text_in_the_usual_encodings() -> None:
    assert decoded("\ufeffgrün".encode()) == "grün"
    assert decoded("grün".encode("utf-16")) == "grün"
    assert decoded(b"gr\xfcn") == "gr\ufffdn"
    assert decoded(b"\x00\x01") is None
