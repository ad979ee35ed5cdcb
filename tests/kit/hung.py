"""What is said of a test that hangs: where each task of its event loop waits.

pytest-timeout raises an exception wherever the loop happens to be, and that may be lost in a task
nobody waits for, or leave a task which never goes on. Then the test goes on hanging until
`faulthandler_timeout` ends its worker: what is known has to be said before.
"""

from __future__ import annotations

import asyncio
import io
import os
import signal
from collections.abc import Generator
from types import FrameType
from typing import Any, Final

import pytest

FRAMES: Final = 12
"""Frames that are shown of a task, from the one that waits."""

TASKS: Final = 30


class Hung:
    """A plugin that writes to the standard error which the worker had before its tests."""

    def __init__(self) -> None:
        self._error = os.dup(2)

    @pytest.hookimpl(wrapper=True)
    def pytest_timeout_set_timer(self, item: pytest.Item) -> Generator[None, object, object]:
        """Say what waits, and then do what pytest-timeout does."""
        result = yield
        then = signal.getsignal(signal.SIGALRM)

        def say(number: int, frame: FrameType | None) -> None:
            os.write(self._error, f"\n{item.nodeid} hangs. {tasks()}\n".encode())
            if callable(then):
                then(number, frame)

        if callable(then):
            signal.signal(signal.SIGALRM, say)
        return result


def tasks() -> str:
    """Return where the tasks of the running event loop wait, each with its innermost frames."""
    try:
        found = sorted(asyncio.all_tasks(), key=lambda task: task.get_name())
    except RuntimeError:
        return "No event loop runs."
    shown = io.StringIO()
    shown.write(f"{len(found)} tasks wait:\n")
    for task in found[:TASKS]:
        shown.write(f"- {task.get_name()}\n")
        for line in _frames(task):
            shown.write(f"    {line}\n")
    return shown.getvalue()


def _frames(task: asyncio.Task[object]) -> list[str]:
    """Return the frames of a coroutine and of what it awaits, the innermost last."""
    waits: Any = task.get_coro()
    lines: list[str] = []
    while waits is not None:
        frame = getattr(waits, "cr_frame", None) or getattr(waits, "ag_frame", None)
        if frame is not None:
            lines.append(f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_qualname}")
        waits = getattr(waits, "cr_await", None) or getattr(waits, "ag_await", None)
    return lines[-FRAMES:]
