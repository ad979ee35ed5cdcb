"""The tape: append-only entries of a chat, stores that hold them, and views for a model.

entry query unit        the data
store                   the contract; memory, sqlite and file keep it, testing checks it
reads handle service    what callers hold, forks among it
context tokens          views
construct/              a context for a task
importing mend          tapes of other tools and of files
"""

from tape.context import LATEST, TapeContext, default_tape_context
from tape.entry import Entry, NewEntry
from tape.errors import NotFound, TapeError
from tape.handle import ForkTape, Tape
from tape.query import Query
from tape.service import TapeService, tape_name
from tape.store import TapeStore, UnitStore
from tape.unit_of_work import Unit

__all__ = [
    "LATEST",
    "Entry",
    "ForkTape",
    "NewEntry",
    "NotFound",
    "Query",
    "Tape",
    "TapeContext",
    "TapeError",
    "TapeService",
    "TapeStore",
    "Unit",
    "UnitStore",
    "default_tape_context",
    "tape_name",
]
