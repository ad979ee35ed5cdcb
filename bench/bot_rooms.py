"""The linker's figures in rooms with the agent: `python -m bench.bot_rooms --data PLACE ...`.

A PLACE holds annotated logs; each is made into rooms in which people talk with the agent
(`bench.linker.bot_rooms`), in the words of the others of the same places. Each added line is
judged: does another person's task begin its own conversation, and does a join-in, a follow-up or a
reply stand with the answer that it follows? Set-F1 is that of people's lines, with the agent and
without it.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from bench.irc import read
from bench.linker.bot_bank import Bank
from bench.linker.bot_rooms import BEGINNINGS, BotRoom, Moment, bot_room, without_agent
from bench.linker.play import linked
from bench.linker.score import Score, score
from bench.log_options import add_log_options, find_logs, read_as
from tape.linking import LaneLink, Linker
from tape.linking.weights import SHIPPED, load


@dataclass(slots=True)
class Judged:
    """How often lines of a kind were linked as they should be, and the scores of the rooms."""

    right: Counter[str] = field(default_factory=Counter)
    all: Counter[str] = field(default_factory=Counter)
    with_agent: Score = field(default_factory=Score)
    without: Score = field(default_factory=Score)

    def add(self, name: str, *, right: bool) -> None:
        self.right[name] += right
        self.all[name] += 1

    def as_json(self) -> dict[str, Any]:
        """Return the shares in percent, and Set-F1 with the agent and without it."""
        return {
            "kinds": {name: [self.right[name], self.all[name]] for name in sorted(self.all)},
            "with": _means(self.with_agent),
            "without": _means(self.without),
        }


def judge(room: BotRoom, links: Mapping[int, LaneLink]) -> Judged:
    """Judge each added line of a room by the lanes that its lines were given."""
    found = Judged()
    scene = room.scene
    for number, moment in room.moments.items():
        if moment.kind in BEGINNINGS:
            right = links[number].lane == f"said:{number}"
        else:
            right = links[number].lane == links[scene.log.parents[number][-1]].lane
        found.add(moment.kind, right=right)
        if moment.kind in ("task", "join"):
            found.add(f"{moment.kind}, {_when(moment)}", right=right)
    return found


def sum_up(all_of_them: Iterable[Judged]) -> Judged:
    """Return the sum of what was judged."""
    found = Judged()
    for one in all_of_them:
        found.right.update(one.right)
        found.all.update(one.all)
        found.with_agent.extend(one.with_agent)
        found.without.extend(one.without)
    return found


def table(found: Judged) -> str:
    """Return a table of what was judged."""
    rows = [
        f"{found.right[name]:5} of {found.all[name]:5}  {share:5.1f} %  {name}"
        for name in sorted(found.all)
        for share in (100 * found.right[name] / found.all[name],)
    ]
    for name, one in (("with the agent", found.with_agent), ("without", found.without)):
        if one.queries:
            means = one.means()
            figures = "  ".join(
                f"{what} {means[what]:.1f}"
                for what in ("set F1", "set recall", "set precision", "lane F1")
            )
            rows.append(f"{figures}  {one.queries} queries {name}")
    return "\n".join(rows)


def _when(moment: Moment) -> str:
    """Return how long after the last line a line came, in words that sort."""
    for limit in (0, 10, 60, 180, 600):
        if moment.gap <= limit:
            return f"{limit:4} s"
    return "3600 s"


def _means(one: Score) -> dict[str, float]:
    return {name: round(value, 2) for name, value in one.means().items()} if one.queries else {}


def _measure(options: argparse.Namespace, path: Path) -> Judged:
    """Make a log's rooms and judge them."""
    linker = Linker() if options.rules else Linker(load(options.numbers))
    log, bank = read_as(options, path), Bank(map(read, find_logs(options.data)))
    found = []
    for seed in range(options.seed, options.seed + options.rooms):
        room = bot_room(log, bank, seed)
        one = judge(room, linked(room.scene, linker))
        if not options.no_sets:
            one.with_agent = score(room.scene, linker, warm=options.warm, every=options.every)
            bare = without_agent(room)
            one.without = score(bare, linker, warm=options.warm, every=options.every)
        found.append(one)
    return sum_up(found)


def main() -> None:
    """Measure, and print tables."""
    options = _options()
    paths = find_logs(options.data)
    with ProcessPoolExecutor(options.workers) as pool:
        found = list(pool.map(partial(_measure, options), paths))
    for path, one in zip(paths, found, strict=True) if options.files else ():
        print(f"{path.name}\n{table(one)}\n")
    everything = sum_up(found)
    print(table(everything))
    if options.json:
        options.json.write_text(json.dumps(everything.as_json(), indent=1) + "\n")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.bot_rooms", description=__doc__)
    add_log_options(parser)
    parser.add_argument("--numbers", type=Path, default=SHIPPED, metavar="FILE")
    parser.add_argument("--rules", action="store_true", help="the rules alone")
    parser.add_argument("--files", action="store_true", help="a table a file")
    parser.add_argument("--no-sets", action="store_true", help="judge the added lines alone")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", type=int, default=1, help="rooms of each log, one a seed")
    parser.add_argument("--every", type=int, default=1, help="ask for each so many-th line")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


if __name__ == "__main__":
    main()
