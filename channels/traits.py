"""The limits and timings of a platform."""

from __future__ import annotations

from dataclasses import dataclass

from channels.pacing import UNLIMITED, Budget


@dataclass(frozen=True, slots=True)
class Traits:
    """The limits and timings of a platform; durations are in seconds.

    edit_interval    minimum between two updates of partial text
    edit_rest        how many times its duration to wait after such an update, if it is work here
    first_text       how long to wait for the answer before showing partial text
    max_draft_chars  maximum characters shown before the answer is complete; 0: no maximum
    typing_signs     whether typing signs must be repeated, rather than switched on and off
    stalled_after    a connection without a heartbeat for this long is stalled; None: never
    join_wait        how long to wait for the other parts of a split message
    debounce         how long to wait for an author's next message; None: as the setting says
    adds_to_waiting  whether a question is asked with the same author's one before it, if that
                     still waits for its turn
    answers_open_threads  whether an answer in a group opens a thread at its question
    idempotent_for   how long a second send returns the first receipt; None: forever
    chat, group      rate limit of each chat; on some platforms groups have their own
    bot              rate limit of all the bot's chats together
    """

    edit_interval: float = 1.0
    edit_rest: float = 0.0
    first_text: float = 0.0
    max_draft_chars: int = 0
    typing_signs: bool = False
    stalled_after: float | None = None
    join_wait: float = 0.0
    debounce: float | None = None
    adds_to_waiting: bool = False
    idempotent_for: float | None = None
    answers_open_threads: bool = False
    chat: Budget = UNLIMITED
    group: Budget = UNLIMITED
    bot: Budget = UNLIMITED
