"""`tapeway tape`: through the running gateway, or on the store where none runs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Coroutine
from functools import partial
from pathlib import Path
from typing import IO, Any, Final, ParamSpec

import anyio

from gateway.cli.tape_client import Line, Tapes, open_tapes
from gateway.cli.tape_render import as_text, prompt_text
from gateway.errors import GatewayError
from gateway.home import find_running
from gateway.settings import Settings

P = ParamSpec("P")

COLUMNS: Final = ("session", "tape", "entries", "newest")
PAGE: Final = 1_000
FOLLOW_FROM: Final = 10
FOLLOW_SECONDS: Final = 0.5
INDEX_SECONDS: Final = 0.1


def show_list(settings: Settings) -> int:
    """Print every tape as a table, the one with the newest entry last."""
    return _run(_list, settings)


def show_entries(settings: Settings, name: str, where: dict[str, Any], as_json: bool) -> int:
    """Print the entries that the conditions leave."""
    return _run(_show, settings, name, where, as_json)


def show_prompts(settings: Settings, name: str, turn: str, as_json: bool) -> int:
    """Print what each model call of a turn was shown."""
    return _run(_show_prompts, settings, name, turn, as_json)


def search(settings: Settings, name: str, text: str, how: dict[str, Any], as_json: bool) -> int:
    """Print what a search finds, the newest first or the best first."""
    return _run(_search, settings, name, text, how, as_json)


def reindex(settings: Settings) -> int:
    """Make the index of words anew, and tell how far it is until it is made."""
    return _run(_reindex, settings)


def export(settings: Settings, name: str, target: str) -> int:
    """Write a tape as JSONL to a file that is not there yet, or to standard output."""
    if target == "-":
        return _run(_export, settings, name, sys.stdout)
    with Path(target).open("x", encoding="utf-8") as out:
        try:
            return _run(_export, settings, name, out)
        except BaseException:
            Path(target).unlink()
            raise


def follow(settings: Settings, name: str, as_json: bool) -> int:
    """Print entries as they come, until Ctrl-C."""
    if find_running(settings.home_path) is None:
        raise GatewayError("no gateway runs on this home, so nothing comes on its tapes")
    return _run(_follow, settings, name, as_json)


def take_in(settings: Settings, file: str, session: str, tape: str, dry_run: bool) -> int:
    """Import a file and tell what was mended."""
    return _run(_import, settings, file, session, tape, dry_run)


def _run(work: Callable[P, Coroutine[Any, Any, int]], *given: P.args, **more: P.kwargs) -> int:
    """Run a command; whoever reads its output may stop reading at any time."""
    try:
        code = anyio.run(partial(work, *given, **more))
        sys.stdout.flush()
    except BrokenPipeError:
        # What is left in the buffer would be told of as an error when the process ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except BaseExceptionGroup as group:
        if group.split(BrokenPipeError)[1] is not None:
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code


def _say(line: str) -> None:
    try:
        sys.stdout.write(f"{line}\n")
    except UnicodeEncodeError:  # a terminal that knows few characters
        known = sys.stdout.encoding
        sys.stdout.write(f"{line.encode(known, 'backslashreplace').decode(known)}\n")


def _print(entry: Line, as_json: bool) -> None:
    _say(json.dumps(entry, ensure_ascii=False) if as_json else as_text(entry))


def _progress(text: str) -> None:
    """Tell a person how far it is, on one line that is written over."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


async def _list(settings: Settings) -> int:
    async with open_tapes(settings) as tapes:
        rows = sorted(await tapes.tapes(), key=lambda row: row["newest"])
    for row in rows:
        row["newest"] = row["newest"][:19]
    table = [COLUMNS, *([str(row[name]) for name in COLUMNS] for row in rows)]
    widths = [max(len(line[column]) for line in table) for column in range(len(COLUMNS))]
    for line in table:
        _say(
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        )
    if not rows:
        print("(nothing)", file=sys.stderr)
    return 0


