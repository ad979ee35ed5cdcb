"""`tapeway gateway`: run the gateway until a signal arrives, and print the next steps."""

from __future__ import annotations

import gc
import os
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from functools import partial
from typing import Final

import anyio
from anyio.abc import TaskStatus

from agent.models.offline import OFFLINE
from channels.backoff import Backoff
from gateway.app import Gateway, access_admin, running_gateway
from gateway.cli.access.actions import pairing_lines
from gateway.cli.screen import hanging
from gateway.clock import SystemClock
from gateway.doctor.troubles import PLUGIN_NOT_LOADED
from gateway.logs import get_log, set_up_logs
from gateway.printing import print_err
from gateway.redaction.known_secrets import secrets_of
from gateway.redaction.redactor import Redactor
from gateway.scheduling.opening.openings import FORMER
from gateway.scheduling.opening.place import shown
from gateway.settings import Settings, load_settings
from gateway.supervision.local_model import local_model_appears, with_local_model
from gateway.wording import as_called, command_name
from tape.errors import StoreUnavailable
from tape.stores.registry import dialect_of

AWAY_SECONDS: Final = 60.0
"""Maximum seconds that a start waits for a PostgreSQL server, which may just start, too."""

ROLE_SAYS: Final = {
    "ingress": "It receives messages, which workers answer.",
    "worker": "It answers what other processes receive.",
}


async def serve(settings: Settings) -> int:
    """Run until a signal: SIGTERM gives turns some time to finish, Ctrl-C stops at once."""
    stopping = anyio.Event()
    started = anyio.Event()

    async def watch(scope: anyio.CancelScope, *, task_status: TaskStatus[None]) -> None:
        with anyio.open_signal_receiver(signal.SIGINT, signal.SIGTERM) as signals:
            task_status.started()
            async for number in signals:
                get_log().info("gateway.stopping", signal=signal.Signals(number).name)
                gently = number == signal.SIGTERM and started.is_set()
                if gently and not stopping.is_set():
                    stopping.set()
                else:
                    scope.cancel()

    async with anyio.create_task_group() as group:
        # The watcher outlives the gateway; otherwise, a signal would interrupt the shutdown.
        with anyio.CancelScope() as scope:
            # It also starts first, because much of the gateway's startup never yields.
            await group.start(watch, scope)
            while not stopping.is_set():
                own = await with_local_model(settings, SystemClock())
                async with _started(own) as gateway:
                    started.set()
                    gc.freeze()
                    gc.enable()
                    await _print_next_steps(gateway, own)
                    gateway.services.spawn("probe", partial(_probe, gateway))
                    await _stopped_or_outdated(stopping, gateway)
                    await gateway.finish()
                if not stopping.is_set():
                    settings = load_settings()
                    set_up_logs(settings.log, Redactor(secrets_of(settings)))
        group.cancel_scope.cancel()
    print_err("Stopped. Unanswered questions are answered at the next start.")
    return 0


@asynccontextmanager
async def _started(settings: Settings) -> AsyncIterator[Gateway]:
    """Start a gateway; while its PostgreSQL server is away, try again for a while."""
    clock, backoff = SystemClock(), Backoff(0.5, 5.0)
    waits = AWAY_SECONDS if dialect_of(settings.tape_url) == "postgres" else 0.0
    until = clock.monotonic() + waits
    async with AsyncExitStack() as stack:
        while True:
            try:
                gateway = await stack.enter_async_context(
                    running_gateway(settings, environ=os.environ)
                )
                break
            except Exception as cause:
                why = _why_away(cause)
                if why is None or clock.monotonic() >= until:
                    raise
                if not backoff.tries:
                    get_log().warning("store.awaited", why=why, seconds=waits)
            await clock.sleep(backoff.next())
        yield gateway


def _why_away(cause: Exception) -> str | None:
    """Return what a server that may come back by itself said, or None for another error."""
    if isinstance(cause, ExceptionGroup):
        found = [_why_away(one) for one in cause.exceptions]
        return None if None in found else found[0]
    return str(cause) if isinstance(cause, StoreUnavailable) and not cause.lasting else None


async def _stopped_or_outdated(stopping: anyio.Event, gateway: Gateway) -> None:
    """Wait for a signal, or for a local model, with which the gateway starts again."""

    def current() -> Settings:
        return gateway.services.settings

    async with anyio.create_task_group() as group:

        async def watch(event: Callable[[], Awaitable[object]]) -> None:
            await event()
            group.cancel_scope.cancel()

        group.start_soon(watch, partial(local_model_appears, current, SystemClock()))
        await watch(stopping.wait)


