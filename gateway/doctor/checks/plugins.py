"""Check the plugins in a process of their own, because one may end or hang the process."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import entry_points
from typing import Any, Final

import anyio
import orjson

from channels.checkup import CheckResult, Trouble
from gateway.doctor import troubles
from gateway.doctor.results import ill, well
from gateway.doctor.subject import Subject
from gateway.hooks.loader import GROUP

CHECK: Final = "plugins"
SECONDS: Final = 20.0
PROBE: Final = "gateway.doctor.checks.plugin_probe"
MARK: Final = b"\x1etapeway-plugins "
"""What stands before the probe's answer, because a plugin may print something itself."""


async def check_plugins(subject: Subject) -> list[CheckResult]:
    names = sorted(point.name for point in entry_points(group=GROUP))
    if not names:
        return [well(CHECK, "none is installed")]
    command = [sys.executable, "-P", "-m", PROBE]  # nothing of the current folder is imported
    try:
        with anyio.fail_after(SECONDS):
            done = await anyio.run_process(
                command, check=False, env=dict(subject.variables), stdin=subprocess.DEVNULL
            )
    except TimeoutError:
        return [_crashed(names, f"still loading after {SECONDS:g} s")]
    _before, found, answer = done.stdout.rpartition(MARK)
    if not found:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        return [_crashed(names, f"exit code {done.returncode} {' '.join(last)}".strip())]
    return _results(names, orjson.loads(answer))


def _crashed(names: list[str], says: str) -> CheckResult:
    return ill(CHECK, troubles.PLUGIN_CRASHED, f"{', '.join(names)}: {says}", plugins=names)


def _results(names: list[str], answer: dict[str, Any]) -> list[CheckResult]:
    failed = [
        ill(CHECK, troubles.PLUGIN_NOT_LOADED, f"{name}: {error}", plugin=name)
        for name, error in answer["failures"]
    ]
    faulty = [
        ill(CHECK, troubles.PLUGIN_FAULTY, sentence, "warning") for sentence in answer["findings"]
    ]
    channels = [
        CheckResult(**{**one, "trouble": one["trouble"] and Trouble(**one["trouble"])})
        for one in answer["channels"]
    ]
    fine = well(CHECK, f"{', '.join(names)}: no problems", plugins=names)
    return [*([*failed, *faulty] or [fine]), *channels]
