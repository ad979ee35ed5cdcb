"""What was said last in a chat, read from the few newest entries of its tape."""

from __future__ import annotations

import random
from itertools import count
from typing import Final

from gateway.console.said import last_of_tail, without_gone
from tape.context import MESSAGE_EDIT
from tape.deletions import deletion
from tape.entry import NewEntry, event, message
from tape.handle import Tape
from tape.stores.memory import MemoryStore

NEWEST: Final = 5
_numbers: Final = count(1)


def _said(number: int) -> NewEntry:
    return message("user", f"text {number}", inbox=number, text=f"text {number}")


async def _something(tape: Tape, chance: random.Random, said: list[int]) -> None:
    """Append a message, an answer, an edit, a deletion or something else."""
    number = next(_numbers)
    what = chance.choice(["said", "answer", "draft", "edit", "delete", "other"])
    if what in ("edit", "delete") and said:
        about = chance.choice(said)
        change = {"entry": about, "text": f"edit {number}", "content": f"edit {number}"}
        await tape.append(
            event(MESSAGE_EDIT, change) if what == "edit" else deletion(about, str(about))
        )
    elif what in ("said", "answer", "draft"):
        answer = message("assistant", f"answer {number}", final=what == "answer")
        (entry,) = await tape.append(_said(number) if what == "said" else answer)
        said.append(entry.id)
    else:
        await tape.append(event("turn.end", {"turn": f"t-{number}"}))


async def test_the_last_message_of_the_newest_entries_is_that_of_the_tape_or_not_known() -> None:
    store, known = MemoryStore(), 0
    for seed in range(80):
        chance, tape, said = random.Random(seed), Tape(store, f"tape-{seed}"), list[int]()
        for _ in range(chance.randrange(1, 16)):
            await _something(tape, chance, said)
        whole = await without_gone(tape, await tape.read())
        newest = await tape.find(limit=NEWEST, newest=True)
        found = last_of_tail(newest)
        known += found is not None
        assert found is None or found == whole[-1]
        assert found is not None or not whole or whole[-1].id < newest[0].id
    assert known > 40
