"""Name the conversations of a tape by who began them, and with which words."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import Any, Final

from gateway.console.reads import ConsoleReads
from gateway.console.said import excerpt, is_ours, shown_text, without_gone
from tape.entry import MESSAGE

MAX_LANES: Final = 40  # maximum lanes that are named at once
LOOKED_AT: Final = 3  # messages of a lane of which the first that is not deleted names it


async def lane_names(
    reads: ConsoleReads, name: str, lanes: Iterable[str]
) -> dict[str, dict[str, Any]]:
    """Map lanes to the `entry` that began them, `who` wrote it, and the beginning of its `text`.

    A lane whose first messages are deleted, or that the agent began, has no name.
    """
    tape, wanted = reads.tape(name), list(dict.fromkeys(lanes))[:MAX_LANES]
    first = [await tape.find(lane=one, kinds=(MESSAGE,), limit=LOOKED_AT) for one in wanted]
    shown = {one.id: one for one in await without_gone(tape, chain.from_iterable(first))}
    named: dict[str, dict[str, Any]] = {}
    for lane, entries in zip(wanted, first, strict=True):
        said = (shown[one.id] for one in entries if one.id in shown and not is_ours(one))
        if (found := next(said, None)) is not None:
            who = str(found.meta.get("name") or found.meta.get("author") or "")
            named[lane] = {"entry": found.id, "who": who, "text": excerpt(shown_text(found))}
    return named
