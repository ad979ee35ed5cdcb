"""Reads the text files of a message, after the message was accepted.

Discord's client makes a file `message.txt` of a long paste: without other words, it is the
message's own text. Any other text file becomes an excerpt, since its words need not be the
sender's.
"""

from __future__ import annotations

import codecs
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from channels.content import MAX_BYTES, Content
from channels.discord.media import as_image, type_by_bytes
from channels.errors import MediaRefused
from channels.message import Excerpt, InboundMessage, Media, Quote

PASTE: Final = "message.txt"
TEXT_FILE: Final = "text file"
MAX_QUOTE: Final = 1000
_NO_TEXT: Final = ("image/", "audio/", "video/", "font/", "application/vnd.")
_NO_TEXTS: Final = frozenset(
    {
        "application/pdf",
        "application/zip",
        "application/gzip",
        "application/x-gzip",
        "application/x-tar",
        "application/x-7z-compressed",
        "application/vnd.rar",
        "application/x-rar-compressed",
        "application/msword",
        "application/java-archive",
        "application/epub+zip",
        "application/wasm",
    }
)
"""Types of files that have no plain text; every other type is looked into."""

_MARKS: Final = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CONTROLS: Final = frozenset(range(32)) - {9, 10, 12, 13, 27}

Fetch = Callable[[Media], Awaitable[bytes]]
"""Returns the first `MAX_BYTES + 1` bytes of a file, or raises MediaRefused or ChannelDown."""


def is_unread(media: Sequence[Media]) -> bool:
    """Return whether one of these files may be a text, or an image without a type."""
    return any(map(_is_candidate, media))


def is_paste(text: str, media: Sequence[Media]) -> bool:
    """Return whether a message is a long paste, which Discord's client made a file of."""
    return not text.strip() and [one.name for one in media] == [PASTE]


def text_of(data: bytes) -> str | None:
    """Return the text in a file, or None if it is not a text."""
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    if encoding != "utf-16" and not _CONTROLS.isdisjoint(data):
        return None
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace") if encoding == "utf-8" else None


@dataclass
class TextFiles:
    """Reads the files of one message; `own` is the file that is the message's own text."""

    _fetch: Fetch
    own: str = ""
    words: str = field(default="", init=False)
    _failed: list[str] = field(default_factory=list, init=False)

    async def read(self, message: InboundMessage) -> InboundMessage:
        """Return a message with the text of its files; raises ChannelDown."""
        by = message.sender
        media, texts = await self._look(Excerpt("", "", by.name, by.id, media=message.media))
        excerpts = [one for given in message.excerpts for one in await self._excerpts(given)]
        found = Content(
            text="\n".join(part for part in (message.text, self.words) if part),
            media=media,
            excerpts=(*texts, *excerpts),
            omitted=(*message.omitted, *self._failed),
        ).limited()
        return replace(
            message,
            text=found.text,
            media=found.media,
            excerpts=found.excerpts,
            omitted=found.omitted,
            quote=await self._quote(message.quote) if message.quote else None,
            incomplete=False,
        )

    async def _excerpts(self, given: Excerpt) -> list[Excerpt]:
        media, texts = await self._look(given)
        if not given.text and len(texts) == 1:  # a forwarded paste
            return [replace(given, text=texts[0].text, media=media)]
        return [replace(given, media=media), *texts]

    async def _quote(self, quote: Quote) -> Quote:
        media, texts = await self._look(Excerpt("", media=quote.media))
        files = [one.text for one in texts]
        if quote.text:  # the words of the message itself, from which those of a file differ
            files = [f"{TEXT_FILE}: {text}" for text in files]
        text = "\n".join(part for part in (quote.text, *files) if part)
        return replace(quote, text=text[:MAX_QUOTE], media=(*media, *(it.media[0] for it in texts)))

    async def _look(self, sent: Excerpt) -> tuple[tuple[Media, ...], list[Excerpt]]:
        """Return the files that are no texts, and an excerpt of its author for each that is."""
        kept, texts = list[Media](), list[Excerpt]()
        for one in sent.media:
            data = await self._bytes(one) if _is_candidate(one) else None
            text = text_of(data) if data is not None and len(data) <= MAX_BYTES else None
            if data is None or text is None:
                kept.append(_seen(one, data))
            elif one.file == self.own:
                self.words = text
            else:
                texts.append(replace(sent, label=TEXT_FILE, text=text, media=(one,)))
        return tuple(kept), texts

    async def _bytes(self, media: Media) -> bytes | None:
        try:
            return await self._fetch(media)
        except MediaRefused as refused:
            self._failed.append(f'the text of "{media.name}" ({refused})')
            return None


def _is_candidate(media: Media) -> bool:
    if media.kind != "file" or not media.file:
        return False
    if not media.mime:  # its first bytes say whether it is an image
        return True
    has_text = not media.mime.startswith(_NO_TEXT) and media.mime not in _NO_TEXTS
    return has_text and media.size <= MAX_BYTES


def _seen(media: Media, data: bytes | None) -> Media:
    mime = type_by_bytes(data) if data and not media.mime else ""
    return as_image(media, mime) if mime else media
