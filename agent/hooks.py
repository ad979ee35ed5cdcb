"""Hooks that are called before and after a turn's model calls and tool calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from agent.model import ModelReply, ModelRequest


class ToolHooks(Protocol):
    """Called before and after each tool call."""

    async def before_tool_call(self, name: str, arguments: Mapping[str, Any]) -> None:
        """Receive a call before it is made; an exception refuses it."""

    async def after_tool_call(self, name: str, result: str) -> None: ...


class LoopHooks(ToolHooks, Protocol):
    """Called before and after each model call and tool call."""

    async def before_llm_call(self, request: ModelRequest) -> None:
        """Receive a request before it is sent; an exception ends the turn."""

    async def after_llm_call(self, request: ModelRequest, reply: ModelReply) -> None: ...


class NoHooks:
    """Hooks that do nothing."""

    async def before_llm_call(self, request: ModelRequest) -> None: ...
    async def after_llm_call(self, request: ModelRequest, reply: ModelReply) -> None: ...
    async def before_tool_call(self, name: str, arguments: Mapping[str, Any]) -> None: ...
    async def after_tool_call(self, name: str, result: str) -> None: ...
