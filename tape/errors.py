"""What can go wrong with a tape.

TapeError
+-- AppendRefused     an entry or a batch that the tape does not take
|   +-- TapeNotAsWas    an import onto a tape that has other entries
+-- QueryRefused      a query that nothing can answer to: a date that is none, half a character
+-- UnitFailed        a statement of a unit of work did not change what it had to
+-- NotFound          no such anchor; names the nearest ones
+-- NumbersUnfit      what the linker has learned is missing or damaged; its rules work without
+-- EmbedderFailed    texts could not be made into vectors (raised by embedders)
+-- StoreUnavailable  the store is closed, or its disk or database is away
+-- StoreTooNew       written by a newer version; left untouched
+-- StoreUnfit        not a tape database, or an SQLite that could damage it
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Final

MAX_NAME_LENGTH: Final = 200


class TapeError(Exception):
    """The root of every error of this package."""


class AppendRefused(TapeError):
    """An entry or a batch that the tape does not take; nothing of the batch was written."""


class TapeMismatch(AppendRefused):
    """An import that goes on a tape which has grown since, or is not empty."""

    def __init__(self, tape: str, wanted: int, found: int) -> None:
        super().__init__(
            f"the tape {tape} has {found} entries where {wanted} were expected; nothing was written"
        )


class QueryRefused(TapeError):
    """A query holds what no entry can (half a character, a date that is none): ask otherwise."""


class UnitFailed(TapeError):
    """A statement of a unit of work changed another number of rows than it had to.

    Nothing of the unit was written.
    """

    def __init__(self, statement: str, expected: int, changed: int) -> None:
        self.statement = statement
        self.expected = expected
        self.changed = changed
        super().__init__(
            f"{statement} changed {changed} rows where {expected} were expected;"
            " nothing was written"
        )


class NotFound(TapeError):
    """No anchor of that name on the tape."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name = name
        shown = name[:MAX_NAME_LENGTH]  # comparing a megabyte with every name takes for ever
        self.nearest = tuple(get_close_matches(shown, list(known), n=3, cutoff=0.3))
        hint = f"; the nearest are {', '.join(self.nearest)}" if self.nearest else ""
        super().__init__(f"no anchor named {shown!r} on this tape{hint}")


class WeightsInvalid(TapeError):
    """What the linker has learned is missing or damaged; it links by its rules without."""

    def __init__(self, path: Path, trouble: str) -> None:
        self.path = path
        super().__init__(
            f"{path} cannot be read ({trouble}): install Tapeway again; until then messages are"
            " linked by rules alone"
        )


class EmbedderFailed(TapeError):
    """Texts could not be made into vectors, for now; searches go by words alone."""


class StoreUnavailable(TapeError):
    """The store is closed, or its disk or database is away; the caller may try again.

    `full` tells that the disk is.
    """

    def __init__(self, message: str, *, full: bool = False) -> None:
        self.full = full
        super().__init__(message)


class StoreTooNew(TapeError):
    """A database that a newer version has written; it was opened for reading only."""

    def __init__(self, path: Path, schema: str, found: int, known: int) -> None:
        self.path = path
        super().__init__(
            f"{path} was written by a newer Tapeway ({schema} schema {found}, this one knows"
            f" {known}): install that version again, or name another file in TAPEWAY_TAPE__URL;"
            " nothing was changed"
        )


class StoreUnusable(TapeError):
    """Not a tape database, or an SQLite library that could damage one."""
