"""What the people of a room call it: each title is an event on the tape, the newest one counts."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from channels.errors import InboundRefused
from gateway.services import Services
from tape.entry import EVENT, Entry, event, utc_iso
from tape.unit_of_work import Unit

TITLED: Final = "room.title"
MAX_TITLES: Final = 20
"""Maximum titles that one person gives a room within a day: each is kept for good."""

TOO_MANY: Final = f"You have changed the title {MAX_TITLES} times within a day: try again tomorrow."


async def title_of(services: Services, session_id: str) -> tuple[str, int]:
    """Return a room's title, "" without one, and the number of the entry that gave it."""
    rows = await services.store.select("ledger.title", {"session_id": session_id})
    return (str(rows[0]["title"]), int(rows[0]["entry_id"])) if rows else ("", 0)


async def give_title(
    services: Services, session_id: str, title: str, channel: str, person: str
) -> tuple[str, int]:
    """Give a room a title, or take it with ""; return what `title_of` returns from then on.

    Raises InboundRefused for too many changes.
    """
    known = await title_of(services, session_id)
    if known[0] == title:
        return known
    tape = services.tapes.session_tape(session_id)
    since = utc_iso(services.clock.now() - timedelta(days=1))
    entries = await tape.find(kinds=(EVENT,), name=TITLED, since=since)
    if sum(_author(entry) == person for entry in entries) >= MAX_TITLES:
        raise InboundRefused(TOO_MANY)
    unit = Unit()
    given = unit.append(tape.name, [event(TITLED, {"title": title, "author": person})])
    unit.run(
        "ledger.give_title",
        session_id=session_id,
        title=title,
        person=f"{channel}:{person}",
        entry_id=given,
    )
    await services.guard.once(lambda: services.store.commit(unit))
    return await title_of(services, session_id)


def _author(entry: Entry) -> str:
    data = entry.payload.get("data")
    return str(data.get("author", "")) if isinstance(data, dict) else ""
