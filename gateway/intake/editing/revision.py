"""Apply an edit to the message that it changes, and say what differs.

A message that was joined from parts keeps its other parts. Album parts have an attachment each;
otherwise all attachments of a joined message belong to its first part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from agent.names import fit_label
from channels.content import Content
from channels.message import InboundMessage, Media
from gateway.intake.reassembly import joined_text
from gateway.intake.thread_openings import without_titles
from tape.entry import Entry
from tape.taken_messages import MEDIA_FROM

One = TypeVar("One")


def content_of(message: InboundMessage) -> Content:
    """Return what a message says; the title of its thread is not changed by an edit of it."""
    excerpts = without_titles(message.excerpts)
    return Content(message.text, message.media, excerpts, omitted=message.omitted)


def revised(message: InboundMessage, edit: InboundMessage) -> tuple[Content, Content]:
    """Return what a message, or the edited part of it, says before and after an edit.

    An edit without a time of its own may have a new text or a preview only, and removes nothing.
    """
    parts, before = dict(message.parts), content_of(message)
    if edit.message_id in parts:
        own = message.media[_media_of(message, edit.message_id)]
        before = Content(parts[edit.message_id], own)
    after = content_of(edit)
    if not edit.edited:
        after = replace(
            after,
            media=edit.media or before.media,
            excerpts=after.excerpts or before.excerpts,
            omitted=edit.omitted or before.omitted,
        )
    return before, Content(after.text, after.media) if edit.message_id in parts else after


def is_same(before: Content, after: Content) -> bool:
    """Return whether two contents say the same; a platform may give a file a new key."""
    return _comparable(before).digest() == _comparable(after).digest()


def changes_of(before: Content, after: Content) -> str:
    """Return what else than the text differs, as words for the model, or ""."""
    old, new = _comparable(before), _comparable(after)
    media = [one.label for one in _differing(old.media, new.media)]
    excerpts = [one.label for one in _differing(old.excerpts, new.excerpts)]
    labels = dict.fromkeys(fit_label(label) for label in (*media, *excerpts))
    return " and ".join(labels)


def newest_of(said: Entry, edits: Sequence[Entry]) -> tuple[str, tuple[Media, ...]]:
    """Return the newest text and attachments of a message on the tape."""
    text, media = str(said.meta.get("text", "")), said.meta.get("media", ())
    for edit in edits:
        data = edit.payload["data"]
        text = str(data.get("text", text))
        media = edit.meta.get("media", ()) if MEDIA_FROM in data else media
    return text, tuple(Media(**one) for one in media)


def with_edit(message: InboundMessage, edit: InboundMessage) -> InboundMessage:
    """Return a message with the new content of it or of one of its parts."""
    _before, after = revised(message, edit)
    if edit.message_id not in dict(message.parts):
        return replace(
            message,
            text=after.text,
            media=after.media,
            excerpts=after.excerpts,
            omitted=after.omitted,
            mentions=edit.mentions if edit.edited else message.mentions,
            incomplete=edit.incomplete or message.incomplete,
        )
    place = _media_of(message, edit.message_id)
    media = (*message.media[: place.start], *after.media, *message.media[place.stop :])
    parts = tuple(
        (number, after.text if number == edit.message_id else old) for number, old in message.parts
    )
    text = joined_text([part for _number, part in parts])
    return replace(message, text=text, parts=parts, media=media)


def without_part(message: InboundMessage, message_id: str) -> InboundMessage:
    """Return a joined message without one of its parts, which was deleted."""
    place = _media_of(message, message_id)
    media = (*message.media[: place.start], *message.media[place.stop :])
    parts = tuple(part for part in message.parts if part[0] != message_id)
    return replace(
        message, text=joined_text([text for _id, text in parts]), parts=parts, media=media
    )


def _media_of(message: InboundMessage, part: str) -> slice:
    """Return the place of a part's attachments among those of the joined message."""
    at = [number for number, _text in message.parts].index(part)
    if len(message.media) == len(message.parts):
        return slice(at, at + 1)
    return (
        slice(0, len(message.media)) if at == 0 else slice(len(message.media), len(message.media))
    )


def _comparable(content: Content) -> Content:
    excerpts = (replace(one, media=tuple(map(_keyless, one.media))) for one in content.excerpts)
    media = tuple(map(_keyless, content.media))
    return replace(content, media=media, excerpts=tuple(excerpts))


def _keyless(media: Media) -> Media:
    return replace(media, file="") if media.size else media


def _differing(old: Sequence[One], new: Sequence[One]) -> list[One]:
    return [*(one for one in new if one not in old), *(one for one in old if one not in new)]
