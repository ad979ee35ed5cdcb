"""The running gateway: everything put together, started, and ended.

Start: lock the home, open the store, load plugins, take up what the last process left, start the
channels and the HTTP server. End (SIGTERM): take nothing new, let turns and sends finish for a
while, hand the rest over to the next start. Ctrl-C hands over at once.
"""

from __future__ import annotations

import secrets
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from os import getpid
from pathlib import Path
from typing import Final

import anyio

from agent.models.offline import OFFLINE
from agent.models.registry import make_model
from channels.base import Channel
from channels.registry import CHANNELS, make_channel
from gateway.admin.ledger_admin import LedgerAdmin
from gateway.admin.tape_admin import TapeAdmin
from gateway.clock import Clock, SystemClock
from gateway.context.vision_model import VisionModel
from gateway.embeddings.registry import open_meaning
from gateway.errors import GatewayError, HomeInUse, SettingsError
from gateway.explain.explainer import Explainer
from gateway.home import Running, announce, locked, withdraw
from gateway.hooks.loader import Failure, load_plugins
from gateway.hooks.runtime import HookRuntime
from gateway.http.access_token import token_of
from gateway.http.admin_ledger import explain_routes, ledger_routes
from gateway.http.admin_tapes import tape_routes
from gateway.http.app import Readiness, make_app, readiness
from gateway.http.server import QuietServer, listen, make_server
from gateway.intake.access import Access
from gateway.logs import get_log
from gateway.pipeline.pipeline import TurnPipeline
from gateway.pipeline.router import OutboundChannelRouter
from gateway.pipeline.turn import Turn
from gateway.scheduling.dispatcher import Dispatcher
from gateway.services import Services
from gateway.settings import Settings, describe
from gateway.storage.ballast import Ballast
from gateway.storage.ledger.ledger import Ledger, ledger_schema
from gateway.storage.split_store import SplitStore
from gateway.storage.write_guard import WriteGuard
from gateway.supervision.manager import Background, ChannelManager
from tape.service import TapeService
from tape.store import TapeStore, UnitStore
from tape.stores.registry import is_tapes_only, open_store, open_tapes
from tape.stores.sqlite import tape_schema

FINISH_SECONDS: Final = 8.0
"""So long a stop waits for turns and sends; what is not done by then, the next start does."""

SETTLE_SECONDS: Final = 10.0
"""So long the start waits for every channel to connect or fail once."""

OFFLINE_HINT: Final = (
    "No model is named yet, so the offline model answers. Name one with TAPEWAY_AGENT__MODEL"
    " (and TAPEWAY_AGENT__BASE_URL, TAPEWAY_AGENT__API_KEY) and start again."
)


@dataclass(slots=True)
class Gateway:
    """A gateway that runs."""

    services: Services
    channels: dict[str, Channel]
    dispatcher: Dispatcher
    manager: ChannelManager
    url: str
    failures: list[Failure]

    async def finish(self, seconds: float = FINISH_SECONDS) -> None:
        """Start no more turns, and wait a while for those that run and for what is being sent."""
        self.dispatcher.sessions.close()
        with anyio.move_on_after(seconds):
            await self.dispatcher.idle()


PluginSource = Callable[[HookRuntime], list[Failure]]


@asynccontextmanager
async def running_gateway(
    settings: Settings,
    *,
    only: Sequence[str] | None = None,
    http: bool = True,
    clock: Clock | None = None,
    plugins: PluginSource = load_plugins,
) -> AsyncIterator[Gateway]:
    """Start a gateway and end it with the block.

    `only` names the channels to start (None: every enabled one); `plugins` registers plugins.
    Raises GatewayError or TapeError before anything is started.
    """
    with locked(settings.home_path), _database_locked(settings):
        # In a container the next gateway often has the number of a killed one.
        withdraw(settings.home_path)
        token = token_of(settings) if http else ""
        bearer = token or secrets.token_urlsafe(32)
        sock = listen(settings.http.host, settings.http.port, token) if http else None
        try:
            async with (
                _opened(settings, only, clock or SystemClock(), plugins) as gateway,
                anyio.create_task_group() as group,
            ):
                server: QuietServer | None = None
                try:
                    if sock is not None:
                        server = _serve(gateway, sock, token, bearer)
                        group.start_soon(server.run_on, sock, name="http")
                        announce(settings.home_path, Running(getpid(), gateway.url, bearer))
                    group.start_soon(gateway.manager.run, name="channels")
                    with anyio.move_on_after(SETTLE_SECONDS):
                        await gateway.manager.settled()
                    await gateway.dispatcher.resume()
                    get_log().info("gateway.ready", url=gateway.url, **describe(settings))
                    yield gateway
                finally:
                    gateway.services.persist.end()
                    with anyio.CancelScope(shield=True):
                        await gateway.manager.stop()
                        withdraw(settings.home_path)
                        if server is not None:
                            await server.end()
                    group.cancel_scope.cancel()
        finally:
            if sock is not None:
                sock.close()


