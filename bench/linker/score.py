"""The figures of a linker on annotated logs, as the protocol asks for them, without a gateway."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from statistics import fmean, quantiles
from typing import Final

from bench.irc import WARM, Log
from bench.linker.partition import Partition
from bench.linker.play import answer_of, from_annotation, said_of
from bench.linker.vary import Scene
from tape.linking import Linker, LinkerRoom
from tape.linking.room import WINDOW

TOPS: Final = (10, 20, 50)
MOST: Final = 50


@dataclass(slots=True)
class Score:
    """Figures of queries, to be averaged; `seconds` are those of each link.

    `lanes` holds the lanes of all annotated lines beside their conversations.
    """

    figures: dict[str, list[float]] = field(default_factory=dict)
    lanes: Partition = field(default_factory=Partition)
    seconds: list[float] = field(default_factory=list)

    def add(self, name: str, value: float) -> None:
        """Add the figure of a query."""
        self.figures.setdefault(name, []).append(value)

    def extend(self, other: Score) -> None:
        """Add the queries of another."""
        self.seconds += other.seconds
        self.lanes.extend(other.lanes)
        for name, values in other.figures.items():
            self.figures.setdefault(name, []).extend(values)

    @property
    def queries(self) -> int:
        """How many queries there were."""
        return len(self.figures.get("set recall", ()))

    def means(self) -> dict[str, float]:
        """Return the macro means in percent, Set-F1 and the lane's own F1 among them.

        With them are the field's own figures of the lanes, over all files together.
        """
        means = {name: 100 * fmean(values) for name, values in self.figures.items()}
        for name in ("set", "lane"):
            recall, precision = means[f"{name} recall"], means[f"{name} precision"]
            means[f"{name} F1"] = 2 * recall * precision / ((recall + precision) or 1.0)
        return means | self.lanes.figures()

    def milliseconds(self) -> tuple[float, float]:
        """Return the median and the 99th percentile of a link's milliseconds."""
        cuts = quantiles(self.seconds, n=100)
        return 1e3 * cuts[49], 1e3 * cuts[98]


def score(scene: Scene, linker: Linker, *, warm: int = WARM, every: int = 1) -> Score:
    """Link a log and ask for the conversation of each line (or of each so many-th)."""
    log, found, room, asked = scene.log, Score(), LinkerRoom(), 0
    before: dict[int, set[int]] = {}
    for line in from_annotation(log):
        if line.number in scene.answers:
            room.add(*answer_of(line, scene, room))
            continue
        said = said_of(line, scene)
        begun = time.thread_time()
        link = linker.link(room, said)
        found.seconds.append(time.thread_time() - begun)
        room.add(said, link)
        conversation = log.dispatcher.get(line.number)
        if conversation is None or line.number < log.first_line:
            continue
        found.lanes.add(log.name, link.lane, conversation)
        gold = before.setdefault(conversation, set())
        if gold and line.number >= log.first_line + warm:
            if asked % every == 0:
                _ask(found, log, linker, room, line.number, gold)
            asked += 1
        gold.add(line.number)
    for server in range(log.server_lines):  # as the field counts them: nobody gets them wrong
        found.lanes.add(log.name, f"server {server}", f"server {server}")
    return found


def total(scores: Iterable[Score]) -> Score:
    """Return the sum of scores."""
    found = Score()
    for one in scores:
        found.extend(one)
    return found


def table(rows: Mapping[str, Score]) -> str:
    """Return a table of scores by name."""
    names = ["set F1", "set recall", "set precision", "lane F1", "1-VI", "1-1", "exact F1"]
    names += [f"{what}@{k}" for k in TOPS for what in ("recall", "parents")]
    lines = ["queries  " + "  ".join(f"{name:>5}" for name in names)]
    for name, one in rows.items():
        means = one.means()
        cells = "  ".join(f"{means[column]:{max(5, len(column))}.1f}" for column in names)
        lines.append(f"{one.queries:7}  {cells}  {name}")
    return "\n".join(lines)


def _ask(
    found: Score, log: Log, linker: Linker, room: LinkerRoom, number: int, gold: set[int]
) -> None:
    """Ask for one line's conversation, and count what is found."""
    key = str(number)
    parents = [one for one in log.parents.get(number, ()) if one in gold]
    order = _pool(log, room, linker.ranked(room, key, WINDOW))
    for k in TOPS:
        top = set(order[:k])
        found.add(f"recall@{k}", len(gold & top) / len(gold))
        found.add(f"precision@{k}", len(gold & top) / (len(top) or 1))
        found.add(f"parents@{k}", float(top.issuperset(parents)))
    lane = room.lanes[room.by_key[key].lane].heard
    for name, keys in (
        ("set", linker.chosen(room, key, WINDOW)),
        ("lane", [heard.key for heard in lane if heard.key != key]),
    ):
        taken = set(_pool(log, room, keys)[-MOST:])
        found.add(f"{name} recall", len(gold & taken) / len(gold))
        found.add(f"{name} precision", len(gold & taken) / (len(taken) or 1))


def _pool(log: Log, room: LinkerRoom, keys: Iterable[str]) -> list[int]:
    """Return the lines that may be asked for: people's, from the first annotated one on."""
    kept = (key for key in keys if not room.by_key[key].agent)
    return [line for key in kept if (line := int(key)) >= log.first_line]
