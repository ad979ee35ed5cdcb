"""What a stopped turn leaves: the text so far, marked as stopped and by whom."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import anyio.to_thread

from channels.markdown.autoclose import add_paragraph
from channels.message import OutboundMessage

STOPPED: Final = "Stopped."  # the notice where nothing was said yet
LOST: Final = {"why": "lost"}  # another process goes on with the turn
MAX_NAME_CHARACTERS: Final = 60
MAX_INLINE_CHARACTERS: Final = 4_000
_UNFIT: Final = re.compile(r"[^\w '-]+")


def stop_mark(stopped_by: Mapping[str, Any]) -> str:
    """Return the last paragraph of a stopped answer; the name is neither Markdown nor a ping."""
    name = " ".join(_UNFIT.sub(" ", str(stopped_by.get("name", ""))).split())
    return f"*Stopped by {name[:MAX_NAME_CHARACTERS].strip()}.*" if name else "*Stopped.*"


async def mark_stopped(
    sends: Sequence[OutboundMessage], text: str, stopped_by: Mapping[str, Any]
) -> tuple[list[OutboundMessage], str | None]:
    """Return the messages that have text, and the final message if there are any: both marked."""

    def marked() -> tuple[list[OutboundMessage], str | None]:
        kept = mark_last(sends, stopped_by)
        return kept, mark_final(text, stopped_by) if kept else None

    if max(len(text), *(len(send.text) for send in sends), 0) < MAX_INLINE_CHARACTERS:
        return marked()
    # Some Markdown takes long to parse: other chats must not wait.
    return await anyio.to_thread.run_sync(marked)


def mark_final(text: str, stopped_by: Mapping[str, Any]) -> str:
    """Return the final message of a stopped turn: its last step's text, with the mark."""
    mark = stop_mark(stopped_by)
    return add_paragraph(text.lstrip(), mark) if text.strip() else mark


def mark_last(
    sends: Sequence[OutboundMessage], stopped_by: Mapping[str, Any]
) -> list[OutboundMessage]:
    """Return the messages that have text, the last one with the mark."""
    kept = [send for send in sends if send.text.strip()]
    if kept:
        kept[-1] = replace(kept[-1], text=add_paragraph(kept[-1].text, stop_mark(stopped_by)))
    return kept
