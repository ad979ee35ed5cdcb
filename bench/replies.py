"""Whether the message that a person replied to is found when the reply is hidden; needs no labels.

    python -m bench.replies PLACE ... [--hide SHARE] [--seed N] [--json FILE]

A PLACE is a folder of chat logs whose replies are known, the names of some in one, or a file that
`tapeway tape export` wrote, of your own group. A share of the replies (half, or all of them: 1) is
hidden from the linker, which gets the messages as if they had been said without the button. Then
each is asked: is the message that it replied to in its lane, in the set that is chosen for it, and
in the view of a turn (every fifth)? Beside these stand as many of the room's last messages.

lane       the share in the lane of the reply, and how many of the last 200 messages a lane has
set        the share in the chosen set, its size, and the share in as many last messages
view       the same of a turn's view
last 25    the share in the last 25 messages, and in the last 20
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import sys
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final

import anyio

from bench.irc import read
from bench.log_options import find_logs
from bench.replay.exported import NotAGroup, read_export
from bench.replay.figures import Row
from bench.replay.gateway import playing, quiet_log
from bench.replay.play import Replay, Seen
from bench.replay.room import PlayedRoom, Said, room_of
from gateway.context.rooms.reading import room_key
from tape.linking.room import LinkerRoom

CALL_EVERY: Final = 5
BUDGET: Final = 4_000
COLUMNS: Final = {
    "replies": "replies",
    "in_lane": "in lane",
    "lane_size": "lane size",
    "in_set": "in set",
    "set_size": "set size",
    "in_as_many_last": "as many last",
    "in_view": "in view",
    "view_size": "view size",
    "in_as_many_as_view": "as many last ",
    "in_last_25": "last 25",
    "in_last_20": "last 20",
}
SHARES: Final = [name for name in COLUMNS if name.startswith("in_")]


def hiding(room: PlayedRoom, share: float, seed: int) -> tuple[PlayedRoom, dict[int, int]]:
    """Return a room without a share of its replies, and these; the same for the same seed.

    A reply in a thread stays: its lane is known without it.
    """
    rng = random.Random(f"hidden {seed} {room.name}")
    free = [one for one in room.said if one.number in room.replies and not one.message.thread_id]
    hidden = {one.number for one in rng.sample(free, round(share * len(free)))}
    said = tuple(
        replace(one, message=replace(one.message, reply_to=None)) if one.number in hidden else one
        for one in room.said
    )
    found = {number: to for number, to in room.replies.items() if number in hidden}
    return replace(room, said=said), found


async def rows_of(room: PlayedRoom, hidden: dict[int, int], frame: int = 0) -> list[Row]:
    """Play a room, and return the figures of each reply that is hidden."""
    lanes: dict[int, str] = {}
    rows: list[Row] = []
    async with playing() as gateway:
        play = Replay(gateway, room, budget=BUDGET, frame=frame)
        for said in room.said:
            await play.hear(said)
            memory = (await play.memory()).room
            lanes[said.number] = memory.by_key[room_key(said.message, 0)].lane
            if said.number in hidden:
                call = len(rows) % CALL_EVERY == CALL_EVERY - 1
                seen = await play.ask(said, call=call)
                rows.append(figures_of(seen, hidden[said.number], lanes, _size(memory, said)))
    return rows


def _size(room: LinkerRoom, said: Said) -> int:
    """Return how many other messages a message's lane has, as far as they are remembered."""
    heard = room.lanes[room.by_key[room_key(said.message, 0)].lane].heard
    return len(heard) - 1


def figures_of(seen: Seen, parent: int, lanes: dict[int, str], size: int) -> Row:
    """Return the figures of a reply whose message is `parent`; `size` is that of its lane."""
    row = {
        "in_lane": float(lanes[parent] == lanes[seen.line]),
        "lane_size": float(size),
        "in_set": float(parent in seen.chosen),
        "set_size": float(len(seen.chosen)),
        "in_as_many_last": float(parent in _last(seen, len(seen.chosen))),
        "in_last_25": float(parent in _last(seen, 25)),
        "in_last_20": float(parent in _last(seen, 20)),
    }
    if seen.call is not None:
        row["in_view"] = float(parent in seen.call.shown)
        row["view_size"] = float(len(seen.call.shown))
        row["in_as_many_as_view"] = float(parent in _last(seen, len(seen.call.shown)))
    return row


def _last(seen: Seen, count: int) -> Sequence[int]:
    return seen.last[-count:] if count else ()


def means(rows: Sequence[Row]) -> Row:
    """Return the means over replies, shares in percent."""
    told: Row = {"replies": float(len(rows))}
    for name in COLUMNS:
        found = [row[name] for row in rows if name in row]
        if found:
            told[name] = round(statistics.fmean(found) * (100 if name in SHARES else 1), 1)
    return told


def table(rooms: dict[str, Row]) -> str:
    """Return the table of rooms."""
    lines = ["  ".join(COLUMNS.values())]
    for name, row in rooms.items():
        cells = [
            f"{row[key]:{len(title)}.{0 if key == 'replies' else 1}f}"
            if key in row
            else "-".rjust(len(title))
            for key, title in COLUMNS.items()
        ]
        lines.append("  ".join(cells) + f"  {name}")
    return "\n".join(lines)


def rooms_at(places: Sequence[str]) -> list[Path]:
    """Return the files of rooms: exported tapes as they are named, and the logs of places."""
    return [
        path
        for place in places
        for path in ([Path(place)] if Path(place).is_file() else find_logs([place]))
    ]


def read_room(path: Path) -> PlayedRoom:
    """Read a log or an exported tape."""
    return room_of(read(path)) if path.name.endswith(".ascii.txt") else read_export(path)


def measure(options: argparse.Namespace, path: Path) -> tuple[str, list[Row]]:
    """Play the room of a file, and return its name and the figures of each reply."""
    quiet_log()
    try:
        room, hidden = hiding(read_room(path), options.hide, options.seed)
    except (NotAGroup, ValueError) as unfit:
        sys.exit(f"{path}: {unfit}")
    return room.name, anyio.run(rows_of, room, hidden) if hidden else []


def main() -> None:
    """Measure, and print a table."""
    options = _options()
    rooms: dict[str, list[Row]] = {}
    with ProcessPoolExecutor(options.workers) as pool:
        for name, rows in pool.map(partial(measure, options), rooms_at(options.places)):
            rooms[name] = rows
            print(f"{name}: {len(rows)} replies were hidden", file=sys.stderr, flush=True)
    told = {name: means(rows) for name, rows in rooms.items() if rows}
    if not told:
        sys.exit("no room has replies that could be hidden")
    told["all"] = means([row for rows in rooms.values() for row in rows])
    print(table(told))
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


def _options() -> argparse.Namespace:
    about, _, more = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m bench.replies",
        description=about,
        epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("places", nargs="+", metavar="PLACE")
    parser.add_argument("--hide", type=float, default=0.5, metavar="SHARE")
    parser.add_argument("--seed", type=int, default=1, help="which replies are hidden")
    parser.add_argument("--workers", type=int, default=2, help="rooms at the same time")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if not 0 < options.hide <= 1:
        parser.error("--hide is a share of the replies: 0.5 for half of them, 1 for all")
    return options


if __name__ == "__main__":
    main()
