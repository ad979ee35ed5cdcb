"""What views show of a room, and what as many last messages do, without a gateway.

A view has a message's lane, what earlier views of the lane have shown, and what is likely or in
doubt. Every fifth query has a view.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from statistics import fmean
from typing import Final

from bench.linker.play import answer_of, from_annotation, said_of
from bench.linker.vary import Scene
from gateway.context.rooms.memory import MAX_LIKELY
from tape.linking import Linker, LinkerRoom

Figures = tuple[float, ...]

COLUMNS: Final = (
    "recall",
    "precision",
    "messages",
    "as many last",
    "precision of these",
    "last 20",
    "precision of these",
)
EVERY: Final = 5
LAST: Final = 20


def views(scene: Scene, linker: Linker, *, warm: int, every: int = EVERY) -> list[Figures]:
    """Return the figures of each view of a room, in the order of the columns."""
    log, room, asked = scene.log, LinkerRoom(), 0
    before: dict[int, set[int]] = {}
    included: dict[str, set[int]] = {}
    found: list[Figures] = []
    for line in from_annotation(log):
        if line.number in scene.answers:
            room.add(*answer_of(line, scene, room))
            continue
        said = said_of(line, scene)
        link = linker.link(room, said)
        room.add(said, link)
        conversation = log.dispatcher.get(line.number)
        if conversation is None or line.number < log.first_line:
            continue
        gold = before.setdefault(conversation, set())
        if gold and line.number >= log.first_line + warm:
            asked += 1
            if asked % every == 0:
                near = linker.beside(room, said.key, MAX_LIKELY)
                kept = included.setdefault(link.lane, set())
                kept.update(map(int, (*near.likely, *near.doubted)))
                lane = {int(one.key) for one in room.lanes[link.lane].heard} - {line.number}
                last = [int(one.key) for one in room.heard if not one.agent][:-1]
                pool = [number for number in last if number >= log.first_line]
                found.append(_figures(gold, (lane | kept).intersection(pool), pool))
        gold.add(line.number)
    return found


def table(rooms: dict[str, Sequence[Figures]]) -> str:
    """Return a table of rooms."""
    lines = ["  ".join(("views", *COLUMNS))]
    for name, rows in rooms.items():
        means = [fmean(column) for column in zip(*rows, strict=True)]
        cells = (f"{mean:{len(title)}.1f}" for mean, title in zip(means, COLUMNS, strict=True))
        lines.append("  ".join((f"{len(rows):5}", *cells, name)))
    return "\n".join(lines)


def _figures(gold: set[int], shown: set[int], pool: list[int]) -> Figures:
    many, last = pool[-len(shown) :] if shown else [], pool[-LAST:]
    return (*_of(gold, shown), float(len(shown)), *_of(gold, many), *_of(gold, last))


def _of(gold: set[int], shown: Iterable[int]) -> Figures:
    """Return recall and precision in percent."""
    taken = set(shown)
    hits = 100.0 * len(gold & taken)
    return hits / len(gold), hits / (len(taken) or 1)
