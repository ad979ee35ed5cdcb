"""List, print, search, export, import and follow tapes."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import IO, Any, Final
from urllib.parse import urlencode

import anyio

from gateway.cli.admin_client import AdminClient, open_admin
from gateway.cli.table import print_line, print_table
from gateway.cli.tape.render import as_text, prompt_text
from gateway.errors import GatewayError
from gateway.home import find_running
from gateway.settings import Settings

COLUMNS: Final = ("session", "tape", "entries", "newest")
PAGE: Final = 1_000
FOLLOW_FIRST: Final = 10
FOLLOW_SECONDS: Final = 0.5
INDEX_SECONDS: Final = 0.1


async def show_list(settings: Settings) -> int:
    async with open_admin(settings) as admin:
        rows = sorted(await admin.call("tapes.tapes"), key=lambda row: str(row["newest"]))
    print_table(COLUMNS, ({**row, "newest": row["newest"][:19]} for row in rows))
    return 0


async def show_entries(settings: Settings, name: str, where: dict[str, Any], as_json: bool) -> int:
    async with open_admin(settings) as admin:
        tape = await admin.call("tapes.find", name=name)
        where = {**where, "newest": True}
        for entry in await admin.call("tapes.entries", tape=tape, where=where):
            _print(entry, as_json)
    return 0


async def show_prompts(settings: Settings, name: str, turn: str, as_json: bool) -> int:
    async with open_admin(settings) as admin:
        tape = await admin.call("tapes.find", name=name)
        found = await admin.call("tapes.prompts", tape=tape, turn=turn)
    for shown in found:
        print_line(json.dumps(shown, ensure_ascii=False) if as_json else prompt_text(shown))
    if not found:
        print("(this turn called no model)", file=sys.stderr)
    return 0


async def search(
    settings: Settings, name: str, text: str, how: dict[str, Any], as_json: bool
) -> int:
    async with open_admin(settings) as admin:
        tape = await admin.call("tapes.find", name=name)
        found = await admin.call("tapes.search", tape=tape, text=text, how=how)
    for entry in found:
        _print(entry, as_json)
    if not found:
        print("(nothing)", file=sys.stderr)
    return 0


async def reindex(settings: Settings) -> int:
    async with open_admin(settings) as admin:
        state = await admin.call("tapes.reindex")
        while not state["ready"] and not state["problem"]:
            _progress(f"{state['left']} older entries left")
            await anyio.sleep(INDEX_SECONDS)
            state = await admin.call("tapes.index_state")
    _progress("")
    if state["problem"]:
        raise GatewayError(state["problem"])
    print_line("the word index is rebuilt")
    return 0


async def export(settings: Settings, name: str, target: str) -> int:
    if target == "-":
        return await _export(settings, name, sys.stdout)
    with Path(target).open("x", encoding="utf-8") as out:  # noqa: ASYNC230 - nothing else runs
        try:
            return await _export(settings, name, out)
        except BaseException:
            Path(target).unlink()  # noqa: ASYNC240
            raise


async def _export(settings: Settings, name: str, out: IO[str]) -> int:
    async with open_admin(settings) as admin:
        tape = await admin.call("tapes.find", name=name)
        count = await _write_all(admin, tape, out)
    _progress("")
    print(f"{count} entries of {tape}", file=sys.stderr)
    return 0


async def _write_all(admin: AdminClient, tape: str, out: IO[str]) -> int:
    # Entries that arrive during the export are included.
    where = {"after": 0, "limit": PAGE}
    while page := await admin.call("tapes.entries", tape=tape, where=where):
        for entry in page:
            out.write(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n")
        where["after"] = int(page[-1]["id"])
        _progress(f"{where['after']} entries")
    return where["after"]


async def rewind(settings: Settings, name: str, to: str, room: str) -> int:
    async with open_admin(settings) as admin:
        tape = await admin.call("tapes.find", name=name)
        done = await admin.call("tapes.rewind", tape=tape, to=to, room=room)
    anchor = f"{done['anchor']} (entry {done['at']})"
    if room:
        print_line(f"the room {room} begins with {done['entries']} entries, up to {anchor}")
        running = find_running(settings.home_path)
        print_line(f"open {running.url if running else '/'}?{urlencode({'room': room})}")
    else:
        print_line(f"views now go on from {anchor}; what came after it stays on the tape")
    return 0


async def follow(settings: Settings, name: str, as_json: bool) -> int:
    if find_running(settings.home_path) is None:
        raise GatewayError("no gateway is running on this home, so its tapes get no new entries")
    async with open_admin(settings) as admin:
        tape = await admin.call("tapes.find", name=name)
        where = {"limit": FOLLOW_FIRST, "newest": True}
        after = 0
        while True:
            page = await admin.call("tapes.entries", tape=tape, where=where)
            for entry in page:
                _print(entry, as_json)
                after = int(entry["id"])
            sys.stdout.flush()
            if len(page) < PAGE:
                await anyio.sleep(FOLLOW_SECONDS)
            where = {"after": after, "limit": PAGE}


async def import_file(settings: Settings, file: str, session: str, tape: str, dry_run: bool) -> int:
    async with open_admin(settings) as admin:
        last: dict[str, Any] = {}
        path = await anyio.Path(file).absolute()
        async with await anyio.open_file(path, "rb"):  # report problems with the file first
            pass
        async for last in admin.import_tape(Path(path), session, tape, dry_run=dry_run):
            if "doing" in last:
                total = f" of {last['of']}" if last["doing"] != "reading" else ""
                _progress(f"{last['doing']}: {last['done']}{total} lines")
    _progress("")
    _print_report(last, dry_run)
    return 0


def _print_report(result: dict[str, Any], dry_run: bool) -> None:
    report = result["report"]
    for repair, count in report["mended"].items():
        lines = report["where"][repair]
        shown = ", ".join(map(str, lines)) + (" ..." if count > len(lines) else "")
        print_line(f"{count:>8}  {repair} (line {shown})")
    there = f", {result['there']} of them were there already" if result["there"] else ""
    rest = report["size"] - result["there"]
    done = f"{rest} would be imported" if dry_run else f"{result['added']} are imported"
    print_line(f"{report['lines']} lines, {report['size']} entries{there}: {done}")


def _print(entry: dict[str, Any], as_json: bool) -> None:
    print_line(json.dumps(entry, ensure_ascii=False) if as_json else as_text(entry))


def _progress(text: str) -> None:
    # A single line, overwritten by each new one.
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
