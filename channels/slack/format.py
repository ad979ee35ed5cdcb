"""Renders Markdown for Slack so that it alerts nobody.

Slack renders headings, lists, tables, code, quotes and links itself. What Slack does not render
(raw HTML, footnotes, formulas) stays readable as text; simple formulas are written with signs.
https://docs.slack.dev/reference/block-kit/blocks/markdown-block
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from channels.markdown.render import is_visible, to_text
from channels.markdown.signs import decided, with_signs
from channels.markdown.split import first
from channels.message import Button
from channels.slack.drawing import counted, drawn, pings, quiet, settled_part, without_begun_ping
from channels.slack.growing import ended_of, growing, units_of
from channels.slack.mrkdwn import escape

LIMIT: Final = 9_000
"""Maximum characters that we send; Slack allows 12,000, but we add invisible characters."""

MAX_BLOCKS: Final = 44
"""Maximum blocks that we have Slack make of a text: each heading, list, table, code, paragraph.

Slack refuses more than 50, and more than one table.
https://docs.slack.dev/reference/block-kit/blocks/table-block
"""

MAX_SECTION: Final = 3_000
MAX_LABEL: Final = 75
MAX_EDIT: Final = 4_000
"""Maximum characters of the text of an edit with blocks; the blocks hold the whole text."""

ACTION: Final = "tapeway."  # what the ids of our buttons begin with
EMPTY: Final = "(The answer has no visible text.)"

_UNFIT: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")


def render(markdown: str) -> str:
    """Return a text that alerts nobody and is never empty."""
    shown = neutral(markdown).strip()
    return shown if is_visible(shown) else EMPTY


def neutral(markdown: str) -> str:
    """Return Markdown that alerts nobody: an invisible character breaks each mention.

    Slack finds none in code, in a link and in an address, which stay as they were. What Slack would
    take for a mark, and is none, is escaped. A prefix of the text gives a prefix of the result,
    unless the prefix ends inside what it depends on; see `settled`.
    """
    text = with_signs(_cleaned(markdown))
    found = growing(text)
    return found.form() if found is not None else drawn(text, pings(text))


def _cleaned(markdown: str) -> str:
    """Return a text without characters that Slack refuses; what was drawn before has none."""
    start = ended_of(markdown)
    rest = markdown[start:]
    clean = _UNFIT.sub("", rest.replace("\r\n", "\n"))
    return markdown if clean == rest else markdown[:start] + clean


def settled(markdown: str) -> str:
    """Render the part of an unfinished text whose form depends on nothing that may follow."""
    text = _cleaned(markdown)
    bare = text.rstrip()
    if len(bare) == len(markdown):
        bare = without_begun_ping(bare)
    bare = with_signs(decided(bare))
    found = growing(bare)
    shown = found.settled() if found is not None else settled_part(bare, pings(bare))
    return shown.lstrip()


def begun(markdown: str) -> str:
    """Return what the first message of an unfinished text can have of it."""
    # Each character is at most two units, with what is put before it.
    short = 2 * len(markdown) <= LIMIT
    measured = _size_of_blocks(_cleaned(markdown)) if short else size(markdown)
    return markdown if measured <= LIMIT else first(markdown, LIMIT, size)


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
    """Return a rendered text's size in UTF-16 units, the largest of the counts Slack may use.

    It is more than LIMIT for what Slack would make too many blocks of, or more than one table.
    """
    text = _cleaned(markdown)
    found = growing(text)
    units = found.units() if found is not None else units_of(drawn(text, pings(text)))
    return max(units, _size_of_blocks(text))


def _size_of_blocks(text: str) -> int:
    """Return the size of a text if only its blocks and tables count."""
    if text.count("\n") < MAX_BLOCKS and text.count("|") < 2:
        return 0
    found = growing(text)
    count = found.total() if found is not None else counted(text.strip())
    return max(
        -(-count.most * LIMIT // MAX_BLOCKS), count.tables * LIMIT if count.tables > 1 else 0
    )


def plain(markdown: str) -> str:
    """Return the text without Markdown, for a server that accepts no Markdown."""
    text = to_text(_cleaned(markdown))  # what was code looks like anything else there
    return escape(quiet(text)).strip()[:LIMIT] or EMPTY
