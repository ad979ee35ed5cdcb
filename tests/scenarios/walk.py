"""The walk from a platform's own first page to the first answer in a group, counted.

The actions are the rows of the table in the platform's guide. A walk does each of them, in order
and word for word; an action is what a person enters or chooses in one place, and its confirmation.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from gateway.app import Gateway, access_admin, running_gateway
from gateway.cli.access.actions import pairing_lines
from tests.kit.clock import RestingClock
from tests.kit.gateways import make_environ, make_settings, run_process
from tests.kit.waiting import Patience

ROOT: Final = Path(__file__).resolve().parents[2]
START: Final = "Run `make run`."
_ROW: Final = re.compile(r"\| (\d+) \| (.+?) +\|")

Action = Callable[[], Awaitable[None]]


def table_of(guide: str) -> list[str]:
    """Return the actions in a guide of `docs/how-to`, as they are written there."""
    rows = _ROW.findall((ROOT / "docs" / "how-to" / guide).read_text())
    assert [int(number) for number, _ in rows] == list(range(1, len(rows) + 1))
    return [words for _, words in rows]


@dataclass
class Walker:
    """Somebody who sets up a gateway; `folder` is where it is started."""

    folder: Path
    more: dict[str, str]
    clock: RestingClock = field(default_factory=RestingClock)
    gateway: Gateway | None = None
    terminal: str = ""

    async def init(self, *tokens: str) -> None:
        """Save tokens as `tapeway init` does, which asks the platform about each."""
        environ = make_environ(self.folder, None, **self.more)
        code, _out, err = await run_process(environ, "init", "--model", "offline", "--yes", *tokens)
        assert code == 0, err

    @asynccontextmanager
    async def started(self) -> AsyncIterator[None]:
        """Run the gateway; the terminal shows what it prints at its first start."""
        settings = make_settings(self.folder, None, **self.more)
        async with running_gateway(settings, clock=self.clock) as self.gateway:
            invitations = [one.invitation for one in self.gateway.channels.values()]
            lines = pairing_lines(await access_admin(self.gateway).pair())
            self.terminal = "\n".join([*invitations, *lines])
            yield

    async def until(self, so: Callable[[], object]) -> None:
        """Advance the clock until a condition holds."""
        patience = Patience("what the walk asks for is so")
        while not so():
            await self.clock.advance(0.1)
            await patience.pause()

    def link(self, pattern: str) -> str:
        """Return a link that the terminal shows."""
        found = re.search(pattern, self.terminal)
        assert found is not None, self.terminal
        return found[0]


async def walk(walker: Walker, guide: str, actions: dict[str, Action | None]) -> list[str]:
    """Do the actions of a guide one by one; the one without a function starts the gateway."""
    rows = table_of(guide)
    assert rows == list(actions)
    before = rows.index(START)
    for row in rows[:before]:
        action = actions[row]
        assert action is not None
        await action()
    async with walker.started():
        for row in rows[before + 1 :]:
            action = actions[row]
            assert action is not None
            await action()
    return rows
