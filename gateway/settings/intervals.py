"""How often a gateway looks by itself, and how long it waits.

Nobody has to set these, so no environment variable does; whoever starts a gateway in code, as a
test does, may give others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Intervals:
    """Seconds, each with what they are for."""

    database_busy: float = 5.0
    """Maximum wait for another program that holds the SQLite file."""

    first_retry: float = 0.5
    """Until a write that the database did not accept is tried again; each later wait is longer."""

    probe: float = 2.0
    """Between two small writes that find out whether the database accepts any again."""

    claims: float = 0.4
    """Until a process looks for work by itself: a notification may be lost."""

    workers: float = 5.0
    """Until a process says again that it lives, and reads what all processes must know alike."""

    accounts: float = 5.0
    """Until a process reads by itself what others know of the accounts on the platforms."""

    rooms: float = 1.0
    """Until a process reads by itself what goes on in the rooms that somebody follows there."""

    quiet_rooms: float = 5.0
    """The same while nobody listens: only who was shut out matters then."""

    silent_process: float = 15.0
    """Without a sign of life, until nothing of a process is shown any more."""

    stale_questions: float = 3.0
    """For which the stale questions of a chat are counted; one notice then covers them all."""

    replaced_channel: float = 8.0
    """Maximum wait for a channel's running turns before the channel is replaced."""

    chores: float = 60.0
    """Until the process that does the chores looks for what those that have ended left behind."""

    waiting: float = 60.0
    """Until it is counted again how many messages wait to be placed on their tapes."""

    failed_erasure: float = 60.0
    """Until an erasure that failed goes on."""

    console_look: float = 0.5
    """Between two looks for changes while somebody follows the console."""

    console_rights: float = 5.0
    """Until a stream finds out again what its visitor may see; it says so to stay open."""

    console_read: float = 0.2
    """Maximum time of one read of the console."""

    console_search: float = 2.0
    """Maximum time of one search of the console."""

    console_turn: float = 5.0
    """Maximum wait of a read of the console for those before it."""

    database_check: float = 10.0
    """Maximum time in which doctor checks a database, unless it is asked to check deeply."""


INTERVALS: Final = Intervals()
"""Those of the product."""
