"""Build the gateway's parts, start the gateway, and stop it.

On startup, lock the home folder, open the store, load plugins, read the backlog, start the
channels and the HTTP server, and resume the backlog. On SIGTERM, accept nothing new, give turns and
sends some time to finish, and leave the rest to the next start. Ctrl-C stops the gateway at once.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from itertools import chain
from os import getpid
from typing import Any, Final

import anyio
from anyio.abc import TaskGroup
from starlette.applications import Starlette

from agent.model import ChatModel
from agent.models.learned import Learned
from agent.models.registry import make_model
from channels.base import Channel
from channels.message import InboundMessage
from gateway.access.access import Access
from gateway.access.administrators import Administrators
from gateway.access.console_links import ConsoleLinks
from gateway.admin.access_admin import AccessAdmin
from gateway.admin.erase_admin import EraseAdmin
from gateway.admin.ledger_admin import LedgerAdmin
from gateway.admin.tape_admin import TapeAdmin
from gateway.assembly import AS_SHIPPED, Internals, make_services, open_tape_store, register_builtin
from gateway.background import Background
from gateway.clock import Clock, SystemClock
from gateway.console.parts import ConsoleParts
from gateway.console.pulse import Pulse
from gateway.console.reads import ConsoleReads
from gateway.console.rights import Rights
from gateway.console.routes import console_routes
from gateway.context.vision_model import VisionModel
from gateway.embeddings.registry import open_meaning
from gateway.erasing.chores import Chores
from gateway.explain.explainer import Explainer
from gateway.home import Running, announce, locked, make_workspace, refuse_half_restored, withdraw
from gateway.hooks.loader import Failure, load_plugins
from gateway.hooks.runtime import HookRuntime
from gateway.http.access_token import token_of
from gateway.http.admin_access import access_routes
from gateway.http.admin_ledger import explain_routes, ledger_routes
from gateway.http.admin_tapes import erase_routes, tape_routes
from gateway.http.app import MetricsPort, Readiness, make_app, readiness
from gateway.http.auth import Gatekeeper, WrongLogins
from gateway.http.server import QuietServer, make_server, open_sockets
from gateway.http.sessions import Sessions
from gateway.logs import get_log
from gateway.metrics.exposition import Exposition
from gateway.metrics.loop_lag import watched_loop
from gateway.metrics.metered_model import MeteredModel
from gateway.metrics.meters import Meters
from gateway.parts import GatewayParts, make_parts
from gateway.services import Services
from gateway.settings import Settings, describe
from gateway.setup.page_setup import page_setup_routes
from gateway.setup.settings_desk import SettingsDesk
from gateway.sharing.rooms.shared_hub import share_rooms
from gateway.sharing.rooms.shared_rooms import SharedRooms
from gateway.storage.database_lock import database_locked
from gateway.storage.holding import workspace_of
from gateway.storage.instance import narrow_files
from gateway.storage.kept_files import KeptFiles
from gateway.supervision.channels import close_channels, open_channels
from gateway.supervision.gauges import Gauges
from gateway.supervision.host import GatewayHost
from gateway.supervision.known_bots import KnownBots
from gateway.supervision.manager import ChannelManager
from gateway.supervision.model_board import ModelBoard
from gateway.supervision.published import exchanged
from gateway.supervision.renewal import Renewal
from gateway.supervision.status import StatusBoard
from gateway.turn.agent_plugin import AgentPlugin
from gateway.turn.model_in_use import ModelInUse
from tape.search.semantic import SemanticIndex
from tape.service import TapeService
from tape.store import SharedStore, UnitStore

FINISH_SECONDS: Final = 8.0
"""Seconds that a stopping gateway waits for turns and sends; the next start resumes the rest."""

SETTLE_SECONDS: Final = 10.0
"""Maximum seconds that startup waits for every channel to connect or fail once."""


@dataclass(slots=True)
class Gateway:
    """A running gateway, with its channels and their status."""

    services: Services
    channels: dict[str, Channel]
    status: StatusBoard
    url: str
    failures: list[Failure]  # the plugins that could not be loaded
    parts: GatewayParts
    models: ModelBoard
    rooms: SharedRooms | None  # None: this process works alone
    pulse: Pulse
    renewal: Renewal
    desk: SettingsDesk | None = None  # None: nothing can be set while it runs

    async def ask(self, message: InboundMessage | Mapping[str, Any]) -> str:
        """Run a message through the pipeline without a channel; return the text of the answer."""
        result = await self.services.pipeline.process_inbound(message)
        return result.model_output

    async def taken_in(self) -> None:
        """Wait until every accepted message has been written to its tape and routed."""
        await self.parts.intake.taken_in()

    def is_busy(self) -> bool:
        """Return whether a turn runs."""
        return bool(self.parts.turns.sessions())

    async def idle(self) -> None:
        """Wait until the intake, the dispatcher and the sender have nothing left to do."""
        await self.parts.intake.taken_in()
        await self.parts.dispatcher.idle()
        await self.parts.sender.idle()

    async def finish(self, seconds: float = FINISH_SECONDS) -> None:
        """Start no more turns, and wait a limited time for running turns and sends to finish."""
        self.parts.dispatcher.close()
        if self.parts.claimer is not None:
            self.parts.claimer.close()
        with anyio.move_on_after(seconds):
            await self.idle()


PluginSource = Callable[[HookRuntime], list[Failure]]


@asynccontextmanager
async def running_gateway(
    settings: Settings,
    *,
    only: Sequence[str] | None = None,
    http: bool = True,
    clock: Clock | None = None,
    plugins: PluginSource = load_plugins,
    environ: Mapping[str, str] | None = None,
    internals: Internals = AS_SHIPPED,
) -> AsyncIterator[Gateway]:
    """Start a gateway for the `async with` block, and stop it when the block ends.

    `only` names the channels to start (None: all). With `environ`, which the settings came from,
    the owner may set others; `internals` are what no setting changes. Raise GatewayError or
    TapeError before anything is started.
    """
    with locked(settings.home_path), database_locked(settings):
        refuse_half_restored(settings.home_path)
        narrow_files(settings)
        withdraw(settings.home_path)  # in a container, it often has the process id of a killed one
        token = token_of(settings) if http else ""
        bearer = token or secrets.token_urlsafe(32)
        sockets = open_sockets(settings.http, token) if http else []
        opened = _opened(settings, only, clock or SystemClock(), plugins, internals)
        try:
            async with opened as (gateway, manager), anyio.create_task_group() as group:
                gateway.services.redactor.learn(bearer)
                claimer = gateway.parts.claimer
                backlog = await gateway.parts.recovery.read()
                if claimer is not None:
                    group.start_soon(await claimer.begin(), name="bus")
                    group.start_soon(exchanged, gateway.services, gateway.status, name="states")
                server: QuietServer | None = None
                try:
                    if sockets:
                        server = _serve(gateway, sockets[0], token, bearer, environ)
                        group.start_soon(server.run_on, *sockets, name="http")
                        announce(settings.home_path, Running(getpid(), gateway.url, bearer))
                    group.start_soon(manager.run, name="channels")
                    with anyio.move_on_after(SETTLE_SECONDS):
                        await gateway.status.settled()
                    await gateway.services.settle_threads(gateway.channels, SETTLE_SECONDS)
                    await gateway.parts.recovery.resume(backlog)
                    if claimer is not None:
                        group.start_soon(claimer.run, name="claims")
                    _spawn_chores(gateway)
                    get_log().info("gateway.ready", url=gateway.url, **describe(settings))
                    yield gateway
                finally:
                    gateway.services.guard.end()
                    with anyio.CancelScope(shield=True):
                        gateway.pulse.close()
                        await manager.stop()
                        withdraw(settings.home_path)
                        if server is not None:
                            await server.end()
                    group.cancel_scope.cancel()
        finally:
            for sock in sockets:
                sock.close()


@asynccontextmanager
async def _opened(
    settings: Settings,
    only: Sequence[str] | None,
    clock: Clock,
    plugins: PluginSource,
    internals: Internals,
) -> AsyncIterator[tuple[Gateway, ChannelManager]]:
    make_workspace(settings.workspace_path)
    models = ModelBoard(settings, clock)
    meters = Meters(clock)
    model = _make_model(meters, settings, models.learned)
    hooks = HookRuntime()
    failures = plugins(hooks)
    async with AsyncExitStack() as stack:
        stack.enter_context(watched_loop(meters))
        stack.push_async_callback(_shielded, model.aclose)
        store = await open_tape_store(settings, hooks, clock, internals)
        stack.push_async_callback(_shielded, store.close)
        meaning = _open_meaning(settings, store, stack)
        channels, background = dict[str, Channel](), Background()
        shared = isinstance(store, SharedStore)
        workspace = await workspace_of(store, settings.workspace_path, shared=shared)
        tapes = TapeService(store, workspace, meaning)
        services = await make_services(
            settings, internals, meters, tapes, store, hooks, channels, background
        )
        rules = await services.ledger.access.rules()
        access = Access(settings.access, services.aliases, rules)
        in_use = ModelInUse(VisionModel(model, services.files), settings)
        stack.push_async_callback(_shielded, in_use.aclose)
        register_builtin(hooks, AgentPlugin(services, in_use))
        parts = make_parts(services, access)
        if parts.claimer is not None:
            stack.push_async_callback(_shielded, parts.claimer.leave)
        await parts.requests.openings.find_former()
        channels.update(await open_channels(settings, hooks, only, internals.make_channel))
        stack.push_async_callback(_shielded, lambda: close_channels(channels))
        meters.know(channels, settings.agent.models(), settings.unpriced())
        running = list(channels.values())
        status = StatusBoard(clock, running)
        leases = None if services.shared is None else services.shared.pollers
        make_host = partial(
            GatewayHost, services, status, parts.intake, parts.sender, parts.turns, parts.stopper
        )
        async with anyio.create_task_group() as group:
            background.open(group)
            if meaning is not None:
                group.start_soon(meaning.run, name="meaning")
            url = _address(settings.http.host, settings.http.port)
            rooms = _open_rooms(services, channels, group, stack)
            pulse = Pulse(services, ConsoleReads(services), status)
            bots = KnownBots(store, status)
            manager = ChannelManager(clock, running, status, make_host, leases, bots)
            model_parts = models, in_use, partial(_seeing_model, meters, services.files)
            message_parts = parts.recovery, parts.turns, internals.make_channel
            renewal = Renewal(services, channels, manager, bots, *model_parts, *message_parts)
            stack.push_async_callback(_shielded, renewal.close)
            named = (channels, status, url, failures, parts, models, rooms, pulse, renewal)
            yield Gateway(services, *named), manager
            group.cancel_scope.cancel()


def _open_meaning(
    settings: Settings, store: UnitStore, stack: AsyncExitStack
) -> SemanticIndex | None:
    meaning = open_meaning(settings, store)
    if meaning is not None:
        stack.push_async_callback(_shielded, meaning.close)
    return meaning


def _open_rooms(
    services: Services, channels: Mapping[str, Channel], group: TaskGroup, stack: AsyncExitStack
) -> SharedRooms | None:
    rooms = share_rooms(services.shared, services.store, channels.values())
    if rooms is not None:
        stack.push_async_callback(_shielded, rooms.leave)
        group.start_soon(rooms.run, name="rooms")
    return rooms


def _make_model(meters: Meters, settings: Settings, learned: Learned) -> ChatModel:
    metered = partial(MeteredModel, meters=meters)
    return make_model(settings.agent, settings.models, learned, metered)


def _seeing_model(
    meters: Meters, files: KeptFiles, settings: Settings, learned: Learned
) -> ChatModel:
    return VisionModel(_make_model(meters, settings, learned), files)


def _spawn_chores(gateway: Gateway) -> None:
    spawn, parts = gateway.services.spawn, gateway.parts
    spawn("chores", Chores(gateway.services, parts.eraser, gateway.is_busy).run)
    spawn("waiting", parts.intake.watch.run)


async def _shielded(close: Callable[[], Awaitable[None]]) -> None:
    with anyio.CancelScope(shield=True):
        await close()


def _serve(
    gateway: Gateway,
    sock: socket.socket,
    token: str,
    bearer: str,
    environ: Mapping[str, str] | None,
) -> QuietServer:
    if environ is not None:
        gateway.desk = SettingsDesk(environ, gateway.renewal)
    host, port = sock.getsockname()[:2]
    gateway.url = _address(host, port)
    app = web_app(gateway, token, bearer)
    return make_server(app, gateway.services.settings.http.trusted_proxies)


def web_app(gateway: Gateway, token: str, bearer: str) -> Starlette:
    """Return everything that a gateway serves over HTTP."""
    services, status = gateway.services, gateway.status
    guard, store = services.guard, services.tapes.store

    def health() -> Readiness:
        shown, deaf = status.everywhere(), status.deaf()
        body = readiness(shown, deaf, guard.away_for(), guard.why, store)
        name = services.settings.agent.model
        body = {**body, "model": {"name": name, "notes": gateway.models.notes()}}
        parts = (gateway.parts.intake.watch.notes(), gateway.parts.memories.notes())
        notes = [*services.ledger.held.notes(), *services.sharing_notes(), *chain(*parts)]
        body |= {"notes": [*body.get("notes", ()), *notes]} if notes else {}
        return dict(services.redactor.value(body, lines=True))

    metrics = Exposition(services.meters, Gauges(services, status).read).route()
    sessions, console = Sessions(services, token), console_parts(gateway)
    if gateway.rooms is not None:
        sessions.share(gateway.rooms)
    public, rights = services.settings.http.public_url, Rights(console)
    gate = Gatekeeper(sessions, WrongLogins(services.clock), token, bearer, public)
    gateway.parts.door.open(gateway.url, token, rights.admits)
    routes = [
        metrics,
        *access_routes(console.access_admin),
        *(page_setup_routes(gateway.desk) if gateway.desk is not None else ()),
        *ledger_routes(console.ledger),
        *tape_routes(TapeAdmin(services), services.settings.home_path),
        *erase_routes(console.erase),
        *explain_routes(Explainer(services.store, services.redactor, services.clock)),
        *console_routes(console, rights, gate, gateway.pulse),
    ]
    app = make_app(gateway.channels, health, routes, gate)
    app.add_middleware(MetricsPort, metrics=metrics, http=services.settings.http)
    return app


def access_admin(gateway: Gateway) -> AccessAdmin:
    """Return what changes a gateway's access."""
    parts = gateway.parts
    return AccessAdmin(gateway.services, parts.requests.openings, parts.pairing)


def console_parts(gateway: Gateway) -> ConsoleParts:
    """Return what the screens of the console use."""
    services, parts = gateway.services, gateway.parts
    openings = parts.requests.openings
    return ConsoleParts(
        services=services,
        reads=gateway.pulse.reads,
        access=openings.access,
        roles=openings.roles,
        administrators=Administrators(
            openings.access, openings.roles, services.clock, services.bounds.rights_asked
        ),
        door=parts.door,
        links=ConsoleLinks(services, parts.door),
        status=gateway.status,
        models=gateway.models,
        waiting=parts.intake.watch,
        ledger=LedgerAdmin(services, parts.recovery, gateway.status.states),
        access_admin=access_admin(gateway),
        erase=EraseAdmin(services, parts.eraser),
        desk=gateway.desk,
    )


def _address(host: str, port: int) -> str:
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host  # noqa: S104 - only compared
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"
