"""What the breakages share: a home, doctor as a command, and a registry of what breaks what."""

from __future__ import annotations

import json
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import anyio

from tests.kit.gateways import clean_environ, make_environ, run_process

Maker = Callable[["Scene"], AsyncIterator[dict[str, str]]]
Opener = Callable[["Scene"], AbstractAsyncContextManager[dict[str, str]]]

MAKERS: Final[dict[tuple[str, ...], Opener]] = {}
"""Maps the ids of what is broken together to what breaks it."""


@dataclass(slots=True)
class Scene:
    """A home in a folder of its own, in which things are broken.

    cwd     the folder in which doctor runs, if it matters
    prefix  the command that runs doctor with fewer rights
    """

    folder: Path
    cwd: Path | None = None
    prefix: tuple[str, ...] = ()

    @property
    def home(self) -> Path:
        return self.folder / "home"

    def environ(self, **more: str) -> dict[str, str]:
        """Return the variables of an instance that is well, and `more` without TAPEWAY_."""
        self.home.mkdir(mode=0o700, exist_ok=True)
        return make_environ(self.home, None, **{"CLI__ENABLED": "false", **more})


def breaks(*ids: str) -> Callable[[Maker], Maker]:
    """Register a generator that breaks these things, yields the variables, and cleans up."""

    def register(maker: Maker) -> Maker:
        MAKERS[ids] = asynccontextmanager(maker)
        return maker

    return register


async def examined(
    environ: Mapping[str, str], *options: str, scene: Scene | None = None
) -> tuple[int, dict[str, Any]]:
    """Run `tapeway doctor --json` as a process; return its exit code and its report."""
    command = ("doctor", "--json", *options)
    if scene is None or not (scene.cwd or scene.prefix):
        code, out, err = await run_process(dict(environ), *command)
    else:
        done = await anyio.run_process(
            [*scene.prefix, sys.executable, "-m", "gateway.cli.main", *command],
            env=clean_environ(dict(environ)),
            cwd=scene.cwd or "/",
            check=False,
        )
        code, out, err = done.returncode, done.stdout.decode(), done.stderr.decode()
    assert "Traceback" not in err
    report: dict[str, Any] = json.loads(out)
    return code, report


def results(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return all results of a report, those of the platforms too."""
    return [*report["results"], *(one for each in report["platforms"] for one in each["results"])]
