"""Reads what a message of Slack says, in whichever field, and whose words they are.

The sender's own are the text, the blocks, what was pasted, and an app's own cards. Shared messages,
previews of links, mails, and the cards that an app adds to a person's message are others'.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from channels.content import Content, whole_text
from channels.message import Excerpt, Media, Quote
from channels.slack.attachments import (
    author_named,
    files_of,
    kind_of,
    listed,
    pictures_of,
    write_attachment,
)
from channels.slack.blocks import files_in, said_once, write_blocks
from channels.slack.event_fields import Raw, SlackSelf, author_of, is_own, moment_of
from channels.slack.files import FileReading, read_file
from channels.slack.mrkdwn import mentioned
from channels.slack.rich_text import link

MESSAGE: Final = "message"  # the kind of an empty message that Slack has no other name for


def read_content(event: Raw, me: SlackSelf) -> Content:
    """Return what a message says, from an event, an edit, the history, or inside of another one."""
    return read_with(own_words(event), event, me)


def read_with(own: str, event: Raw, me: SlackSelf) -> Content:
    """Return what a message says whose author's own words are known."""
    attachments = listed(event.get("attachments"))
    others = of_others(event)
    files = _files(event, attachments)
    readings = [read_file(one, me) for one in files]
    excerpts = [found for one in others for found in _excerpts(one, me)]
    excerpts += [one.excerpt for one in readings if one.excerpt is not None]
    media = [one.media for one in readings if one.media is not None and one.excerpt is None]
    media += [
        one
        for own_one in attachments
        if _is_own_part(own_one, event)
        for one in pictures_of(own_one)
    ]
    content = Content(
        text=me.read(own),
        media=tuple(media),
        excerpts=tuple(excerpts),
        mentions=tuple(one for one in mentioned(own) if one != me.workspace.user),
        omitted=tuple(one.left for one in readings if one.left and not one.incomplete),
        incomplete=bool(pending_files(event, me)),
    )
    kind = str(event.get("subtype") or MESSAGE) if content.is_empty else ""
    return replace(content, kind=kind).limited()


def own_words(event: Raw) -> str:
    """Return the sender's own words, in Slack's markup."""
    parts = write_blocks(event.get("blocks"))
    for one in listed(event.get("attachments")):
        if _is_own_part(one, event):
            parts += [_card_author(one), write_attachment(one)]
    return said_once(str(event.get("text") or ""), parts)


def of_author(event: Raw) -> tuple[str, list[str]]:
    """Return a message's own words, and the ids of its own files: what its author can change."""
    files = _files(event, listed(event.get("attachments")))
    return own_words(event), [str(one.get("id")) for one in files]


def of_others(event: Raw) -> list[Raw]:
    """Return the attachments that the author of a message did not write, such as previews."""
    return [one for one in listed(event.get("attachments")) if not _is_own_part(one, event)]


def pending_files(event: Raw, me: SlackSelf) -> list[str]:
    """Return the ids of the files of a message of which Slack says more if it is asked."""
    attachments = listed(event.get("attachments"))
    shared = [one for part in attachments if kind_of(part) == "shared" for one in files_of(part)]
    found = [*_files(event, attachments), *shared]
    return list(dict.fromkeys(str(one["id"]) for one in found if read_file(one, me).incomplete))


def root_of(event: Raw, me: SlackSelf) -> Quote | None:
    """Return the message that a reply is broadcast below, which only such a reply brings along."""
    root = event.get("root")
    if event.get("subtype") not in ("thread_broadcast", "reply_broadcast") or not root:
        return None
    content, author = read_content(root, me), author_of(root, me)
    media = (*content.media, *(media for one in content.excerpts for media in one.media))
    text = whole_text(replace(content, excerpts=tuple(_named(one, me) for one in content.excerpts)))
    return Quote(author.name, author.id, text, is_own(root, me.workspace), media=media)


def _named(excerpt: Excerpt, me: SlackSelf) -> Excerpt:
    """Return an excerpt whose author's name will be filled in if it is not known yet."""
    is_pending = me.workspace.names.is_pending(excerpt.author)
    return replace(excerpt, author=f"@{excerpt.author}") if is_pending else excerpt


def _is_own_part(attachment: Raw, event: Raw) -> bool:
    kind = kind_of(attachment)
    return kind == "pasted" or (kind == "card" and bool(event.get("bot_id")))


def _card_author(card: Raw) -> str:
    name, url = author_named(card), card.get("author_link")
    return link(str(url), name) if name and url else name


def _files(event: Raw, attachments: Sequence[Raw]) -> list[Raw]:
    """Return the sender's own files, each once."""
    found = [*listed(event.get("files")), *files_in(event.get("blocks"))]
    found += [one for part in attachments if _is_own_part(part, event) for one in files_of(part)]
    return list({str(one.get("id") or number): one for number, one in enumerate(found)}.values())


def _excerpts(one: Raw, me: SlackSelf) -> Iterable[Excerpt]:
    """Yield what somebody else wrote: the attachment, then each text file or mail in it."""
    readings = [read_file(raw, me) for raw in files_of(one)]
    shared = kind_of(one) == "shared"
    media = _media(readings) if shared else (*_media(readings), *pictures_of(one))
    author, text = me.read(author_named(one)), me.read(write_attachment(one))
    if not (text.strip() or media or any(reading.excerpt for reading in readings)):
        return
    if not shared:
        label = "link preview" if kind_of(one) == "preview" else "card"
        yield Excerpt(label, text, author, media=media, source="page")
    else:
        author_id = str(one.get("author_id") or one.get("bot_id") or "")
        if not author and author_id:
            author = me.workspace.names.person(author_id)
        ours = author_id != "" and author_id in (me.workspace.user, me.workspace.bot)
        date = moment_of(one.get("ts"))
        yield Excerpt("shared message", text, author, author_id, date, media, ours=ours)
    yield from (reading.excerpt for reading in readings if reading.excerpt is not None)


def _media(readings: Iterable[FileReading]) -> tuple[Media, ...]:
    return tuple(one.media for one in readings if one.media is not None and one.excerpt is None)