async def _probe(gateway: Gateway) -> None:
    finding = await gateway.models.probe()
    if finding is not None:
        mark = "" if finding.well else "The model can't be used: "
        print_err(f"  {mark}{finding.sentence.rstrip('.')}.")


async def access_lines(gateway: Gateway) -> list[str]:
    """Return a pairing code if a platform has no owner yet, on a terminal only, and what waits."""
    lines: list[str] = []
    openings, pairing = gateway.parts.requests.openings, gateway.parts.pairing
    owned = {
        rule.account_id.partition(":")[0]
        for rule in openings.access.rules()
        if rule.role == "owner"
    }
    if pairing.hints("").keys() - owned:
        if sys.stderr.isatty():
            found = await access_admin(gateway).pair()
            hints = {name: hint for name, hint in found["hints"].items() if name not in owned}
            lines += [f"  {line}" for line in pairing_lines({**found, "hints": hints})]
        else:  # a log must not hold a code
            lines += [
                f"  To become its owner on a platform, print a code with: {command_name()} pair",
                "  (with Docker: docker compose exec tapeway tapeway pair)",
            ]
    former = [one for one in await openings.waiting() if one.state == FORMER]
    if former:
        named = ", ".join(shown(one.title, f"{one.account_id}:{one.chat_id}") for one in former)
        lines += [
            "  Until the upgrade, people listed in TAPEWAY_ACCESS__ALLOW were answered in these",
            f"  groups. Now nobody is, until the group itself is open: {named}",
            f"  To open them all: {command_name()} access grant former",
        ]
    return lines


async def _print_next_steps(gateway: Gateway, settings: Settings) -> None:
    lines = [
        "",
        f"  Tapeway is running. Open {gateway.url} and say something.",
        f"  Or talk to it in another terminal: {command_name()} chat",
        f"  Its console is at {gateway.url}console (to sign in elsewhere: {command_name()} open)",
    ]
    if (role := settings.sharing.role) != "all":
        lines += [f"  {ROLE_SAYS[role]} `{command_name()} workers` lists all processes."]
        lines += [f"  {note}" for note in gateway.services.sharing_notes()]
    if settings.http.token.get_secret_value() or settings.http.token_file:
        lines += [
            f"  The page asks for an access token. Print it with: {command_name()} token",
            "  (with Docker: docker compose exec tapeway tapeway token)",
        ]
    for name, channel in gateway.channels.items():
        state = gateway.status.states[name]
        lines += [
            f"  {name}: {note}" for note in (channel.invitation, state.why, *state.notes) if note
        ]
    lines += [
        f"  The plugin {one.name} did not load: {one.error.rstrip('.')}. {PLUGIN_NOT_LOADED.remedy}"
        for one in gateway.failures
    ]
    invited = any(own.enabled for own in (settings.telegram, settings.discord, settings.slack))
    if not invited:
        lines += [
            "  To add it to a Telegram group, a Discord server or a Slack workspace, follow",
            "  docs/how-to/telegram.md, discord.md or slack.md: five minutes each.",
        ]
    lines += [f"  {note}" for note in gateway.services.ledger.held.notes()]
    with suppress(StoreUnavailable):  # `tapeway access list` says who waits; this may not end it
        lines += await access_lines(gateway)
    if settings.agent.model == OFFLINE:
        lines += _offline_lines(settings)
    lines += ["  Press Ctrl-C to stop it.", ""]
    wrapped = [part for line in lines for part in hanging("", as_called(line), 4)]
    print_err("\n".join(wrapped))


def _offline_lines(settings: Settings) -> list[str]:
    given = {
        "OPENAI_API_KEY": os.environ.get("OPENAI_API_KEY"),
        "TAPEWAY_AGENT__API_KEY": settings.agent.key(),
        "TAPEWAY_AGENT__BASE_URL": settings.agent.base_url,
    }
    named = next((name for name, value in given.items() if value), None)
    if named:
        missing = "TAPEWAY_AGENT__MODEL is missing, so the offline model answers"
        example = "for example TAPEWAY_AGENT__MODEL=gpt-5-mini"
        return [f"  {named} is set, but {missing}: set it, {example}."]
    return [
        "  No model is configured, so the offline model answers. For a real one, run",
        f"  {command_name()} init, which finds keys and servers, and asks the model for a word.",
    ]
