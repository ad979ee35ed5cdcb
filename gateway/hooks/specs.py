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
    """All hooks, the eight of a turn first, in their order; `make reference` lists them."""

    @hookspec
    def resolve_session(self, message: Any) -> Any:
        """Return a message's session (first); without one, it is `channel:chat_id`."""

    @hookspec
    def load_state(self, message: Any, session_id: str) -> Any:
        """Return a dict for the turn's state (all, merged; the plugin registered later wins)."""

    @hookspec
    def build_prompt(self, message: Any, session_id: str, state: dict[str, Any]) -> Any:
        """Return the prompt, as text or a list of parts (first).

        Without one, the prompt is the message's text; if a `load_state` brought the string
        `context_str`, that string comes before it. A prompt that differs from the text is put on
        the tape and shown instead of it.
        """

    @hookspec
    def run_model_stream(
        self, prompt: Any, session_id: str, state: dict[str, Any], message: Any
    ) -> Any:
        """Return the answer as an async iterator of events and pieces of text (first plugin).

        A plugin declines by returning None. If no plugin answers, the prompt is the output.
        """

    @hookspec
    def run_model(self, prompt: Any, session_id: str, state: dict[str, Any], message: Any) -> Any:
        """Return the answer as a string (first plugin; of one with both hooks, the stream)."""

    @hookspec
    def save_state(
        self, session_id: str, state: dict[str, Any], message: Any, model_output: str
    ) -> Any:
        """Save the state (all), also after an error or a stop, within five seconds."""

    @hookspec
    def render_outbound(
        self, message: Any, session_id: str, state: dict[str, Any], model_output: str
    ) -> Any:
        """Return one outbound message, a list of them, or None (all, flattened).

        Without a result, the output goes to where the question came from. Of a stopped turn, the
        output is the text before the stop.
        """

    @hookspec
    def dispatch_outbound(self, message: Any) -> Any:
        """Send a message; any result other than None means that it was sent (first).

        The builtin plugin adds it to the outbox in the transaction that commits the turn.
        """

    @hookspec
    def on_error(self, stage: str, error: BaseException, message: Any) -> Any:
        """Observe an error (all); an observer cannot break the others."""

    @hookspec
    def system_prompt(self, prompt: Any, state: dict[str, Any]) -> Any:
        """Return a part of the system prompt (all that are not empty, the builtin one first)."""

    @hookspec
    def provide_channels(self) -> Any:
        """Return a list of channels (all; the first channel of each name wins)."""

    @hookspec
    def provide_tape_store(self) -> Any:
        """Return a tape store (first)."""

    @hookspec
    def build_tape_context(self, session_id: str, state: dict[str, Any]) -> Any:
        """Return a `TapeContext`, which replaces the builtin view (first)."""

    @hookspec
    def provide_tools(self) -> Any:
        """Return a list of tools (all; the first tool of each name wins)."""

    @hookspec
    def register_cli_commands(self, app: Any) -> Any:
        """Add commands to the typer app (all, sync).

        `tapeway --help` lists only those that a package declares in the group `tapeway.commands`.
        """

    @hookspec
    def admit_message(self, message: Any, session_id: str) -> Any:
        """Return `process`, `drop`, `follow_up`, `steer` or `interrupt` (first)."""

    @hookspec
    def before_llm_call(self, request: Any, session_id: str) -> Any:
        """Observe a model's request (all); an error ends the turn."""

    @hookspec
    def after_llm_call(self, request: Any, reply: Any, session_id: str) -> Any:
        """Observe a model's reply (all); an error ends the turn."""

    @hookspec
    def before_tool_call(self, name: str, arguments: Any, session_id: str) -> Any:
        """Observe a tool's call (all); an error denies it, also as a command in a chat."""

    @hookspec
    def after_tool_call(self, name: str, result: str, session_id: str) -> Any:
        """Observe a tool's result (all), also after a command in a chat."""
