"""Work that runs in the background, in one task group for the whole gateway."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from anyio.abc import TaskGroup

from gateway.logs import get_log

Work = Callable[[], Awaitable[None]]
Spawn = Callable[[str, Work], None]
"""Starts work in the background, under a name for the log."""


class Background:
    """Starts background work and logs its errors."""

    def __init__(self) -> None:
        self._group: TaskGroup | None = None

    def open(self, group: TaskGroup) -> None:
        """Run work in a task group from now on."""
        self._group = group

    def spawn(self, name: str, work: Work) -> None:
        """Start work; once the group is cancelled, start nothing."""
        if self._group is not None and not self._group.cancel_scope.cancel_called:
            self._group.start_soon(_guard, name, work, name=name)


async def _guard(name: str, work: Work) -> None:
    try:
        await work()
    except Exception as cause:
        get_log().error("background.failed", work=name, exc_info=cause)
