"""Writes the blocks of a message in Slack's markup, also those that it does not know.

https://docs.slack.dev/reference/block-kit/blocks
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final

from channels.content import MAX_BYTES
from channels.slack.mrkdwn import decode, escape, unescape
from channels.slack.rich_text import link, write_rich_text

Raw = Mapping[str, Any]

MAX_DEPTH: Final = 20
"""Maximum nesting that is read; what is deeper is left out."""

NO_WORDS: Final = frozenset(
    (
        # identifiers, and how something looks
        *("color", "dispatch_action", "emoji", "focus_on_load", "id", "mimetype", "mrkdwn_in"),
        *("name", "range", "size", "skin_tone", "source", "style", "type", "unicode"),
        *("verbatim", "video_html", "team", "channel", "user", "ts"),
        # what a press of a button opens or sends
        *("confirm", "filter", "workflow", "trigger", "timezone"),
        # another form of words that are read
        *("fallback", "private_channel_prompt"),
    )
)
"""The fields of an unknown block whose strings are no words."""

_NO_WORDS_END: Final = ("_id", "_ids", "_url", "_urls", "_ts", "_icon", "_type", "_mode", "_link")
_LIST_MARK: Final = re.compile(r"^[ \t]*(?:\d+|[a-z]{1,4})[.)]\s", re.MULTILINE)
_TOKEN: Final = re.compile(r"\w+")
_NAMED: Final = re.compile(r"<([@#!](?!date\^)[^<>|\n]*)\|[^<>\n]*>")
_ESCAPED_MARK: Final = re.compile(r"&lt;([@#!][^<>&\n]*)&gt;")


def write_blocks(blocks: Any) -> list[str]:
    """Return what blocks say, one string for each part."""
    return [part for part in _write(blocks, MAX_DEPTH) if part.strip()]


def write_text(text: Any) -> str:
    """Return a text of Slack's that may be escaped, but has no markup, in Slack's markup."""
    return escape(unescape(str(text or "")))


def files_in(blocks: Any, depth: int = MAX_DEPTH) -> list[Raw]:
    """Return the files that blocks show: those of Slack, and remote ones."""
    if depth == 0 or not isinstance(blocks, (list, Mapping)):
        return []
    found: list[Raw] = []
    if isinstance(blocks, Mapping):
        for name in ("slack_file", "file"):
            one = blocks.get(name)
            if isinstance(one, Mapping) and one.get("id"):
                found.append(one)
    inner = blocks.values() if isinstance(blocks, Mapping) else blocks
    return found + [one for value in inner for one in files_in(value, depth - 1)]


def is_all(blocks: Any, kinds: Collection[str]) -> bool:
    """Return whether there are blocks, and all are of these kinds."""
    if not isinstance(blocks, list) or not blocks:
        return False
    return all(isinstance(one, Mapping) and one.get("type") in kinds for one in blocks)


def said_once(text: str, more: Sequence[str]) -> str:
    """Return a text, and what of `more` it does not say.

    Slack writes one message in several fields: for notifications, for old clients, and as blocks.
    """
    said, others = _bare(text), [(one, _bare(one)) for one in more]
    whole = " ".join(bare for _one, bare in others if bare)
    if said and said != whole and f" {said} " in f" {whole} ":
        text, said = "", ""
    found = [text] if text.strip() else []
    for one, bare in others:
        if len(said) > MAX_BYTES:  # what follows is cut, and need not be compared
            found.append(one)
        elif bare and f" {bare} " not in f" {said} ":
            found.append(one)
            said = f"{said} {bare}"
    return "\n".join(found)


def _bare(text: str) -> str:
    """Return the words of a text, without marks; ids stand for names, which not every field has."""
    shown = decode(_NAMED.sub(r"<\1>", text), str, str)
    return " ".join(_TOKEN.findall(_LIST_MARK.sub("", shown))) or shown.strip()


def _write(value: Any, depth: int) -> list[str]:
    if depth == 0:
        return []
    if isinstance(value, str):
        return [write_text(value)]
    if isinstance(value, list):
        return [part for one in value for part in _write(one, depth - 1)]
    if isinstance(value, Mapping):
        return _WRITERS.get(str(value.get("type")), _unknown)(value, depth - 1)
    return []


def _unknown(block: Raw, depth: int) -> list[str]:
    words = [
        part
        for name, value in block.items()
        if _has_words(name, block)
        for part in _write(value, depth)
    ]
    words = words or _write(block.get("fallback"), depth)
    url = block.get("url") or block.get("title_url")
    if not isinstance(url, str) or not url:
        return words
    return [link(url, words[0]), *words[1:]] if words else [link(url)]


def _has_words(name: str, block: Raw) -> bool:
    if name.startswith("initial_"):  # a choice that is among the others, or an id
        return False
    if name in NO_WORDS or name == "url" or name.endswith(_NO_WORDS_END):
        # A mapping without a type has its words in any field: it is no block, but data.
        return name == "name" and "type" not in block
    # The value of a button or of a choice is sent to its app; people read its text.
    return name != "value" or not ("text" in block or "action_id" in block)


def _mrkdwn(block: Raw, _depth: int) -> list[str]:
    return [str(block.get("text") or "")]


def _plain(block: Raw, _depth: int) -> list[str]:
    text = block.get("text")
    return [write_text(block.get("value") if text is None else text)]


def _markdown(block: Raw, _depth: int) -> list[str]:
    return [_ESCAPED_MARK.sub(r"<\1>", escape(str(block.get("text") or "")))]


def _rich_text(block: Raw, depth: int) -> list[str]:
    return [write_rich_text(block, lambda one: " ".join(_unknown(one, depth)) if depth else "")]


def _context(block: Raw, depth: int) -> list[str]:
    return [" ".join(part for part in _write(block.get("elements"), depth) if part.strip())]


def _image(block: Raw, depth: int) -> list[str]:
    return list(dict.fromkeys(_write([block.get("title"), block.get("alt_text")], depth)))


def _video(block: Raw, depth: int) -> list[str]:
    names = ("title", "description", "author_name", "provider_name", "alt_text")
    words = list(dict.fromkeys(_write([block.get(name) for name in names], depth)))
    url = str(block.get("title_url") or block.get("video_url") or "")
    return [link(url, words[0] if words else ""), *words[1:]] if url else words


def _table(block: Raw, depth: int) -> list[str]:
    rows = block.get("rows")
    given = rows if isinstance(rows, list) else []
    lines = [_row(row, depth) for row in given if isinstance(row, list)]
    return [*_write(block.get("caption"), depth), "\n".join(lines)]


def _row(row: list[Any], depth: int) -> str:
    cells = (" ".join(" ".join(_write(cell, depth)).split()) for cell in row)
    return f"| {' | '.join(cells)} |"


def _nothing(_block: Raw, _depth: int) -> list[str]:
    return []


_WRITERS: Final[Mapping[str, Callable[[Raw, int], list[str]]]] = {
    "mrkdwn": _mrkdwn,
    "plain_text": _plain,
    "raw_text": _plain,
    "raw_number": _plain,
    "markdown": _markdown,
    "rich_text": _rich_text,
    "context": _context,
    "image": _image,
    "video": _video,
    "table": _table,
    "data_table": _table,
    "divider": _nothing,
    "file": _nothing,  # it is among the files
}
