"""How well a view holds the conversation that was asked about, measured on annotated chat logs.

    python -m bench.context --data PLACE ... [--first-line N] [--warm N] [--links KIND] [--every N]
                            [--replies SHARE] [--answers] [--rules] [--lane-tokens N]
                            [--system-tokens N] [--json FILE] [--dump FILE]

Each line goes on a tape by the intake, the linker and the lanes that a group of people gets; each
query is answered by what the room tells of it, and every fifth by the view of a turn. No model is
asked. `--replies` gives a share of the annotated links as real replies, beside those of the log.
With `--answers` the lines whose view is measured ask the agent, which takes part: the gateway's own
turns run, and the views are the prompts that were sent. `--dump` writes what was seen as one JSON
object per query, from which others can recompute the figures.

The figures called warm leave out the calls before which none was made in the room for an hour;
those called cut are of the calls whose view was over `--lane-tokens` and was cut by an overflow's
anchor. Beside the view stand as many last messages as it showed (as_many) and the last 20 (call20),
at the same calls; last20 are those of every query. A prompt's tokens begin with those of
the system prompt and the tools as a question in a group is really sent, or with `--system-tokens`.
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Final

import anyio

from bench.irc import Log
from bench.log_options import add_log_options, find_conversations, read_as
from bench.replay.figures import Row, figures, table
from bench.replay.gateway import frame_tokens, playing, quiet_log
from bench.replay.play import Replay, Seen
from bench.replay.policies import Rivals
from bench.replay.room import room_of
from tape.linking import Linker

LANE_TOKENS: Final = 4_000
CALL_EVERY: Final = 5
PROGRESS_LINES: Final = 500
ANSWER: Final = "You said:\n\n> {}"
"""What the agent answers: as many words as the question has, and the same."""


def run(options: argparse.Namespace, path: Path) -> tuple[Log, list[Seen]]:
    """Play a log to a gateway of its own, and ask at each query."""
    quiet_log()
    return anyio.run(replay, options, read_as(options, path))


async def replay(options: argparse.Namespace, log: Log) -> tuple[Log, list[Seen]]:
    """Play a log and ask at each query."""
    numbers = [line.number for line in log.queries(options.warm)]
    queries = set(numbers[options.every - 1 :: options.every])
    calls = set(numbers[options.every * CALL_EVERY - 1 :: options.every * CALL_EVERY])
    asked = calls if options.rivals else queries  # at what is no call, the policies show nothing
    asking = calls if options.answers else ()
    room = room_of(log, replied=options.replies, asking=asking, answer=ANSWER)
    frame, budget, first = options.system_tokens, options.lane_tokens, log.first_line
    rivals = Rivals(frame, budget, first) if options.rivals else None
    seen: list[Seen] = []
    async with playing(options.store) as gateway:
        if options.rules:
            gateway.gateway.parts.memories.linker = Linker()
        play = Replay(gateway, room, first=first, budget=budget, frame=frame, rivals=rivals)
        for count, said in enumerate(room.said, start=1):
            await play.hear(said)
            if count % PROGRESS_LINES == 0:
                print(f"{log.name}: {count} of {len(room.said)} lines", file=sys.stderr, flush=True)
            if said.number in asked:
                seen.append(await play.ask(said, call=said.number in calls))
    return log, seen


def measure(options: argparse.Namespace) -> list[tuple[Log, list[Seen]]]:
    """Play the logs that were asked for, some of them at the same time; tell of each."""
    quiet_log()
    if options.system_tokens is None:
        options.system_tokens = anyio.run(frame_tokens)
    played: list[tuple[Log, list[Seen]]] = []
    with ProcessPoolExecutor(options.workers) as pool:
        for log, seen in pool.map(partial(run, options), find_conversations(options)):
            print(log.name, _line(table(figures(log, seen))), file=sys.stderr, flush=True)
            played.append((log, seen))
    return played


def _line(told: Row) -> str:
    pairs = ("view", "as_many", "call20")
    views = [f"{name} {told[f'{name}_recall']}/{told[f'{name}_precision']}" for name in pairs]
    names = ("set_F1", "R@20", "cached_60min", "cost", "calls", "queries")
    return "  ".join([*views, *(f"{name} {told[name]}" for name in names)])


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add what says which rooms are played, and how."""
    add_log_options(parser)
    parser.add_argument("--every", type=int, default=1, help="ask at every N-th query")
    parser.add_argument("--replies", type=float, default=0.0, help="share of links as replies")
    parser.add_argument("--answers", action="store_true", help="let the agent take part")
    parser.add_argument("--rules", action="store_true", help="link by rules alone")
    parser.add_argument("--lane-tokens", type=int, default=LANE_TOKENS, help="what a view may hold")
    parser.add_argument(
        "--system-tokens", type=int, help="what stands before a view (default: as it is sent)"
    )
    parser.add_argument("--store", choices=("sqlite", "memory"), default="memory")
    parser.add_argument("--workers", type=int, default=2, help="rooms at the same time")
    parser.add_argument("--json", type=Path)
    parser.set_defaults(rivals=False)


def main() -> None:
    """Measure, and print a table."""
    about, _, more = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(
        prog="python -m bench.context",
        description=about,
        epilog=more,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_options(parser)
    parser.add_argument("--dump", type=Path)
    options = parser.parse_args()
    played = measure(options)
    if options.dump:
        lines = (one.as_json() + "\n" for _log, seen in played for one in seen)
        options.dump.write_text("".join(lines), encoding="utf-8")
    by_file = {log.name: figures(log, seen) for log, seen in played}
    everything = [row for rows in by_file.values() for row in rows]
    told: dict[str, Any] = {
        "all": table(everything) | {"system_tokens": options.system_tokens},
        "files": {name: table(rows) for name, rows in by_file.items()},
    }
    for name, value in told["all"].items():
        print(f"{name:>17} {value}")
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
