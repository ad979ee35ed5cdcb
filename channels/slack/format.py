"""Render Markdown for Slack so that it pings nobody.

Slack renders headings, lists, tables, code, quotes and links itself. What it does not render (raw
HTML, footnotes, formulas) stays readable as text.
https://docs.slack.dev/reference/block-kit/blocks/markdown-block
"""

from __future__ import annotations

import re
from typing import Final

from channels.markdown.render import is_visible, to_text
from channels.slack.mrkdwn import escape

LIMIT: Final = 9_000
"""Maximum characters that we send: less than Slack's 12,000, to leave room for invisible ones."""

EMPTY: Final = "(The answer has no visible text.)"
GAP: Final = "\u200b"  # breaks a mention invisibly

_MARK: Final = re.compile(r"<(?=!(?:here|channel|everyone|group|subteam)|@[UWB]|@S)", re.IGNORECASE)
_WORD: Final = re.compile(r"@(?=(?:here|channel|everyone|group)(?![^\W_]))", re.IGNORECASE)
_BEGUN: Final = re.compile(r"(?:<[!@]?\w{0,8}|@\w{0,8})\Z")
_MAX_BEGUN: Final = 10
_UNFIT: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def render(markdown: str) -> str:
    """Return a text that pings nobody and shows something."""
    drawn = neutral(markdown).strip()
    return drawn if is_visible(drawn) else EMPTY


def neutral(markdown: str) -> str:
    """Return Markdown that pings nobody, because an invisible character breaks each mention.

    A prefix of the text gives a prefix of the result, unless it ends within a mention.
    """
    text = _UNFIT.sub("", markdown.replace("\r\n", "\n"))
    return _WORD.sub(f"@{GAP}", _MARK.sub(f"<{GAP}", text))


def settled(markdown: str) -> str:
    """Render the part of an unfinished text that is final, without what may become a mention."""
    bare = markdown.rstrip()
    if len(bare) == len(markdown):
        begun = _BEGUN.search(bare, max(0, len(bare) - _MAX_BEGUN))
        bare = bare[: begun.start()] if begun else bare
    return neutral(bare).lstrip()


def size(markdown: str) -> int:
    """Return the size of a rendered text in UTF-16 units, the largest that Slack could mean."""
    text = neutral(markdown)
    return len(text) + sum(char > "\uffff" for char in text)


def plain(markdown: str) -> str:
    """Return a plain text, for a server that takes no Markdown."""
    return escape(to_text(neutral(markdown))).strip()[:LIMIT] or EMPTY
