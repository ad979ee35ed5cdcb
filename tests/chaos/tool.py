"""A plugin with a tool that leaves a mark in a file: what is done twice stands there twice."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Final

from agent.tool import Arguments, Role, Tool, ToolContext
from gateway.hooks.specs import hookimpl

MARKS: Final = "CHAOS_MARKS"
"""The variable that names the file."""


class Act(Arguments):
    """For which question."""

    token: str


def _leave_mark(token: str) -> None:
    with Path(os.environ[MARKS]).open("a") as marks:
        marks.write(f"{token}\n")


async def _act(arguments: Act, _context: ToolContext) -> str:
    """Leave the mark, then take a while."""
    _leave_mark(arguments.token)
    await asyncio.sleep(0.2)
    return f"done for {arguments.token}"


class Acting:
    """Brings the tool `act`."""

    @hookimpl
    def provide_tools(self) -> list[Tool]:
        """Return the tool."""
        return [Tool("act", "Act for a question.", Act, _act, role=Role.STRANGER, first=True)]
