"""List, show, search and rewind tapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from gateway.cli.admin_client import AdminClient, open_admin
from gateway.cli.screen import print_note, safe, short_time
from gateway.cli.table import print_json, print_table
from gateway.cli.tape.render import CHANGES, SPOKEN, Transcript, hit_line, prompt_text
from gateway.home import find_running
from gateway.printing import print_out, print_words
from gateway.wording import counted

if TYPE_CHECKING:
    from gateway.cli.reach.known_home import KnownHome
    from gateway.settings import Settings

COLUMNS: Final = ("newest", "entries", "session or tape", "chat")
EMPTY: Final = (
    "There is no tape yet: a chat gets one with its first message. Try `tapeway chat`, or invite"
    " the bot to a group."
)
TALK: Final = {"kinds": list(SPOKEN)}
NOTHING_SHOWN: Final = "Nothing on this tape meets the conditions: leave some out, or add --all."
NOTHING_FOUND: Final = (
    "Nothing was found. An entry must contain every word; events are searched with --kind event."
)


async def show_list(settings: Settings | KnownHome, as_json: bool) -> int:
    async with open_admin(settings) as admin:
        found = await admin.call("tapes.tapes")
    rows = sorted(found, key=lambda row: str(row["newest"]), reverse=True)
    if as_json:
        for row in rows:
            print_json(row)
        return 0
    shown = [
        {**row, "newest": short_time(row["newest"]), COLUMNS[2]: row["session"] or row["tape"]}
        for row in rows
    ]
    print_table(COLUMNS, shown, empty=EMPTY)
    return 0


async def show_entries(
    settings: Settings | KnownHome, name: str, where: dict[str, Any], show_all: bool, as_json: bool
) -> int:
    if not (show_all or as_json or "kinds" in where):
        where = {**where, **TALK}
    async with open_admin(settings) as admin:
        tape = await admin.call("tapes.find", name=name)
        found = await read_entries(admin, tape, {**where, "newest": True})
    print_entries(found, Transcript(), as_json)
    if not found and not as_json:
        print_note(NOTHING_SHOWN)
    return 0


async def show_prompts(settings: Settings | KnownHome, name: str, turn: str, as_json: bool) -> int:
    async with open_admin(settings) as admin:
        tape = await admin.call("tapes.find", name=name)
        found = await admin.call("tapes.prompts", tape=tape, turn=turn)
    for shown in found:
        if as_json:
            print_json(shown, words=True)
        else:
            print_words(prompt_text(shown))
    if not found:
        print_note("This turn called no model.")
    return 0


async def search(
    settings: Settings | KnownHome, name: str, text: str, how: dict[str, Any], as_json: bool
) -> int:
    async with open_admin(settings) as admin:
        tape = await admin.call("tapes.find", name=name)
        found = await admin.call("tapes.search", tape=tape, text=text, how=how)
    for entry in found:
        if as_json:
            print_json(entry, words=True)
        else:
            print_words(hit_line(entry, text))
    if not found and not as_json:
        print_note(NOTHING_FOUND)
    return 0


async def rewind(
    settings: Settings | KnownHome, name: str, to: str, room: str, as_json: bool
) -> int:
    async with open_admin(settings) as admin:
        tape = await admin.call("tapes.find", name=name)
        done = await admin.call("tapes.rewind", tape=tape, to=to, room=room)
    if as_json:
        print_json(done)
        return 0
    anchor = safe(f"{done['anchor']} (entry {done['at']})")
    if room:
        shown = counted(done["entries"], "entry", "entries")
        print_out(f"the room {safe(room)} begins with {shown}, up to {anchor}")
        running = find_running(settings.home_path)
        print_out(f"open {running.url if running else '/'}?{urlencode({'room': room})}")
    else:
        print_out(f"views now go on from {anchor}; what came later stays on the tape")
    return 0


async def read_entries(
    admin: AdminClient, tape: str, where: dict[str, Any]
) -> list[dict[str, Any]]:
    """Return entries that match; with the conditions of TALK, edits and deletions as well."""
    found: list[dict[str, Any]] = await admin.call("tapes.entries", tape=tape, where=where)
    if where.get("kinds") != TALK["kinds"] or not (found or "after" in where):
        return found
    after = where.get("after", found[0]["id"] if found else 0)
    changes = {**where, "kinds": ["event"], "names": list(CHANGES), "after": after}
    found += await admin.call("tapes.entries", tape=tape, where=changes)
    return sorted(found, key=lambda entry: int(entry["id"]))


def print_entries(entries: list[dict[str, Any]], transcript: Transcript, as_json: bool) -> None:
    """Print entries as a transcript that goes on, or as lines of JSON."""
    for entry in entries:
        if as_json:
            print_json(entry, words=True)
        else:
            print_words("\n".join(transcript.lines(entry)))
