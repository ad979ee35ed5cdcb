"""Make up a long tape for the console: conversations in many lanes, chapters, quiet nights.

await fill(tape, 100_000, lanes=400)
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice
from random import Random
from typing import Any, Final

from tape.deletions import deletion
from tape.entry import NewEntry, anchor, bootstrap, event, message, tool_call
from tape.handle import Tape

BEGAN: Final = datetime(2024, 3, 1, 8, tzinfo=UTC)
BATCH: Final = 5000
AT_ONCE: Final = 6  # lanes in which people talk at the same time
PEOPLE: Final = ("Ada", "Ben", "Chen", "Dana", "Eli", "Fatma")
WORDS: Final = ("order", "came", "late", "bread", "tea", "paper", "here", "about", "blue", "rye")


class LongTape:
    """Makes the entries one after another, each with a date of its own."""

    def __init__(self, count: int, lanes: int, seed: int) -> None:
        self._random = Random(seed)
        self._count, self._lanes = count, lanes
        self._now = BEGAN
        self._made = 2  # the bootstrap
        self._last_said = 0

    def __iter__(self) -> Iterator[NewEntry]:
        for new in bootstrap():
            yield self._at(new, 0)
        while self._made - 2 < self._count:
            for new in self._exchange():
                self._made += 1
                yield new
                if self._made - 2 >= self._count:
                    return

    def _exchange(self) -> Iterator[NewEntry]:
        random, share = self._random, (self._made - 2) / self._count
        if random.random() < 0.002:
            yield self._at(anchor(f"Chapter {self._made}", {"summary": "what was said"}), 1)
        if self._now.hour >= 20:
            self._now += timedelta(hours=12)
        number = (int(share * self._lanes) + random.randrange(AT_ONCE)) % self._lanes
        lane, turn = f"said:lobby:{number}", f"turn-{self._made}"
        yield self._said(lane)
        if random.random() < 0.04:
            yield self._at(event("access.refused", {"author": "9", "why": "", "inbox": 0}), 1)
        if random.random() < 0.3:
            return
        how = {"lane": lane, "turn": turn}
        yield self._at(event("turn.start", {"turn": turn, "takes": [self._last_said]}, **how), 1)
        if random.random() < 0.3:
            call = {"id": "1", "function": {"name": "web.fetch", "arguments": "{}"}}
            yield self._at(tool_call([call], **how), 2)
        yield self._at(
            event("loop.step", {"step": 1, "status": "ok", "upto": self._made}, **how), 4
        )
        yield self._at(message("assistant", self._text(30), final=True, **how), 1)
        status = "failed" if random.random() < 0.02 else "done"
        yield self._at(event("turn.end", {"turn": turn, "status": status}, **how), 1)
        if random.random() < 0.03:
            yield self._at(
                event(
                    "message.edit",
                    {"entry": self._last_said, "content": "edited", "text": "edited"},
                ),
                5,
            )
        if random.random() < 0.02:
            yield self._at(deletion(self._last_said, "gone"), 5)

    def _said(self, lane: str) -> NewEntry:
        name, text = self._random.choice(PEOPLE), self._text(12)
        self._last_said = self._made + 1
        meta: dict[str, Any] = {"inbox": self._made, "author": name.lower(), "name": name}
        self._now += timedelta(seconds=self._random.expovariate(1 / 40))
        meta |= {"said_at": self._now.isoformat(), "lane": lane, "message_id": str(self._made)}
        return self._at(message("user", text, **meta, text=text), 0)

    def _text(self, words: int) -> str:
        return " ".join(self._random.choices(WORDS, k=self._random.randrange(3, words)))

    def _at(self, new: NewEntry, seconds: float) -> NewEntry:
        self._now += timedelta(seconds=seconds)
        return NewEntry(
            new.kind, new.payload, new.meta, self._now.isoformat(timespec="microseconds")
        )


def long_tape(count: int, lanes: int = 400, seed: int = 1) -> Iterator[NewEntry]:
    """Yield the bootstrap of a tape and `count` entries; the same for the same seed."""
    yield from LongTape(count, lanes, seed)


async def fill(tape: Tape, count: int, lanes: int = 400) -> None:
    """Append a long tape to an empty one."""
    made = long_tape(count, lanes)
    while batch := list(islice(made, BATCH)):
        await tape.append(*batch)
