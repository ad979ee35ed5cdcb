"""The hooks: what a plugin may implement, sync or async, naming only the arguments that it uses.

`message` is an InboundMessage or a mapping with the same names; read it with
`gateway.hooks.messages`. `state` is a plain dict without a schema.
"""

from __future__ import annotations

from typing import Any, Final

import pluggy

NAMESPACE: Final = "tapeway"

hookspec = pluggy.HookspecMarker(NAMESPACE)
hookimpl = pluggy.HookimplMarker(NAMESPACE)


class TapewaySpec:
    """Every hook, with how its results are used."""

    @hookspec
    def resolve_session(self, message: Any) -> Any:
        """Name the session of a message (first result); empty: `channel:chat_id`."""

    @hookspec
    def load_state(self, message: Any, session_id: str) -> Any:
        """Bring a dict into the turn's state (all results; a higher priority wins)."""

    @hookspec
    def build_prompt(self, message: Any, session_id: str, state: dict[str, Any]) -> Any:
        """Make the prompt: a text or a list of parts (first result); empty: the content."""

    @hookspec
    def run_model_stream(
        self, prompt: Any, session_id: str, state: dict[str, Any], message: Any
    ) -> Any:
        """Answer as an async iterator of events, or of pieces of text (first plugin)."""

    @hookspec
    def run_model(self, prompt: Any, session_id: str, state: dict[str, Any], message: Any) -> Any:
        """Answer as one text (first plugin; the stream is preferred where it has both)."""

    @hookspec
    def save_state(
        self, session_id: str, state: dict[str, Any], message: Any, model_output: str
    ) -> Any:
        """Keep what a turn leaves; called always, also when the model raised (all)."""

    @hookspec
    def render_outbound(
        self, message: Any, session_id: str, state: dict[str, Any], model_output: str
    ) -> Any:
        """Make the outbound messages: one, a list, or None (all, flattened)."""

    @hookspec
    def dispatch_outbound(self, message: Any) -> Any:
        """Send a message; a result that is not None means that it was (first result)."""

    @hookspec
    def on_error(self, stage: str, error: BaseException, message: Any) -> Any:
        """See an error; observers cannot break each other (all)."""

    @hookspec
    def system_prompt(self, prompt: Any, state: dict[str, Any]) -> Any:
        """Add to the system prompt (all that are not empty, lowest priority first)."""

    @hookspec
    def provide_channels(self) -> Any:
        """Bring channels: a list (all; the first channel of a name wins)."""

    @hookspec
    def provide_tape_store(self) -> Any:
        """Bring a tape store (first result)."""

    @hookspec
    def build_tape_context(self, session_id: str, state: dict[str, Any]) -> Any:
        """Bring the TapeContext by which the view is built (first result)."""

    @hookspec
    def provide_tools(self) -> Any:
        """Bring tools: a list (all)."""

    @hookspec
    def register_cli_commands(self, app: Any) -> Any:
        """Add commands to the typer app (all, sync)."""

    @hookspec
    def admit_message(self, message: Any, session_id: str) -> Any:
        """Decide: process, drop, follow_up, steer or interrupt (first result)."""

    @hookspec
    def before_llm_call(self, request: Any, session_id: str) -> Any:
        """See what the model is asked; an exception ends the turn (all)."""

    @hookspec
    def after_llm_call(self, request: Any, reply: Any, session_id: str) -> Any:
        """See what the model answered (all)."""

    @hookspec
    def before_tool_call(self, name: str, arguments: Any, session_id: str) -> Any:
        """See a call before it is made; an exception denies it (all)."""

    @hookspec
    def after_tool_call(self, name: str, result: str, session_id: str) -> Any:
        """See a call's result (all)."""
