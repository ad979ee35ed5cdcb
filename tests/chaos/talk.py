"""Talk that asks nothing: it waits while things go wrong, and is all there in the end."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Final

import apsw

SAID: Final = re.compile(r"T\d+-\d+\b")
TAPED: Final = "SELECT tape, id, meta FROM entry WHERE kind = 'message' ORDER BY tape, id"


def talk(number: int, count: int) -> list[str]:
    """Return what people say, each with a name of its own; `number` tells it from other talk."""
    return [f"T{number}-{one} the tickets for the singer are gone" for one in range(count)]


def named(text: str) -> str:
    """Return the name of what was said, or ""."""
    found = SAID.match(text)
    return found[0] if found else ""


def read_faults(home: Path, said: Collection[str]) -> list[str]:
    """Return what became of talk on the tapes of a home that nobody should see."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with closing(apsw.Connection(str(home / "tapeway.db"), flags=flags)) as connection:
        return faults(connection.execute(TAPED), said)


def faults(taped: Iterable[Sequence[object]], said: Collection[str]) -> list[str]:
    """Return what the rows of `TAPED` have lost of talk, have twice, or have out of its order."""
    counts, places = Counter[str](), dict[object, list[int]]()
    for tape, _number, meta in taped:
        found = json.loads(str(meta))
        if name := named(found.get("text") or ""):
            counts[name] += 1
            places.setdefault(tape, []).append(found["inbox"])
    wanted = {named(text) for text in said}
    lost = sorted(wanted - counts.keys())
    twice = sorted(name for name in counts if counts[name] > 1)
    late = [
        f"{tape}: {second} after {first}"
        for tape, ids in places.items()
        for first, second in pairwise(ids)
        if second < first
    ]
    told = {"lost": lost, "on a tape twice": twice, "out of order": late}
    return [
        f"of {len(wanted)} messages that ask nothing, {len(some)} are {what}: {some[:5]}"
        for what, some in told.items()
        if some
    ]
