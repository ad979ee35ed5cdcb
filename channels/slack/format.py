"""Renders Markdown for Slack so that it alerts nobody.

Slack renders headings, lists, tables, code, quotes and links itself. What Slack does not render
(raw HTML, footnotes, formulas) stays readable as text.
https://docs.slack.dev/reference/block-kit/blocks/markdown-block
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from channels.markdown.render import is_visible, to_text
from channels.message import Button
from channels.slack.mrkdwn import escape

LIMIT: Final = 9_000
"""Maximum characters that we send; Slack allows 12,000, but we add invisible characters."""

MAX_SECTION: Final = 3_000
MAX_LABEL: Final = 75
MAX_EDIT: Final = 4_000
"""Maximum characters of the text of an edit with blocks; the blocks hold the whole text."""

ACTION: Final = "tapeway."  # what the ids of our buttons begin with
EMPTY: Final = "(The answer has no visible text.)"
GAP: Final = "\u200b"  # an invisible character that breaks a mention

_MARK: Final = re.compile(r"<(?=!(?:here|channel|everyone|group|subteam)|@[UWB]|@S)", re.IGNORECASE)
_WORD: Final = re.compile(r"@(?=(?:here|channel|everyone|group)(?![^\W_]))", re.IGNORECASE)
_BEGUN: Final = re.compile(r"(?:<[!@]?\w{0,8}|@\w{0,8})\Z")
_MAX_BEGUN: Final = 10
_UNFIT: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def render(markdown: str) -> str:
    """Return a text that alerts nobody and is never empty."""
    drawn = neutral(markdown).strip()
    return drawn if is_visible(drawn) else EMPTY


def neutral(markdown: str) -> str:
    """Return Markdown that alerts nobody: an invisible character breaks each mention.

    A prefix of the text gives a prefix of the result, unless the prefix ends inside a mention.
    """
    text = _UNFIT.sub("", markdown.replace("\r\n", "\n"))
    return _WORD.sub(f"@{GAP}", _MARK.sub(f"<{GAP}", text))


def settled(markdown: str) -> str:
    """Render the part of an unfinished text that can no longer become a mention."""
    bare = markdown.rstrip()
    if len(bare) == len(markdown):
        begun = _BEGUN.search(bare, max(0, len(bare) - _MAX_BEGUN))
        bare = bare[: begun.start()] if begun else bare
    return neutral(bare).lstrip()


def blocks(rendered: str, buttons: Sequence[Button]) -> list[dict[str, Any]]:
    """Return the blocks of a rendered text with buttons below it."""
    return [{"type": "markdown", "text": rendered}, *_actions(buttons)]


def plain_blocks(rendered: str, buttons: Sequence[Button]) -> list[dict[str, Any]]:
    """Return the blocks for a server whose blocks have no Markdown."""
    text = to_text(rendered).strip() or EMPTY
    kind = {"type": "plain_text", "emoji": False}  # which can be cut anywhere
    pieces = [text[at : at + MAX_SECTION] for at in range(0, len(text), MAX_SECTION)]
    sections = [{"type": "section", "text": {**kind, "text": one}} for one in pieces]
    return [*sections, *_actions(buttons)]


def _actions(buttons: Sequence[Button]) -> list[dict[str, Any]]:
    elements = [
        {
            "type": "button",
            "action_id": f"{ACTION}{number}",  # must be unique within the message
            "text": {"type": "plain_text", "text": one.label[:MAX_LABEL], "emoji": False},
            "value": one.token,
        }
        for number, one in enumerate(buttons)
    ]
    return [{"type": "actions", "elements": elements}] if elements else []


def size(markdown: str) -> int:
    """Return a rendered text's size in UTF-16 units, the largest of the counts Slack may use."""
    text = neutral(markdown)
    return len(text) + sum(char > "\uffff" for char in text)


def plain(markdown: str) -> str:
    """Return the text without Markdown, for a server that accepts no Markdown."""
    return escape(to_text(neutral(markdown))).strip()[:LIMIT] or EMPTY
