"""The linker's figures on annotated logs: `python -m bench.linker_eval --data DIR`.

Through the linker alone, without a tape and a gateway. `--vary` asks how it stands other rooms:
mentions that are missing, other paces, fewer conversations, and links given as replies. `--views`
asks what a view shows, by which the chances in `tape/linking/ranking.py` are chosen.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Final

from bench.irc import Log
from bench.linker.score import Score, score, table, total
from bench.linker.vary import Scene, alone, changed, scene
from bench.linker.views import Figures, views
from bench.linker.views import table as views_table
from bench.log_options import add_log_options, find_conversations, read_as
from tape.linking import Linker
from tape.linking.weights import SHIPPED, load

ROOMS: Final[MappingProxyType[str, Callable[[Log], Scene]]] = MappingProxyType(
    {
        "as it is": scene,
        "30 % of the links as replies": partial(scene, replied=0.3),
        "60 % of the links as replies": partial(scene, replied=0.6),
        "30 % of the mentions missing": partial(changed, dropped=0.3),
        "no mentions": partial(changed, dropped=1.0),
        "other names": partial(changed, renamed=True),
        "three times as slow": partial(changed, pace=3.0),
        "three times as fast": partial(changed, pace=1 / 3),
        "a third of the conversations": partial(changed, kept=0.33),
        "one conversation": alone,
        "one conversation, no mentions": partial(alone, dropped=1.0),
    }
)


def main() -> None:
    """Score what the command line asks for; print tables."""
    options = _options()
    load(options.numbers)  # a bad file is named here, not by a worker
    task = partial(_score, options)
    paths = find_conversations(options)[:: options.each]
    if options.views:
        with ProcessPoolExecutor(options.workers) as pool:
            seen = list(pool.map(partial(_views, options), paths))
        rooms = {path.name: one for path, one in zip(paths, seen, strict=True) if one}
        print(views_table({**rooms, "all": [row for one in rooms.values() for row in one]}))
        return
    for room in ROOMS if options.vary else list(ROOMS)[:1]:
        with ProcessPoolExecutor(options.workers) as pool:
            scores = list(pool.map(partial(task, room), paths))
        everything = total(scores)
        rows = {path.name: one for path, one in zip(paths, scores, strict=True) if one.queries}
        print(table({**(rows if options.files else {}), room: everything}))
        median, high = everything.milliseconds()
        print(f"a link: {median:.2f} ms in the median, {high:.2f} ms at the 99th percentile\n")


def _score(options: argparse.Namespace, room: str, path: Path) -> Score:
    linker = Linker() if options.rules else Linker(load(options.numbers))
    few = "conversation" in room
    changed_log = ROOMS[room](read_as(options, path))
    return score(changed_log, linker, warm=20 if few else options.warm, every=options.every)


def _views(options: argparse.Namespace, path: Path) -> list[Figures]:
    linker = Linker(load(options.numbers))
    return views(scene(read_as(options, path)), linker, warm=options.warm)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.linker_eval", description=__doc__)
    add_log_options(parser)
    parser.add_argument("--numbers", type=Path, default=SHIPPED, metavar="FILE")
    parser.add_argument("--rules", action="store_true", help="the rules alone")
    parser.add_argument("--vary", action="store_true", help="in other rooms, too")
    parser.add_argument("--views", action="store_true", help="what views show, a row a file")
    parser.add_argument("--files", action="store_true", help="a row a file")
    parser.add_argument("--every", type=int, default=1, help="ask for each so many-th line")
    parser.add_argument("--each", type=int, default=1, help="read each so many-th file")
    parser.add_argument("--workers", type=int, default=2)
    return parser.parse_args()


if __name__ == "__main__":
    main()
