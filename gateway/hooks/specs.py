"""The hooks that a plugin can implement, sync or async, with only the arguments it needs.

`message` is an InboundMessage or a mapping with the same names; read it with `field_of` and
`content_of`. `state` is a plain dict without a schema. See docs/reference/hooks.md for the details.
"""

from __future__ import annotations

from typing import Any, Final

import pluggy

NAMESPACE: Final = "tapeway"

hookspec = pluggy.HookspecMarker(NAMESPACE)
hookimpl = pluggy.HookimplMarker(NAMESPACE)


class TapewaySpec:
    """All hooks; the parentheses say which results are used."""

    @hookspec
    def resolve_session(self, message: Any) -> Any:
        """Return a message's session (first result); the default is `channel:chat_id`."""

    @hookspec
    def load_state(self, message: Any, session_id: str) -> Any:
        """Return a dict for the turn's state (all results; a higher priority wins conflicts)."""

    @hookspec
    def build_prompt(self, message: Any, session_id: str, state: dict[str, Any]) -> Any:
        """Return the prompt as text or a list of parts (first result; default: the message)."""

    @hookspec
    def run_model_stream(
        self, prompt: Any, session_id: str, state: dict[str, Any], message: Any
    ) -> Any:
        """Return the answer as an async iterator of events or chunks of text (first plugin)."""

    @hookspec
    def run_model(self, prompt: Any, session_id: str, state: dict[str, Any], message: Any) -> Any:
        """Return the answer as one string (first plugin; `run_model_stream` takes precedence)."""

    @hookspec
    def save_state(
        self, session_id: str, state: dict[str, Any], message: Any, model_output: str
    ) -> Any:
        """Save the state at the end of every turn, even if the model raised an error (all)."""

    @hookspec
    def render_outbound(
        self, message: Any, session_id: str, state: dict[str, Any], model_output: str
    ) -> Any:
        """Return one outbound message, a list of them, or None (all, flattened)."""

    @hookspec
    def dispatch_outbound(self, message: Any) -> Any:
        """Send a message; any result other than None means that it was sent (first result)."""

    @hookspec
    def on_error(self, stage: str, error: BaseException, message: Any) -> Any:
        """Observe an error; an observer cannot break the others (all)."""

    @hookspec
    def system_prompt(self, prompt: Any, state: dict[str, Any]) -> Any:
        """Return a part of the system prompt (all, lowest priority first)."""

    @hookspec
    def provide_channels(self) -> Any:
        """Return a list of channels (all; if two have the same name, the first wins)."""

    @hookspec
    def provide_tape_store(self) -> Any:
        """Return a tape store (first result)."""

    @hookspec
    def build_tape_context(self, session_id: str, state: dict[str, Any]) -> Any:
        """Return a TapeContext, which builds the view (first result)."""

    @hookspec
    def provide_tools(self) -> Any:
        """Return a list of tools (all; the first tool with a name wins)."""

    @hookspec
    def register_cli_commands(self, app: Any) -> Any:
        """Add commands to the typer app (all, sync)."""

    @hookspec
    def admit_message(self, message: Any, session_id: str) -> Any:
        """Return process, drop, follow_up, steer or interrupt (first result)."""

    @hookspec
    def before_llm_call(self, request: Any, session_id: str) -> Any:
        """Observe a model request; an exception ends the turn (all)."""

    @hookspec
    def after_llm_call(self, request: Any, reply: Any, session_id: str) -> Any:
        """Observe a model reply; an exception ends the turn (all)."""

    @hookspec
    def before_tool_call(self, name: str, arguments: Any, session_id: str) -> Any:
        """Observe a tool call before it runs; an exception denies it (all)."""

    @hookspec
    def after_tool_call(self, name: str, result: str, session_id: str) -> Any:
        """Observe a tool call's result (all)."""
