"""Open the store of a gateway, and put together the services that its parts share."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from channels.base import Channel
from channels.registry import ChannelMaker, make_channel
from gateway.background import Background
from gateway.clock import Clock
from gateway.doctor.digests import digests_of
from gateway.errors import SettingsError
from gateway.hooks.runtime import HookRuntime
from gateway.http.access_token import known_token
from gateway.metrics.meters import Meters
from gateway.pipeline.pipeline import TurnPipeline
from gateway.pipeline.router import OutboundChannelRouter
from gateway.redaction.known_secrets import secrets_of
from gateway.redaction.redactor import Redactor
from gateway.services import Services
from gateway.settings import Settings
from gateway.settings.bounds import BOUNDS, Bounds
from gateway.settings.intervals import INTERVALS, Intervals
from gateway.sharing.platforms.accounts import OwnAccounts
from gateway.sharing.schema import sharing_schema
from gateway.sharing.shared import SharedWork
from gateway.storage.ballast import Ballast
from gateway.storage.kept_files import HomeFiles, SharedFiles
from gateway.storage.ledger.leases import LEASE_SECONDS
from gateway.storage.ledger.ledger import Ledger, ledger_schema
from gateway.storage.old_threads import OldThreads
from gateway.storage.split_store import SplitStore
from gateway.storage.write_guard import WriteGuard
from gateway.turn.agent_plugin import AgentPlugin
from tape.database.schema import Schema
from tape.right_of_way import RightOfWay, Yielding
from tape.search.semantic import SemanticIndex
from tape.service import TapeService
from tape.store import Now, SharedStore, StoreLimits, TapeStore, UnitStore
from tape.stores.registry import dialect_of, is_tapes_only, open_store, open_tapes
from tape.stores.sqlite import tape_schema

ALONE: Final = (
    "roles divide the work of processes over one PostgreSQL database: name one in"
    " TAPEWAY_TAPE__URL, or leave TAPEWAY_SHARING__ROLE and --role away"
)


OpenStore = Callable[[str, Sequence[Schema], Now, StoreLimits], UnitStore]
"""Opens the store at a URL, as `tape.stores.registry.open_store` does."""


@dataclass(frozen=True, slots=True)
class Internals:
    """What no setting changes; whoever starts a gateway in code, as tests do, may give others."""

    intervals: Intervals = INTERVALS
    bounds: Bounds = BOUNDS
    open_store: OpenStore = open_store
    make_channel: ChannelMaker = make_channel


AS_SHIPPED: Final = Internals()


async def make_services(
    settings: Settings,
    internals: Internals,
    meters: Meters,
    tapes: TapeService,
    store: UnitStore,
    hooks: HookRuntime,
    channels: Mapping[str, Channel],
    background: Background,
) -> Services:
    """Return the services of a process over an open store, which others may share."""
    way = _way_through(store, tapes)  # before anything is withheld from the index of meanings
    clock, intervals = meters.clock, internals.intervals
    at_home = not isinstance(store, SharedStore)  # a server has a disk of its own
    ballast = Ballast(settings.home_path, settings.tape.disk_reserve if at_home else 0)
    ballast.take()
    lease = settings.sharing.lease if isinstance(store, SharedStore) else LEASE_SECONDS
    ledger = Ledger(store, clock, owner=secrets.token_hex(8), lease=lease)
    aliases = await ledger.inbox.aliases()
    await ledger.held.load()
    old_threads = OldThreads(store, tapes)
    await old_threads.load()
    router = OutboundChannelRouter(channels)
    redactor = Redactor(secrets_of(settings))
    store.prepare = redactor.entry
    shared = None
    if isinstance(store, SharedStore):
        shared = SharedWork.of(settings, intervals, ledger, clock, store, background.spawn)
        salt, token = await shared.workers.salt(), known_token(settings)
        shared.workers.digests = digests_of(settings, hooks, redactor, salt=salt, token=token)
        store.framing = shared.fencing(lambda one: tapes.session_tape(one).name)
    elif settings.sharing.role != "all":
        raise SettingsError(ALONE)
    return Services(
        settings=settings,
        clock=clock,
        store=store,
        tapes=tapes,
        ledger=ledger,
        hooks=hooks,
        files=SharedFiles(store, settings.sharing.file_bytes)
        if shared
        else HomeFiles(settings.home_path / "media", settings.sharing.file_bytes),
        router=router,
        pipeline=TurnPipeline(hooks, router, str(settings.workspace_path), aliases, redactor),
        guard=WriteGuard(clock, ballast, ledger.cursors.probe, background.spawn, intervals),
        old_threads=old_threads,
        aliases=aliases,
        spawn=background.spawn,
        redactor=redactor,
        meters=meters,
        shared=shared,
        way=way,
        accounts=OwnAccounts(clock) if shared is None else shared.accounts,
        intervals=intervals,
        bounds=internals.bounds,
    )


def _way_through(store: UnitStore, tapes: TapeService) -> RightOfWay:
    way = RightOfWay()
    if isinstance(store, Yielding):
        store.give_way(way)
    if isinstance(tapes.semantic, SemanticIndex):
        tapes.semantic.give_way(way)
    return way


def register_builtin(hooks: HookRuntime, agent: AgentPlugin) -> None:
    """Register the builtin plugin before the others, so that its hooks run last."""
    others = hooks.manager.list_name_plugin()
    for name, _plugin in others:
        hooks.manager.unregister(name=name)
    hooks.register(agent, "builtin")
    for name, plugin in others:
        hooks.register(plugin, name)


async def open_tape_store(
    settings: Settings, hooks: HookRuntime, clock: Clock, internals: Internals
) -> UnitStore:
    """Open the store; add a ledger database if a plugin or a folder of files stores only tapes."""
    open_store, tape = internals.open_store, settings.tape
    busy = internals.intervals.database_busy
    limits = StoreLimits(busy, tape.answer_seconds, tape.connections)
    found = await hooks.call_first("provide_tape_store")
    if not isinstance(found, TapeStore) and is_tapes_only(settings.tape_url):
        found = open_tapes(settings.tape_url, clock.now)
    if isinstance(found, TapeStore):
        database = f"sqlite://{settings.home_path / 'ledger.db'}"
        return SplitStore(found, open_store(database, [ledger_schema()], clock.now, limits))
    dialect = dialect_of(settings.tape_url)
    schemas = [ledger_schema(dialect), *([sharing_schema()] if dialect == "postgres" else [])]
    if settings.tape_url.startswith("memory:"):
        schemas.insert(0, tape_schema())
    return open_store(settings.tape_url, schemas, clock.now, limits)
