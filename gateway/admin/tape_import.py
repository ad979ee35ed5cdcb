"""Run an import and yield its progress, then its report."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, Final

from gateway.admin.tape_admin import TapeAdmin
from tape.importing.importer import Import, ImportReport

PROGRESS_SECONDS: Final = 0.5  # between two notes of progress

Progress = dict[str, Any]


async def import_tape(
    admin: TapeAdmin, path: Path, session: str, tape: str, *, dry_run: bool
) -> AsyncIterator[Progress]:
    """Import a file; yield `{doing, done, of}` now and then, finally `{report, added, there}`.

    Raises AdminError or TapeError with nothing imported.
    """
    work = admin.import_to(path, session, tape)
    # A task, not a group: the reader may stop at any time, and in another task.
    running = asyncio.create_task(_done(admin, work, session, dry_run=dry_run))
    try:
        while not (await asyncio.wait({running}, timeout=PROGRESS_SECONDS))[0]:
            yield {"doing": work.doing, "done": work.done, "of": work.report.lines}
        yield running.result()
    finally:
        running.cancel()


async def _done(admin: TapeAdmin, work: Import, session: str, *, dry_run: bool) -> Progress:
    report = await work.examine()
    added = 0 if dry_run else await work.write()
    if not dry_run:
        await admin.know(session)
    return {"report": _as_dict(report), "added": added, "there": work.existing}


def _as_dict(report: ImportReport) -> Progress:
    return {
        "lines": report.lines,
        "entries": report.entries,
        "size": report.size,
        "left_out": report.left_out,
        "mended": report.mended,
        "where": report.where,
    }
