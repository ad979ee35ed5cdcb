"""The files of a message: described when it arrives, and fetched only when they are needed.

A mail, a snippet or a text file is words: its text stands in the event, or is looked up after the
event was acknowledged. https://docs.slack.dev/reference/objects/file-object/
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC
from email.utils import parsedate_to_datetime
from html import unescape
from typing import Any, Final

from channels.content import MAX_BYTES
from channels.errors import MediaRefused, SendRefused
from channels.message import Excerpt, Media, MediaKind
from channels.slack.api import SlackApi
from channels.slack.event_fields import Raw, SlackSelf, moment_of

IMAGES: Final = ("image/jpeg", "image/png", "image/webp", "image/gif")
MAX_MAIL_FILES: Final = 20
_KINDS: Final[Mapping[str, tuple[MediaKind, str]]] = {
    "audio": ("audio", "audio file"),
    "video": ("video", "video"),
}
_GONE: Final = ("tombstone", "hidden_by_limit")
_PAGES: Final = {"canvas": "canvas", "quip": "canvas", "space": "post", "post": "post"} | {
    "list": "list"
}
"""What people call a file that Slack itself makes, by its mode or type."""

_TEXTS: Final = ("json", "xml", "yaml", "x-yaml", "toml", "javascript", "sql", "x-sh", "csv")
_TAG: Final = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True)
class FileReading:
    """What a file is to a message: something to show, or words of its own.

    incomplete  whether the rest of it can be looked up
    left        what of it is missing, as a noun phrase
    """

    media: Media | None = None
    excerpt: Excerpt | None = None
    incomplete: bool = False
    left: str = ""


def read_file(raw: Raw, me: SlackSelf, whole: str | None = None) -> FileReading:
    """Read a file; `whole` is the text of a text file, if it was fetched."""
    media = _media(raw, me.workspace.account)
    if raw.get("mode") in _GONE or not raw.get("id"):
        return FileReading(media)
    if is_stub(raw):
        return FileReading(media, incomplete=True)
    if _is_mail(raw):
        return _mail(raw, media)
    if not is_text(raw):
        return FileReading(media)
    preview = raw.get("preview")
    text = whole if whole is not None else str(preview or "")
    is_cut = whole is None and (not text or _is_cut(raw))
    fits = _size(raw) <= MAX_BYTES
    if not text.strip():
        return FileReading(media, incomplete=is_cut and fits)
    excerpt = Excerpt(
        "text file",
        text,
        me.workspace.names.person(str(raw["user"])) if raw.get("user") else "",
        str(raw.get("user") or ""),
        moment_of(raw.get("created")),
        (media,),
    )
    left = f"the rest of {media.name or 'the text file'}" if is_cut else ""
    return FileReading(excerpt=excerpt, incomplete=is_cut and fits, left=left)


def is_stub(raw: Raw) -> bool:
    """Return whether Slack gives no more than the id of a file, as of another company's."""
    hidden = raw.get("mode") == "file_access" or raw.get("file_access") == "check_file_info"
    return hidden and not raw.get("url_private")


def is_text(raw: Raw) -> bool:
    """Return whether a file is text that people can read."""
    kind, _, rest = str(raw.get("mimetype") or "").partition("/")
    if _page(raw):
        return False
    return raw.get("mode") == "snippet" or kind == "text" or rest.rpartition("+")[2] in _TEXTS


def decoded(data: bytes) -> str | None:
    """Return the text of a file, or None if it is none."""
    is_wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    if b"\0" in data and not is_wide:
        return None
    for name in ("utf-16",) if is_wide else ("utf-8-sig", "cp1252"):
        try:
            return data.decode(name)
        except UnicodeError:
            continue
    return data.decode("latin-1")


def _media(raw: Raw, account: str) -> Media:
    file = f"{account}/{raw['id']}" if raw.get("id") else ""
    if raw.get("mode") in _GONE or not file:
        return Media("other", "file that Slack no longer provides")
    if is_stub(raw):
        return Media("file", "file", file=file, name=str(raw.get("name") or ""))
    mime = str(raw.get("mimetype") or "")
    kind, label = _KINDS.get(mime.partition("/")[0], ("file", "file"))
    if mime in IMAGES:
        kind, label = "image", "image"
    if raw.get("subtype") == "slack_audio":
        label = "voice message"
    return Media(
        kind,
        _page(raw) or label,
        file=file,
        name=_name(raw),
        mime=mime,
        size=_size(raw),
        width=int(raw.get("original_w") or 0),
        height=int(raw.get("original_h") or 0),
        seconds=int(raw.get("duration_ms") or 0) // 1000,
        detail=_detail(raw),
    )


def _page(raw: Raw) -> str:
    return _PAGES.get(str(raw.get("mode"))) or _PAGES.get(str(raw.get("filetype")), "")


def _name(raw: Raw) -> str:
    names = ("title", "name") if _page(raw) else ("name", "title")
    return str(next((raw[name] for name in names if raw.get(name)), ""))


