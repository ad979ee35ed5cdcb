"""What the parts of a running gateway share."""

from __future__ import annotations

from dataclasses import dataclass

from agent.model import ChatModel
from gateway.clock import Clock
from gateway.hooks.runtime import HookRuntime
from gateway.pipeline.pipeline import TurnPipeline
from gateway.pipeline.router import OutboundChannelRouter
from gateway.settings import Settings
from gateway.storage.ledger.ledger import Ledger
from gateway.storage.write_guard import WriteGuard
from tape.service import TapeService
from tape.store import UnitStore


@dataclass(frozen=True, slots=True)
class Services:
    """Made once at the start.

    `store` holds the ledger and, unless a plugin has others, tapes; `aliases` are sessions that go
    on under another id.
    """

    settings: Settings
    clock: Clock
    store: UnitStore
    tapes: TapeService
    ledger: Ledger
    hooks: HookRuntime
    router: OutboundChannelRouter
    pipeline: TurnPipeline
    model: ChatModel
    persist: WriteGuard
    aliases: dict[str, str]