async def _show(settings: Settings, name: str, where: dict[str, Any], as_json: bool) -> int:
    async with open_tapes(settings) as tapes:
        for entry in await tapes.entries(await tapes.find(name), {**where, "newest": True}):
            _print(entry, as_json)
    return 0


async def _show_prompts(settings: Settings, name: str, turn: str, as_json: bool) -> int:
    async with open_tapes(settings) as tapes:
        found = await tapes.prompts(await tapes.find(name), turn)
    for shown in found:
        _say(json.dumps(shown, ensure_ascii=False) if as_json else prompt_text(shown))
    if not found:
        print("(this turn called no model)", file=sys.stderr)
    return 0


async def _search(
    settings: Settings, name: str, text: str, how: dict[str, Any], as_json: bool
) -> int:
    async with open_tapes(settings) as tapes:
        found = await tapes.search(await tapes.find(name), text, how)
    for entry in found:
        _print(entry, as_json)
    if not found:
        print("(nothing)", file=sys.stderr)
    return 0


async def _reindex(settings: Settings) -> int:
    async with open_tapes(settings) as tapes:
        state = await tapes.reindex()
        while not state["ready"] and not state["problem"]:
            _progress(f"{state['left']} older entries are left")
            await anyio.sleep(INDEX_SECONDS)
            state = await tapes.index_state()
    _progress("")
    if state["problem"]:
        raise GatewayError(state["problem"])
    _say("the index of words is made anew")
    return 0


async def _export(settings: Settings, name: str, out: IO[str]) -> int:
    async with open_tapes(settings) as tapes:
        tape = await tapes.find(name)
        count = await _write_all(tapes, tape, out)
    _progress("")
    print(f"{count} entries of {tape}", file=sys.stderr)
    return 0


async def _write_all(tapes: Tapes, tape: str, out: IO[str]) -> int:
    """Write the entries page by page; what comes meanwhile is written as well."""
    after = 0
    while page := await tapes.entries(tape, {"after": after, "limit": PAGE}):
        for entry in page:
            out.write(json.dumps(entry, ensure_ascii=False, separators=(",", ":")) + "\n")
        after = int(page[-1]["id"])
        _progress(f"{after} entries")
    return after


async def _follow(settings: Settings, name: str, as_json: bool) -> int:
    async with open_tapes(settings) as tapes:
        tape = await tapes.find(name)
        page = await tapes.entries(tape, {"limit": FOLLOW_FROM, "newest": True})
        after = 0
        while True:
            for entry in page:
                _print(entry, as_json)
                after = int(entry["id"])
            sys.stdout.flush()
            if len(page) < PAGE:
                await anyio.sleep(FOLLOW_SECONDS)
            page = await tapes.entries(tape, {"after": after, "limit": PAGE})


async def _import(settings: Settings, file: str, session: str, tape: str, dry_run: bool) -> int:
    async with open_tapes(settings) as tapes:
        told: dict[str, Any] = {}
        path = await anyio.Path(file).absolute()
        async with await anyio.open_file(path, "rb"):  # an error of the file comes first
            pass
        async for told in tapes.take_in(Path(path), session, tape, dry_run=dry_run):
            if "doing" in told:
                of = f" of {told['of']}" if told["doing"] != "reading" else ""
                _progress(f"{told['doing']}: {told['done']}{of} lines")
    _progress("")
    _tell(told, dry_run)
    return 0


def _tell(told: dict[str, Any], dry_run: bool) -> None:
    report = told["report"]
    for what, count in report["mended"].items():
        lines = report["where"][what]
        shown = ", ".join(map(str, lines)) + (" ..." if count > len(lines) else "")
        _say(f"{count:>8}  {what} (line {shown})")
    there = f", {told['there']} of them were there already" if told["there"] else ""
    rest = report["size"] - told["there"]
    done = f"{rest} would be imported" if dry_run else f"{told['added']} are imported"
    _say(f"{report['lines']} lines, {report['size']} entries{there}: {done}")
