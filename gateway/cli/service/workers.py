"""`tapeway workers`: list the processes that share a database, and where they differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from gateway.cli.screen import print_note
from gateway.cli.table import print_json, print_table
from gateway.settings import Settings
from gateway.wording import counted

if TYPE_CHECKING:
    from gateway.doctor.overview import ProcessView

NAMES: Final = ("process", "role", "version", "since", "seen", "sessions", "turns", "receives")
ALONE: Final = (
    "The tapes are on this machine, so one process does everything. Several processes need"
    " PostgreSQL: set TAPEWAY_TAPE__URL=postgresql://..."
)


def show_workers(settings: Settings, as_json: bool) -> int:
    if not settings.tape_url.startswith("postgresql:"):
        if as_json:
            print_json({"shared": False, "processes": [], "differences": [], "overdue": []})
        else:
            print_note(ALONE)
        return 0
    found = import_module("gateway.doctor.overview").look_over(settings.tape_url)
    overdue = [{"kind": kind, "name": name} for kind, name in found.overdue]
    if as_json:
        shown = [_in_json(one) for one in found.processes]
        rest = {"differences": found.differences(), "overdue": overdue}
        print_json({"shared": True, "processes": shown, **rest})
        return 0
    rows = [_row(one) for one in found.processes]
    print_table(NAMES, rows, empty="No process uses the database.", fill="process")
    for sentence in found.differences():
        print_note(f"{sentence}.")
    for late in overdue:
        print_note(f"The {late['kind']} {late['name']} waits for a process that takes it over.")
    return 0


def _row(one: ProcessView) -> Mapping[str, Any]:
    return {
        "process": one.name,
        "role": one.role,
        "version": one.version,
        "since": one.started_at[:16].replace("T", " "),
        "seen": f"{counted(int(one.silent), 'second')} ago",
        "sessions": str(one.sessions),
        "turns": str(one.turns),
        "receives": ", ".join(one.channels),
    }


def _in_json(one: ProcessView) -> Mapping[str, Any]:
    return {**asdict(one), "name": one.name, "live": one.is_live}
