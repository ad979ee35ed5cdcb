"""Run all checks side by side, each with a limit; an error in a check becomes a result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Final, TypeVar

import anyio

from channels.checkup import CheckResult, Checkup
from gateway.doctor import database_troubles, troubles
from gateway.doctor.checks.bots import with_known_bots
from gateway.doctor.checks.clock import check_clock
from gateway.doctor.checks.database import check_database, check_index
from gateway.doctor.checks.disk import check_disk, check_files
from gateway.doctor.checks.gateway import check_gateway, check_port
from gateway.doctor.checks.model import check_model
from gateway.doctor.checks.platforms import check_platform, enabled_platforms
from gateway.doctor.checks.plugins import check_plugins
from gateway.doctor.checks.settings import check_settings
from gateway.doctor.diagnosis import Diagnosis
from gateway.doctor.results import ill
from gateway.doctor.subject import Subject
from gateway.wording import safe
from tape.errors import MigrationMisnumbered

Check = Callable[[Subject], Awaitable[list[CheckResult]]]
T = TypeVar("T")

CHECKS: Final[Mapping[str, tuple[Check, float]]] = {
    "settings": (check_settings, 10),
    "files": (check_files, 10),
    "gateway": (check_gateway, 10),
    "port": (check_port, 5),
    "disk": (check_disk, 10),
    "database": (check_database, 30),
    "search": (check_index, 10),
    "plugins": (check_plugins, 30),
    "model": (check_model, 60),
}
"""Maps the checks in the report's order to what makes them and their maximum seconds."""

PLATFORM_SECONDS: Final = 30.0
BOTS_SECONDS: Final = 5.0
NEED_SETTINGS: Final = ("port", "search", "model")
"""Checks that make no sense with the defaults in place of wrong settings."""


async def examine(subject: Subject) -> Diagnosis:
    """Run every check, and return the diagnosis without secrets."""
    found: dict[str, list[CheckResult]] = {}
    checkups: dict[str, Checkup] = {}
    wanted = {n: c for n, c in CHECKS.items() if subject.known or n not in NEED_SETTINGS}
    platforms = enabled_platforms(subject.settings) if subject.known else []

    async def run(name: str, check: Check, seconds: float) -> None:
        seconds = float("inf") if subject.deep and name == "database" else seconds
        found[name] = await _limited(name, lambda: check(subject), seconds, lambda one: [one])

    async def ask(name: str) -> None:
        checkups[name] = await _limited(
            name,
            lambda: check_platform(name, subject.settings),
            PLATFORM_SECONDS,
            lambda one: Checkup(name, "", "", (one,)),
        )

    async with anyio.create_task_group() as group:
        for name, (check, seconds) in wanted.items():
            group.start_soon(run, name, check, seconds)
        for name in platforms:
            group.start_soon(ask, name)
    results = [one for name in wanted for one in found[name]]
    asked = [checkups[name] for name in platforms]
    with anyio.move_on_after(BOTS_SECONDS):  # what is known of the database says why
        asked = await with_known_bots(subject, asked)
    clock = check_clock([*results, *(one for checkup in asked for one in checkup.results)])
    return _redacted(subject, [*results, *clock], asked)


async def _limited(
    name: str,
    work: Callable[[], Awaitable[T]],
    seconds: float,
    as_found: Callable[[CheckResult], T],
) -> T:
    try:
        with anyio.fail_after(seconds):
            return await work()
    except TimeoutError:
        return as_found(ill(name, troubles.CHECK_SLOW, f"no result within {seconds:g} s"))
    except MigrationMisnumbered as cause:
        return as_found(ill(name, database_troubles.MIGRATION_MISNUMBERED, str(cause)))
    except Exception as cause:
        says = f"{type(cause).__name__}: {cause}"
        return as_found(ill(name, troubles.CHECK_CRASHED, says))


def _redacted(
    subject: Subject, results: Sequence[CheckResult], checkups: Sequence[Checkup]
) -> Diagnosis:
    """Return the diagnosis without secrets, and without what would drive a terminal."""

    def clean(one: CheckResult) -> CheckResult:
        facts = subject.redactor.value(dict(one.facts), lines=True)
        says = " ".join(safe(subject.redactor.line(one.says)).split())
        return CheckResult(one.check, one.state, says, one.trouble, facts)

    cleaned = [
        Checkup(
            one.channel,
            safe(subject.redactor.line(one.bot)),
            safe(subject.redactor.clean(one.invite)),
            tuple(map(clean, one.results)),
        )
        for one in checkups
    ]
    now = datetime.now(UTC).astimezone()
    return Diagnosis(subject.home, version("tapeway"), now, [*map(clean, results)], cleaned)


def wants_color(variables: Mapping[str, str], *, terminal: bool) -> bool:
    """Return whether states are coloured: on a terminal, unless NO_COLOR is set."""
    return terminal and not variables.get("NO_COLOR") and variables.get("TERM") != "dumb"
