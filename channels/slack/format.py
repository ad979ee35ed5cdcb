"""Markdown as Slack takes it: standard Markdown, in which nobody can be pinged.

Slack draws headings, lists, tables, code, quotes and links by itself; what it does not draw (raw
HTML, footnotes, formulas) stays readable as the text that it is.
https://docs.slack.dev/reference/block-kit/blocks/markdown-block
"""

from __future__ import annotations

import re
from typing import Final

from channels.markdown.render import to_text
from channels.slack.mrkdwn import escape

MOST: Final = 12_000
"""So many characters Slack takes at once."""

LIMIT: Final = 9_000
"""So many are sent: Slack does not say what it counts as one, and invisible ones come on top."""

EMPTY: Final = "(an answer without visible text)"
GAP: Final = "\u200b"
"""Breaks a mention, and is not seen."""

_MARK: Final = re.compile(r"<(?=!(?:here|channel|everyone|group|subteam)|@[UWB]|@S)", re.IGNORECASE)
_WORD: Final = re.compile(r"@(?=(?:here|channel|everyone|group)(?![^\W_]))", re.IGNORECASE)
_BEGUN: Final = re.compile(r"(?:<[!@]?\w{0,8}|@\w{0,8})\Z")
_LONGEST_BEGUN: Final = 10
_UNFIT: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_INVISIBLE: Final = re.compile(
    r"[\s\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0]+"
)


def render(markdown: str) -> str:
    """Return a text as it is sent: nobody is pinged by it, and there is something to see."""
    drawn = neutral(markdown).strip()
    return drawn if shows(drawn) else EMPTY


def neutral(markdown: str) -> str:
    """Return Markdown in which nobody can be pinged; what is invisible breaks the mentions.

    The beginning of a longer text is the beginning of its result, if nothing in it is `begun`.
    """
    text = _UNFIT.sub("", markdown.replace("\r\n", "\n"))
    return _WORD.sub(f"@{GAP}", _MARK.sub(f"<{GAP}", text))


def settled(markdown: str) -> str:
    """Return what will not change of a text that is still being written, as it is sent.

    What may be the beginning of a mention is kept back.
    """
    bare = markdown.rstrip()
    if len(bare) == len(markdown):
        begun = _BEGUN.search(bare, max(0, len(bare) - _LONGEST_BEGUN))
        bare = bare[: begun.start()] if begun else bare
    return neutral(bare).lstrip()


def shows(text: str) -> bool:
    """Tell whether there is anything to see."""
    return _INVISIBLE.sub("", text) != ""


def size(markdown: str) -> int:
    """Return the size of a text as it is sent, in the largest unit that Slack could mean."""
    text = neutral(markdown)
    return len(text) + sum(char > "\uffff" for char in text)


def plain(markdown: str) -> str:
    """Return a text without any form, for a server that takes no Markdown."""
    return escape(to_text(neutral(markdown))).strip()[:LIMIT] or EMPTY
