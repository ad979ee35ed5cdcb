"""An import told of while it goes on: how far it is, then what was mended."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

from gateway.admin.tape_admin import TapeAdmin
from tape.importing.importer import Import, ImportReport

TELL_SECONDS: Final = 0.5

Told = dict[str, Any]


async def told_import(
    desk: TapeAdmin, path: Path, session: str, tape: str, *, dry_run: bool
) -> AsyncIterator[Told]:
    """Import a file; gives `{doing, done, of}` now and then, at last `{report, added, there}`.

    Raises DeskRefused or TapeError with nothing imported.
    """
    work = desk.import_to(path, session, tape)
    # A task and no group: whoever reads this may stop at any time, and in another task.
    running = asyncio.create_task(_done(desk, work, session, dry_run=dry_run))
    try:
        while not (await asyncio.wait({running}, timeout=TELL_SECONDS))[0]:
            yield {"doing": work.doing, "done": work.done, "of": work.report.lines}
        yield running.result()
    finally:
        running.cancel()


async def _done(desk: TapeAdmin, work: Import, session: str, *, dry_run: bool) -> Told:
    report = await work.examine()
    added = 0 if dry_run else await work.write()
    if not dry_run:
        await desk.know(session)
    return {"report": _as_dict(report), "added": added, "there": work.existing}


def _as_dict(report: ImportReport) -> Told:
    return {
        "lines": report.lines,
        "entries": report.entries,
        "size": report.size,
        "left_out": report.left_out,
        "mended": report.mended,
        "where": report.where,
    }
