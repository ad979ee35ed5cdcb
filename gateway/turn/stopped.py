"""What a stopped turn leaves: the text so far, marked as stopped and by whom."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from channels.markdown.autoclose import add_paragraph
from channels.message import OutboundMessage

STOPPED: Final = "Stopped."  # the notice where nothing was said yet
MAX_NAME_CHARACTERS: Final = 60
_UNFIT: Final = re.compile(r"[^\w '-]+")


def stop_mark(stopped_by: Mapping[str, Any]) -> str:
    """Return the last paragraph of a stopped answer; the name is neither Markdown nor a ping."""
    name = " ".join(_UNFIT.sub(" ", str(stopped_by.get("name", ""))).split())
    return f"*Stopped by {name[:MAX_NAME_CHARACTERS].strip()}.*" if name else "*Stopped.*"


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
