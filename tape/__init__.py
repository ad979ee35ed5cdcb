"""Tapes are append-only lists of entries; stores hold them, and models read views of them.

errors entry query unit_of_work turn_events tokens    data
store reads                                           the contract of a store; reading a tape
deletions context                                     views
database/ search/ stores/                             memory, SQLite and JSONL files
construct/ handle snapshot service                    tapes and forks as callers use them
linking/ importing/ testing/                          lanes of a group, imports, tests of stores
"""

from tape.context import LATEST, Message, TapeContext, default_tape_context
from tape.entry import (
    Entry,
    NewEntry,
    anchor,
    error,
    event,
    handoff,
    message,
    tool_call,
    tool_result,
)
from tape.errors import (
    AppendRefused,
    EmbedderFailed,
    ForkClosed,
    NotFound,
    QueryRefused,
    StoreTooNew,
    StoreUnavailable,
    StoreUnusable,
    TapeError,
    TapeMismatch,
    UnitFailed,
    WeightsInvalid,
)
from tape.handle import ForkTape, Tape
from tape.query import Query
from tape.service import TapeService, tape_name
from tape.snapshot import TapeSnapshot
from tape.store import TapeInfo, TapeStore, UnitStore
from tape.stores.memory import MemoryStore
from tape.stores.registry import open_store, open_tapes
from tape.stores.sqlite import SqliteStore
from tape.unit_of_work import Unit

__all__ = [
    "LATEST",
    "AppendRefused",
    "EmbedderFailed",
    "Entry",
    "ForkClosed",
    "ForkTape",
    "MemoryStore",
    "Message",
    "NewEntry",
    "NotFound",
    "Query",
    "QueryRefused",
    "SqliteStore",
    "StoreTooNew",
    "StoreUnavailable",
    "StoreUnusable",
    "Tape",
    "TapeContext",
    "TapeError",
    "TapeInfo",
    "TapeMismatch",
    "TapeService",
    "TapeSnapshot",
    "TapeStore",
    "Unit",
    "UnitFailed",
    "UnitStore",
    "WeightsInvalid",
    "anchor",
    "default_tape_context",
    "error",
    "event",
    "handoff",
    "message",
    "open_store",
    "open_tapes",
    "tape_name",
    "tool_call",
    "tool_result",
]
