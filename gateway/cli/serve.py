"""`tapeway gateway`: run until a signal, and say what to do next."""

from __future__ import annotations

import gc
import shutil
import signal
import sys
from functools import partial
from pathlib import Path

import anyio
from anyio.abc import TaskStatus

from agent.models.offline import OFFLINE
from gateway.app import Gateway, running_gateway
from gateway.logs import get_log
from gateway.settings import Settings


def serve(settings: Settings) -> int:
    """Run the gateway in the foreground."""
    return anyio.run(partial(_serve, settings))


async def _serve(settings: Settings) -> int:
    """Run until a signal: SIGTERM lets turns finish for a while, Ctrl-C hands over at once."""
    asked_to_end = anyio.Event()
    started = anyio.Event()

    async def watch(scope: anyio.CancelScope, *, task_status: TaskStatus[None]) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            task_status.started()
            async for number in signals:
                get_log().info("gateway.stopping", signal=signal.Signals(number).name)
                gently = number == signal.SIGTERM and started.is_set()
                if gently and not asked_to_end.is_set():
                    asked_to_end.set()
                else:
                    scope.cancel()

    async with anyio.create_task_group() as group:
        # Who watches outlives the gateway: a signal in the middle of its end would tear that apart.
        with anyio.CancelScope() as scope:
            # It comes first, too: a gateway begins with much that awaits nothing.
            await group.start(watch, scope)
            async with running_gateway(settings) as gateway:
                started.set()
                gc.freeze()
                gc.enable()
                _say_what_next(gateway, settings)
                await asked_to_end.wait()
                await gateway.finish()
        group.cancel_scope.cancel()
    print("Stopped. What was not answered yet is answered at the next start.", file=sys.stderr)
    return 0


def _say_what_next(gateway: Gateway, settings: Settings) -> None:
    lines = [
        "",
        f"  Tapeway is running. Open {gateway.url} and say something.",
        f"  Another terminal can talk to it too: {_command()} chat",
    ]
    if settings.http.token.get_secret_value() or settings.http.token_file:
        lines += [
            f"  The page asks for a token. This prints it: {_command()} token",
            "  (with Docker: docker compose exec tapeway tapeway token)",
        ]
    for name, channel in gateway.channels.items():
        state = gateway.status.states[name]
        lines += [
            f"  {name}: {told}" for told in (channel.invitation, state.why, *state.notes) if told
        ]
    invited = any(own.enabled for own in (settings.telegram, settings.discord, settings.slack))
    if not invited:
        lines += [
            "  To bring it into a Telegram group, a Discord server or a Slack workspace:",
            "  docs/telegram.md, docs/discord.md and docs/slack.md, in five minutes each.",
        ]
    if invited and settings.access.mode == "paired" and not settings.access.allow:
        lines += [
            "  Chats are closed until TAPEWAY_ACCESS__ALLOW lists them: write to the bot, and it",
            "  tells you what to add. TAPEWAY_ACCESS__MODE=open lets everybody in.",
        ]
    if settings.agent.model == OFFLINE:
        lines += [
            "  No model is named, so the offline model answers. For a real one, set",
            "  TAPEWAY_AGENT__MODEL and TAPEWAY_AGENT__API_KEY (see .env.example).",
        ]
    lines += ["  Ctrl-C ends it.", ""]
    print("\n".join(lines), file=sys.stderr, flush=True)


def _command() -> str:
    """Return how this command is called from here: by its name, or else by its path."""
    if shutil.which("tapeway"):
        return "tapeway"
    called = Path(sys.argv[0])
    here = Path.cwd()
    return str(called.relative_to(here)) if called.is_relative_to(here) else str(called)
