"""Write a tape's file once more, with less in some lines; every line gets a new sum.

The new file replaces the old one in one step. If the process ends before the index has followed,
the sums do not match, and the file is read from its beginning.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tape.entry import Entry
from tape.private_file import open_private
from tape.stores.jsonl.check import Checkpoint
from tape.stores.jsonl.line import FIRST, Block, seal, unseal

SUFFIX: Final = ".erasing"

Place = tuple[int, int, int]


def rewrite(path: Path, left: Mapping[int, Entry]) -> tuple[Path, list[Place], Checkpoint]:
    """Write the copy; return it, the id, offset and size of each line, and its end."""
    copy = path.with_name(f"{path.name}{SUFFIX}")
    places: list[Place] = []
    at, previous = 0, FIRST
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    with path.open("rb") as old, os.fdopen(open_private(copy, flags), "wb") as new:
        for raw in old:
            line = unseal(raw)
            entry = left.get(line.entry.id, line.entry)
            position, size = line.block
            (sealed,), previous = seal([entry], Block(size, line.key), previous, position)
            new.write(sealed)
            places.append((entry.id, at, len(sealed) - 1))
            at += len(sealed)
        new.flush()
        os.fsync(new.fileno())
    return copy, places, Checkpoint(at, previous)
