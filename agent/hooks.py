"""What others may do around the calls of a turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from agent.model import ModelReply, ModelRequest


class ToolHooks(Protocol):
    """What runs around a tool call."""

    async def before_tool_call(self, name: str, arguments: Mapping[str, Any]) -> None:
        """See a call before it is made; an exception denies it."""

    async def after_tool_call(self, name: str, result: str) -> None: ...


class LoopHooks(ToolHooks, Protocol):
    """What runs around a model call and a tool call."""

    async def before_llm_call(self, request: ModelRequest) -> None:
        """See the request; an exception ends the turn."""

    async def after_llm_call(self, request: ModelRequest, reply: ModelReply) -> None: ...


class NoHooks:
    """The hooks of a loop around which nothing happens."""

    async def before_llm_call(self, request: ModelRequest) -> None: ...
    async def after_llm_call(self, request: ModelRequest, reply: ModelReply) -> None: ...
    async def before_tool_call(self, name: str, arguments: Mapping[str, Any]) -> None: ...
    async def after_tool_call(self, name: str, result: str) -> None: ...
