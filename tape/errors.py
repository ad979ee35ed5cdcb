"""The errors of the tape.

TapeError
+-- AppendRefused     the tape does not accept an entry or a batch
|   +-- TapeMismatch    the tape does not end where an import expects it to
+-- ForkClosed        a fork was merged or discarded before an append to it
+-- QueryRefused      a condition of a query has an invalid value
+-- UnitFailed        a statement of a unit of work changed the wrong number of rows
+-- SessionLost       another process works on the session now, so nothing was written
+-- NotFound          the tape has no such anchor; lists similar names
+-- WeightsInvalid    the linker's weights are missing or damaged, so rules are used instead
+-- EmbedderFailed    an embedder could not make vectors
+-- OutcomeUnknown    the database did not say whether it wrote an append without a key
+-- ReadTooSlow       a read took longer than its reader may take
+-- MigrationMisnumbered  a file of a migration has another number than its position
+-- StoreUnavailable  the store is closed, or its disk or database is unavailable
+-- StoreTooNew       a newer version wrote the store; nothing was changed
+-- StoreUnusable     the store is not a tape store or is damaged, or this SQLite could damage it
    +-- StoreMoved      its content is in another database, or is being moved
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Final

MAX_NAME_LENGTH: Final = 200
"""Maximum characters of a wanted name that NotFound compares with other names and quotes."""


class TapeError(Exception):
    """The base class of every error of this package."""


class AppendRefused(TapeError):
    """The tape does not accept an entry; nothing of its batch was written."""


class TapeMismatch(AppendRefused):
    """A batch expects another number of entries on its tape; nothing was written."""

    def __init__(self, tape: str, expected: int, found: int) -> None:
        super().__init__(
            f"the tape {tape} has {found} entries instead of {expected}: start the import again;"
            " nothing was written"
        )


class ForkClosed(TapeError):
    """A fork was merged or discarded before an append, which is neither in it nor on its parent."""

    def __init__(self, fork: str, parent: str) -> None:
        super().__init__(f"the fork {fork} is closed: append to its parent {parent}")


class QueryRefused(TapeError):
    """A condition of a query has an invalid value, such as an unreadable date."""


class UnitFailed(TapeError):
    def __init__(self, statement: str, expected: int, changed: int) -> None:
        self.statement = statement
        self.expected = expected
        self.changed = changed
        super().__init__(
            f"{statement} changed {changed} rows instead of {expected}; nothing was written"
        )


class SessionLost(TapeError):
    """Another process holds the session by now; nothing was written, and nothing is to be said."""


class NotFound(TapeError):
    """The tape has no anchor of that name; `nearest` lists up to three similar names."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name = name
        shown = name[:MAX_NAME_LENGTH]  # comparing a megabyte with every name takes minutes
        names = list(known)
        self.nearest = tuple(get_close_matches(shown, names, n=3, cutoff=0.3))
        hint = f"; it has {', '.join(names[:3])}" if names else ""
        hint = f"; the nearest are {', '.join(self.nearest)}" if self.nearest else hint
        super().__init__(f"no anchor named {shown!r} on this tape{hint}")


class WeightsInvalid(TapeError):
    def __init__(self, path: Path, trouble: str) -> None:
        self.path = path
        super().__init__(
            f"{path} cannot be read ({trouble}): reinstall Tapeway; until then messages are linked"
            " by rules alone"
        )


class EmbedderFailed(TapeError):
    """An embedder could not make vectors now, so searches use only words."""


class StoreUnavailable(TapeError):
    """The store is closed, or its disk or database is unavailable.

    full     the disk is full
    lasting  it stays so until somebody changes something
    """

    def __init__(self, message: str, *, full: bool = False, lasting: bool = False) -> None:
        self.full = full
        self.lasting = lasting
        super().__init__(message)


class ReadTooSlow(TapeError):
    """A read was ended at the time limit of its reader; `seconds` is the limit."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"the read took longer than {seconds:g} s and was ended: ask for less")


class OutcomeUnknown(TapeError):
    """An append without a key may have been written or not; with a key it would be run again."""

    def __init__(self, tapes: Iterable[str]) -> None:
        super().__init__(
            "the database did not say whether it wrote the entries: look at the end of"
            f" {', '.join(tapes)} before you append them again"
        )


class MigrationMisnumbered(TapeError):
    """A migration's number is not its position, so no database can say whether it has it."""

    def __init__(self, folder: str, file: str, trouble: str, remedy: str) -> None:
        self.folder = folder
        self.file = file
        super().__init__(f"{folder}/{file} {trouble}: {remedy}; nothing was changed")


class StoreTooNew(TapeError):
    def __init__(self, path: Path | str, schema: str, found: int, known: int, by: str = "") -> None:
        self.path = path
        which = f"Tapeway {by} or a newer one" if by else "that version"
        super().__init__(
            f"{path} was written by a newer Tapeway ({schema} schema {found}, this version knows"
            f" {known}): install {which}, restore a backup that was made before the upgrade, or"
            " name another file in TAPEWAY_TAPE__URL; nothing was changed"
        )


class StoreUnusable(TapeError):
    """The file is not a tape store, it is damaged, or the installed SQLite could damage it."""


class StoreMoved(StoreUnusable):
    """The content of the database is in another one, or is being moved."""
