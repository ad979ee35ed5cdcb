"""Reads the words of text files that people send, once the message is accepted."""

from __future__ import annotations

import codecs
import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Final

from channels.content import MAX_BYTES, Content
from channels.errors import ChannelDown, ChannelError, MediaRefused
from channels.message import Excerpt, InboundMessage, Media

_TYPE: Final = re.compile(
    r"text/.*|application/(?:[\w.-]+\+)?(?:x-)?"
    r"(?:json|jsonl|ndjson|xml|yaml|toml|sql|javascript|typescript|sh|shellscript|python|tex|subrip"
    r"|graphql)"
)
_NAME: Final = re.compile(
    r"\.(?:txt|text|md|markdown|rst|org|tex|log|csv|tsv|jsonl?|ndjson|ya?ml|toml|ini|cfg|conf|env"
    r"|properties|xml|html?|svg|css|srt|vtt|ics|vcf|eml|diff|patch|sql|sh|bash|zsh|bat|ps1|pyi?"
    r"|m?js|jsx|tsx?|java|kt|c|h|cc|cpp|hpp|cs|go|rs|rb|php|pl|lua|swift|r)$",
    re.IGNORECASE,
)


def is_text_file(media: Media) -> bool:
    """Return whether an attachment is a text by its type or name, and short enough to be read."""
    if media.kind != "file" or not media.file or media.size > MAX_BYTES:
        return False
    mime = media.mime.split(";")[0].strip().lower()
    return _TYPE.fullmatch(mime) is not None or _NAME.search(media.name) is not None


async def with_file_words(
    message: InboundMessage, fetch: Callable[[Media, int], Awaitable[bytes]]
) -> InboundMessage:
    """Return a message with the words of its text files; what cannot be read is named in it.

    Raises ChannelDown if the platform cannot be asked now.
    """
    author, number = message.sender.name, message.sender.id
    if message.forwarded is not None:
        author, number = message.forwarded.author, message.forwarded.author_id
    excerpts, omitted = list(message.excerpts), list(message.omitted)
    for media in filter(is_text_file, message.media):
        text = await _words(media, fetch)
        if text is None:
            omitted.append(f"the words of {media.name or 'a text file'}")
        else:
            excerpts.append(Excerpt("text file", text, author, number))
    whole = Content(message.text, message.media, tuple(excerpts), omitted=tuple(omitted)).limited()
    return replace(message, excerpts=whole.excerpts, omitted=whole.omitted, incomplete=False)


async def _words(media: Media, fetch: Callable[[Media, int], Awaitable[bytes]]) -> str | None:
    try:
        data = await fetch(media, MAX_BYTES)
    except (MediaRefused, ChannelDown) as cause:
        if isinstance(cause, ChannelDown):
            raise
        return None
    except ChannelError as cause:
        raise ChannelDown(str(cause)) from cause
    return decoded(data)


def decoded(data: bytes) -> str | None:
    """Return the text in a file's bytes, or None if they are no text."""
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return data.decode("utf-16", "replace")
    if b"\x00" in data:
        return None
    return data.removeprefix(codecs.BOM_UTF8).decode("utf-8", "replace")
