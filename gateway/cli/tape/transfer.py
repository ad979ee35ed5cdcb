"""Export, import, follow and reindex tapes: what takes a while."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio

from gateway.cli.admin_client import AdminClient, open_admin
from gateway.cli.table import print_json
from gateway.cli.tape.actions import TALK, print_entries, read_entries
from gateway.cli.tape.render import Transcript
from gateway.errors import GatewayError
from gateway.home import find_running
from gateway.printing import print_err, print_out, print_words
from gateway.settings import Settings
from gateway.wording import counted

PAGE: Final = 1_000
FOLLOW_FIRST: Final = 10
FOLLOW_SECONDS: Final = 0.5
INDEX_SECONDS: Final = 0.1


async def reindex(settings: Settings) -> int:
    async with open_admin(settings) as admin:
        state = await admin.call("tapes.reindex")
        while not state["ready"] and not state["problem"]:
            _progress(f"{counted(state['left'], 'older entry', 'older entries')} left")
            await anyio.sleep(INDEX_SECONDS)
            state = await admin.call("tapes.index_state")
    _progress("")
    if state["problem"]:
        raise GatewayError(state["problem"])
    print_out("the word index is rebuilt")
    return 0


async def export(settings: Settings, name: str, target: str) -> int:
    if target == "-":
        return await _export(settings, name, partial(print_words, end=""))
    with Path(target).open("x", encoding="utf-8") as out:  # noqa: ASYNC230 - nothing else runs
        try:
            return await _export(settings, name, out.write)
        except BaseException:
            Path(target).unlink()  # noqa: ASYNC240
            raise


async def _export(settings: Settings, name: str, write: Callable[[str], object]) -> int:
    async with open_admin(settings) as admin:
        tape = await admin.call("tapes.find", name=name)
        count = await _write_all(admin, tape, write)
    _progress("")
    print_err(f"{counted(count, 'entry', 'entries')} of {tape}")
    return 0


async def _write_all(admin: AdminClient, tape: str, write: Callable[[str], object]) -> int:
    # Entries that arrive during the export are included.
    where = {"after": 0, "limit": PAGE}
    while page := await admin.call("tapes.entries", tape=tape, where=where):
        for entry in page:
            write(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n")
        where["after"] = int(page[-1]["id"])
        _progress(counted(where["after"], "entry", "entries"))
    return where["after"]


async def follow(settings: Settings, name: str, show_all: bool, as_json: bool) -> int:
    if find_running(settings.home_path) is None:
        raise GatewayError(
            "no gateway is running on this home, so its tapes get no new entries: start one with"
            " `tapeway gateway`"
        )
    async with open_admin(settings) as admin:
        tape = await admin.call("tapes.find", name=name)
        kinds = {} if show_all or as_json else TALK
        where: dict[str, Any] = {"limit": FOLLOW_FIRST, "newest": True, **kinds}
        after, transcript = 0, Transcript()
        while True:
            page = await read_entries(admin, tape, where)
            print_entries(page, transcript, as_json)
            after = int(page[-1]["id"]) if page else after
            sys.stdout.flush()
            if len(page) < PAGE:
                await anyio.sleep(FOLLOW_SECONDS)
            where = {"after": after, "limit": PAGE, **kinds}


async def import_file(
    settings: Settings, file: str, session: str, tape: str, dry_run: bool, as_json: bool
) -> int:
    async with open_admin(settings) as admin:
        last: dict[str, Any] = {}
        path = Path(file).absolute()  # noqa: ASYNC240 - nothing else runs
        path.open("rb").close()
        async for last in admin.import_tape(path, session, tape, dry_run=dry_run):
            if "doing" in last:
                total = f" of {last['of']}" if last["doing"] != "reading" else ""
                _progress(f"{last['doing']}: {last['done']}{total} lines")
    _progress("")
    if as_json:
        print_json(last)
    else:
        _print_report(last, dry_run)
    return 0


def _print_report(result: dict[str, Any], dry_run: bool) -> None:
    report = result["report"]
    for repair, count in report["mended"].items():
        lines = report["where"][repair]
        shown = ", ".join(map(str, lines)) + (" ..." if count > len(lines) else "")
        print_out(f"{count:>8}  {repair} (line {shown})")
    there = f", {result['there']} of them there already" if result["there"] else ""
    rest = report["size"] - result["there"]
    done = f"{rest} would be imported" if dry_run else f"{result['added']} imported"
    size = counted(report["size"], "entry", "entries")
    print_out(f"{counted(report['lines'], 'line')}, {size}{there}: {done}")


def _progress(text: str) -> None:
    # A single line, overwritten by each new one.
    if sys.stderr.isatty():
        print_err(f"\r\x1b[K{text}", end="")