@asynccontextmanager
async def _opened(
    settings: Settings, only: Sequence[str] | None, clock: Clock, plugins: PluginSource
) -> AsyncIterator[Gateway]:
    _make_workspace(settings.workspace_path)
    model = make_model(settings.agent)
    hooks = HookRuntime()
    failures = plugins(hooks)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(_shielded, model.aclose)
        store = await _open_store(settings, hooks, clock)
        stack.push_async_callback(_shielded, store.close)
        meaning = open_meaning(settings, store)
        if meaning is not None:
            stack.push_async_callback(_shielded, meaning.close)
        channels: dict[str, Channel] = {}
        router = OutboundChannelRouter(channels)
        background = Background()
        ballast = Ballast(settings.home_path, settings.tape.ballast)
        ballast.take()
        ledger = Ledger(store, clock, owner=secrets.token_hex(8))
        aliases = await ledger.inbox.aliases()
        services = Services(
            settings=settings,
            clock=clock,
            store=store,
            tapes=TapeService(store, settings.workspace_path, meaning),
            ledger=ledger,
            hooks=hooks,
            router=router,
            pipeline=TurnPipeline(hooks, router, str(settings.workspace_path), aliases),
            model=VisionModel(model, settings.home_path),
            persist=WriteGuard(clock, ballast, ledger.cursors.probe, background.spawn),
            aliases=aliases,
        )
        running: dict[str, Turn] = {}
        conversation = Dispatcher(
            services, Access(settings.access, aliases), background.spawn, running
        )
        register_builtin(hooks, conversation)
        channels.update(await _channels(settings, hooks, only))
        hint = OFFLINE_HINT if settings.agent.model == OFFLINE else None
        manager = ChannelManager(services, list(channels.values()), conversation, background, hint)
        stack.push_async_callback(_shielded, lambda: _close_channels(channels))
        async with anyio.create_task_group() as group:
            background.open(group)
            if meaning is not None:
                group.start_soon(meaning.run, name="meaning")
            await conversation.load()
            yield Gateway(services, channels, conversation, manager, _url(settings), failures)
            group.cancel_scope.cancel()


async def _close_channels(channels: Mapping[str, Channel]) -> None:
    """Let go of every channel's connections, when nothing that sends runs any more."""
    for channel in channels.values():
        try:
            await channel.close()
        except Exception as cause:
            get_log().error("channel.close_failed", channel=channel.name, exc_info=cause)


async def _shielded(close: Callable[[], Awaitable[None]]) -> None:
    with anyio.CancelScope(shield=True):
        await close()


@contextmanager
def _database_locked(settings: Settings) -> Iterator[None]:
    """Hold a database that is not in the home folder: two homes must not share one."""
    path = Path(settings.tape.url.removeprefix("sqlite://").partition("?")[0])
    if not settings.tape.url.startswith("sqlite:") or path.parent == settings.home_path:
        yield
        return
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(path.parent, f"{path.name}.lock"))
        except HomeInUse as cause:
            raise GatewayError(
                f"another gateway uses the database {path}: stop it first, or name another file in"
                " TAPEWAY_TAPE__URL"
            ) from cause
        except GatewayError as cause:
            raise GatewayError(
                f"the database {path} cannot be used: make its folder writable, or name another"
                " file in TAPEWAY_TAPE__URL"
            ) from cause
        yield


def _make_workspace(path: Path) -> None:
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as cause:
        raise SettingsError(
            f"TAPEWAY_WORKSPACE: the folder {path} cannot be made ({cause.strerror}); for example"
            " TAPEWAY_WORKSPACE=/srv/tapeway/workspace"
        ) from cause


def register_builtin(hooks: HookRuntime, conversation: Dispatcher) -> None:
    """Register the builtin plugin so that it runs last: before all others, however late."""
    others = hooks.manager.list_name_plugin()
    for name, _plugin in others:
        hooks.manager.unregister(name=name)
    hooks.register(conversation.builtin, "builtin")
    for name, plugin in others:
        hooks.register(plugin, name)


async def _open_store(settings: Settings, hooks: HookRuntime, clock: Clock) -> UnitStore:
    """Open the store of the settings; tapes alone (a plugin's, files) get the ledger beside."""
    found = await hooks.call_first("provide_tape_store")
    if not isinstance(found, TapeStore) and is_tapes_only(settings.tape_url):
        found = open_tapes(settings.tape_url, clock.now)
    if isinstance(found, TapeStore):
        database = f"sqlite://{settings.home_path / 'ledger.db'}"
        return SplitStore(found, open_store(database, [ledger_schema()], clock.now))
    schemas = [ledger_schema()]
    if settings.tape_url.startswith("memory:"):
        schemas.insert(0, tape_schema())
    return open_store(settings.tape_url, schemas, clock.now)


async def _channels(
    settings: Settings, hooks: HookRuntime, only: Sequence[str] | None
) -> dict[str, Channel]:
    """Make the enabled channels; of one name a plugin's wins over ours."""
    found: dict[str, Channel] = {}
    for provided in await hooks.call_many("provide_channels"):
        for channel in provided or ():
            if only is None or channel.name in only:
                found.setdefault(channel.name, channel)
    for name in CHANNELS:
        own = getattr(settings, name)
        if own.enabled and name not in found and (only is None or name in only):
            found[name] = make_channel(name, own)
    return found


def _serve(gateway: Gateway, sock: socket.socket, token: str, bearer: str) -> QuietServer:
    host, port = sock.getsockname()[:2]
    gateway.url = _address(host, port)
    channels = list(gateway.channels.values())
    manager, persist = gateway.manager, gateway.services.persist

    def health() -> Readiness:
        return readiness(manager.states, manager.deaf(), persist.away_for(), persist.why)

    home = gateway.services.settings.home_path
    routes = [
        *ledger_routes(LedgerAdmin(gateway.services, gateway.dispatcher)),
        *tape_routes(TapeAdmin(gateway.services), home),
        *explain_routes(Explainer(gateway.services.store, gateway.services.settings)),
    ]
    app = make_app(channels, health, routes, f"{host}:{port}", token, bearer)
    return make_server(app, gateway.services.settings.http.trusted_proxies)


def _url(settings: Settings) -> str:
    return _address(settings.http.host, settings.http.port)


def _address(host: str, port: int) -> str:
    shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host  # noqa: S104 - only compared
    return f"http://[{shown}]:{port}/" if ":" in shown else f"http://{shown}:{port}/"
