"""The hooks that a plugin may implement, sync or async, naming only the arguments it uses.

`message` is an InboundMessage or a mapping with the same names; read it with `field_of` and
`content_of`. `state` is a plain dict without a schema. docs/hooks.md has the details.
"""

from __future__ import annotations

from typing import Any, Final

import pluggy

NAMESPACE: Final = "tapeway"

hookspec = pluggy.HookspecMarker(NAMESPACE)
hookimpl = pluggy.HookimplMarker(NAMESPACE)


class TapewaySpec:
    """Every hook, and how its results are used."""

    @hookspec
    def resolve_session(self, message: Any) -> Any:
        """Return the session of a message (first result); empty means `channel:chat_id`."""

    @hookspec
    def load_state(self, message: Any, session_id: str) -> Any:
        """Return a dict for the turn's state (all results; a higher priority wins)."""

    @hookspec
    def build_prompt(self, message: Any, session_id: str, state: dict[str, Any]) -> Any:
        """Return the prompt: a text or a list of parts (first result); empty means the content."""

    @hookspec
    def run_model_stream(
        self, prompt: Any, session_id: str, state: dict[str, Any], message: Any
    ) -> Any:
        """Return the answer as an async iterator of events or pieces of text (first plugin)."""

    @hookspec
    def run_model(self, prompt: Any, session_id: str, state: dict[str, Any], message: Any) -> Any:
        """Return the answer as one text (first plugin; its stream is preferred)."""

    @hookspec
    def save_state(
        self, session_id: str, state: dict[str, Any], message: Any, model_output: str
    ) -> Any:
        """Save the state at the end of every turn, also if the model raised (all)."""

    @hookspec
    def render_outbound(
        self, message: Any, session_id: str, state: dict[str, Any], model_output: str
    ) -> Any:
        """Return the outbound messages: one, a list, or None (all, flattened)."""

    @hookspec
    def dispatch_outbound(self, message: Any) -> Any:
        """Send a message; any result but None means that it is sent (first result)."""

    @hookspec
    def on_error(self, stage: str, error: BaseException, message: Any) -> Any:
        """Observe an error; observers cannot break each other (all)."""

    @hookspec
    def system_prompt(self, prompt: Any, state: dict[str, Any]) -> Any:
        """Return a part of the system prompt (all, lowest priority first)."""

    @hookspec
    def provide_channels(self) -> Any:
        """Return a list of channels (all; the first channel of each name wins)."""

    @hookspec
    def provide_tape_store(self) -> Any:
        """Return a tape store (first result)."""

    @hookspec
    def build_tape_context(self, session_id: str, state: dict[str, Any]) -> Any:
        """Return the TapeContext that builds the view (first result)."""

    @hookspec
    def provide_tools(self) -> Any:
        """Return a list of tools (all; the first tool of each name wins)."""

    @hookspec
    def register_cli_commands(self, app: Any) -> Any:
        """Add commands to the typer app (all, sync)."""

    @hookspec
    def admit_message(self, message: Any, session_id: str) -> Any:
        """Return process, drop, follow_up, steer or interrupt (first result)."""

    @hookspec
    def before_llm_call(self, request: Any, session_id: str) -> Any:
        """Observe a request to the model; an exception ends the turn (all)."""

    @hookspec
    def after_llm_call(self, request: Any, reply: Any, session_id: str) -> Any:
        """Observe the model's reply; an exception ends the turn (all)."""

    @hookspec
    def before_tool_call(self, name: str, arguments: Any, session_id: str) -> Any:
        """Observe a tool call before it is made; an exception denies it (all)."""

    @hookspec
    def after_tool_call(self, name: str, result: str, session_id: str) -> Any:
        """Observe the result of a tool call (all)."""