def _detail(raw: Raw) -> str:
    """Return what is known of a file: its title, what an image shows, what a recording says."""
    name, title = str(raw.get("name") or ""), str(raw.get("title") or "")
    is_name = not name or title in (name, name.rpartition(".")[0]) or bool(_page(raw))
    parts = ["" if is_name else title, str(raw.get("alt_txt") or "")]
    said = raw.get("transcription")
    preview = said.get("preview") if isinstance(said, Mapping) else None
    if isinstance(preview, Mapping) and preview.get("content"):
        more = " ..." if preview.get("has_more") else ""
        parts.append(f'transcript: "{preview["content"]}{more}"')
    return ", ".join(one for one in parts if one)


def _size(raw: Raw) -> int:
    return int(raw.get("size") or 0)


def _is_cut(raw: Raw) -> bool:
    """Return whether the preview of a file is not all of it."""
    more = raw.get("lines_more")
    return bool(raw.get("preview_is_truncated") or (more and str(more) != "0"))


def _is_mail(raw: Raw) -> bool:
    return "email" in (raw.get("mode"), raw.get("filetype"))


def _mail(raw: Raw, media: Media) -> FileReading:
    body = str(raw.get("plain_text") or "")
    cut = not body
    body = body or _without_tags(str(raw.get("simplified_html") or raw.get("preview") or ""))
    body = body or str(raw.get("preview_plain_text") or "")
    head = [f"Subject: {raw.get('subject') or raw.get('title') or ''}"]
    head += [
        f"{title}: {', '.join(found)}"
        for title, name in (("From", "from"), ("To", "to"), ("Cc", "cc"))
        if (found := list(_addresses(raw.get(name))))
    ]
    author = next(_names(raw.get("from")), "")
    inner = raw.get("attachments")
    files = inner[:MAX_MAIL_FILES] if isinstance(inner, list) else []
    shown = tuple(_mail_file(one) for one in files if isinstance(one, Mapping))
    text = "\n".join(head) + (f"\n\n{body}" if body else "")
    date = _mail_date(raw)
    excerpt = Excerpt("mail", text, author, date=date, media=(*((media,) if cut else ()), *shown))
    return FileReading(excerpt=excerpt, incomplete=cut)


def _mail_file(one: Raw) -> Media:
    name = str(one.get("filename") or one.get("name") or "")
    return Media(
        "file", "attachment", name=name, mime=str(one.get("mimetype") or ""), size=_size(one)
    )


def _addresses(people: Any) -> Iterator[str]:
    for one in people if isinstance(people, list) else ():
        if isinstance(one, Mapping):
            name, address = str(one.get("name") or ""), str(one.get("address") or "")
            yield str(one.get("original") or "") or (f"{name} <{address}>" if name else address)


def _names(people: Any) -> Iterator[str]:
    for one in people if isinstance(people, list) else ():
        if isinstance(one, Mapping):
            yield str(one.get("name") or one.get("address") or one.get("original") or "")


def _mail_date(raw: Raw) -> str:
    headers = raw.get("headers")
    sent = headers.get("date") if isinstance(headers, Mapping) else None
    try:
        return parsedate_to_datetime(str(sent)).astimezone(UTC).isoformat()
    except (TypeError, ValueError, OverflowError):
        return moment_of(raw.get("created"))


def _without_tags(html: str) -> str:
    return unescape(_TAG.sub(" ", html)).strip()


async def look_up(api: SlackApi, file_id: str, me: SlackSelf) -> FileReading | None:
    """Return what Slack knows of a file, with its text; None if Slack does not show it.

    Raises ChannelDown if it is worth another try.
    """
    try:
        raw = (await api.call("files.info", file=file_id)).get("file") or {}
    except SendRefused:
        return None
    if not raw.get("id") or is_stub(raw):
        return None
    reading = read_file(raw, me)
    if not reading.incomplete or not is_text(raw):
        return replace(reading, incomplete=False)
    try:
        text = decoded(
            await api.download(address_of(raw), MAX_BYTES, str(raw.get("mimetype") or ""))
        )
    except MediaRefused:
        text = None
    return replace(read_file(raw, me, text), incomplete=False)


async def fetch(api: SlackApi, file_id: str, most: int) -> bytes:
    """Return a file of at most `most` bytes; raises MediaRefused or another ChannelError."""
    try:
        found = (await api.call("files.info", file=file_id)).get("file") or {}
    except SendRefused as refused:
        raise MediaRefused(f"Slack does not provide it ({refused})") from refused
    if _size(found) > most:
        raise MediaRefused(f"it is larger than my limit of {most // 1_000_000} MB")
    url = address_of(found)
    if not url:
        raise MediaRefused("Slack does not say where it is")
    return await api.download(url, most, str(found.get("mimetype") or ""))


def address_of(raw: Raw) -> str:
    """Return where a file is fetched, or ""."""
    return str(raw.get("url_private_download") or raw.get("url_private") or "")
