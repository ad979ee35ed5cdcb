"""Reads the attachments of a message: an app's card, a pasted table, a shared message, a preview.

https://docs.slack.dev/legacy/legacy-messaging/legacy-secondary-message-attachments/
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Literal

from channels.message import Media
from channels.slack.blocks import MAX_DEPTH, files_in, is_all, said_once, write_blocks, write_text
from channels.slack.rich_text import link

Raw = Mapping[str, Any]
AttachmentKind = Literal["shared", "preview", "pasted", "card"]

NO_PREVIEW: Final = "[no preview available]"
_SHARED: Final = ("is_share", "is_msg_unfurl", "is_reply_unfurl", "is_thread_root_unfurl")
_PREVIEW: Final = ("from_url", "original_url", "app_unfurl_url", "is_app_unfurl")
_PASTED: Final = ("table", "data_table", "rich_text")
_MARKED: Final = frozenset(
    ("pretext", "author_name", "author_subname", "title", "text", "fields", "footer", "blocks")
)
_ABOUT_A_BLOCK: Final = frozenset(("blocks", "color", "fallback", "hide_color", "id"))
_READ: Final = _MARKED | {
    *("actions", "attachments", "fallback", "files", "message_blocks", "preview", "service_name")
}
_NO_WORDS: Final = frozenset(
    (
        *("channel_name", "channel_team", "color", "format", "id", "mimetype", "msg_subtype"),
        *("ts", "type", "url", "video_html"),
    )
)
"""Fields of an attachment whose strings are no words of it."""


def listed(value: Any) -> list[Raw]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def kind_of(one: Raw) -> AttachmentKind:
    """Return what an attachment is; only a person's message has pasted ones."""
    if any(one.get(name) for name in _SHARED) or one.get("message_blocks"):
        return "shared"
    if any(one.get(name) for name in _PREVIEW):
        return "preview"
    is_bare = _ABOUT_A_BLOCK.issuperset(name for name, value in one.items() if value)
    return "pasted" if is_bare and is_all(one.get("blocks"), _PASTED) else "card"


def write_attachment(one: Raw, depth: int = MAX_DEPTH) -> str:
    """Return what an attachment says, without who is named as its author, in Slack's markup."""
    service = one.get("service_name") if one.get("author_name") else ""
    words = [
        _marked(service),
        _marked(one.get("pretext")),
        _title(one),
        _marked(one.get("text")),
        *_fields(one.get("fields")),
        *_message_blocks(one.get("message_blocks")),
        *write_blocks(one.get("blocks")),
        *(part for inner in listed(one.get("attachments")) if depth for part in _in(inner, depth)),
        *_preview(one.get("preview")),
        *(_action(action) for action in listed(one.get("actions"))),
        *(write_text(value) for name, value in one.items() if _is_unknown(name, value)),
        _footer(one),
    ]
    found = said_once("", words)
    if found:
        return found
    fallback = str(one.get("fallback") or "")
    return "" if fallback == NO_PREVIEW else fallback


def _in(inner: Raw, depth: int) -> tuple[str, str]:
    return author_named(inner), write_attachment(inner, depth - 1)


def author_named(one: Raw) -> str:
    """Return who an attachment names as its author, or what it comes from; in Slack's markup."""
    names = (one.get(name) for name in ("author_name", "author_subname", "service_name"))
    return next((_marked(name) for name in names if name), "")


def files_of(one: Raw) -> list[Raw]:
    """Return the files of an attachment, also those of its blocks."""
    whole = [_message_of(found) for found in listed(one.get("message_blocks"))]
    inner = [*whole, *listed(one.get("attachments"))]
    found = [file for part in (one, *inner) for file in listed(part.get("files"))]
    found += [file for part in (one, *inner) for file in files_in(part.get("blocks"))]
    return list({str(file.get("id")): file for file in found}.values())


def pictures_of(one: Raw) -> tuple[Media, ...]:
    """Return what an attachment shows that is no file of Slack's: it is named, not fetched."""
    labels = (("image_url", "picture"), ("video_url", "video"), ("video_html", "video"))
    return tuple(Media("other", label) for name, label in labels if one.get(name))[:1]


def _message_of(one: Raw) -> Raw:
    message = one.get("message")
    return message if isinstance(message, Mapping) else one


def _marked(value: Any) -> str:
    return str(value) if value else ""


def _title(one: Raw) -> str:
    title = " ".join(_marked(one.get("title")).split())
    url = one.get("title_link") or one.get("from_url") or one.get("original_url")
    if kind_of(one) == "shared":
        url = one.get("title_link")
    return link(str(url), title) if url else title


def _fields(fields: Any) -> list[str]:
    found = []
    for one in listed(fields):
        title, value = _marked(one.get("title")), _marked(one.get("value"))
        found.append(f"{title}: {value}" if title and value else title or value)
    return found


def _message_blocks(value: Any) -> list[str]:
    found = []
    for message in map(_message_of, listed(value)):
        found += write_blocks(message.get("blocks")) or [_marked(message.get("text"))]
    return found


def _preview(value: Any) -> list[str]:
    if not isinstance(value, Mapping):
        return []
    return write_blocks([value.get("title"), value.get("subtitle")])


def _action(action: Raw) -> str:
    text, url = _marked(action.get("text")), action.get("url")
    return link(str(url), text) if url else text


def _footer(one: Raw) -> str:
    """Return the footer of a card or a page; below a shared message, Slack writes one itself."""
    return "" if kind_of(one) == "shared" else _marked(one.get("footer"))


def _is_unknown(name: str, value: Any) -> bool:
    """Return whether a field that is not known has words."""
    if name in _READ or name in _NO_WORDS or not isinstance(value, str):
        return False
    return not name.endswith(("_id", "_icon", "_link", "_url", "_ts"))
