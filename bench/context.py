"""How well a view holds the conversation that was asked about, measured on annotated chat logs.

    python -m bench.context --data PLACE ... [--first-line N] [--warm N] [--every N]
                            [--links KIND] [--replies SHARE] [--answers] [--rules] [--lane-tokens N]
                            [--json FILE] [--dump FILE]

Each line goes on a tape by the intake, the linker and the lanes that a group of people gets; each
query is answered by what the room tells of it, and every fifth by the view of a turn. No model is
asked. `--replies` gives a share of the annotated links as real replies; `--dump` writes what was
seen, one JSON object a query, so that the figures can be computed anew by somebody else. The
figures called warm leave out the calls before which none was made in the room for an hour; those
called cut are of the calls whose view was over `--lane-tokens` and was cut by an overflow's anchor.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import AsyncIterator, Container, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TextIO

import anyio

from agent.loop import OVERFLOW_NOTICED
from agent.turn_log import TurnLog
from bench.irc import Line, Log
from bench.log_options import add_log_options, find_conversations, read_as
from channels.message import Author, InboundMessage
from gateway.app import Gateway, running_gateway
from gateway.context.retrieval import find_nearby
from gateway.context.room_memory import room_key
from gateway.context.selection import reselect_messages, select_messages
from gateway.settings import load_settings
from tape.context import LATEST, Message, to_messages, view_entries
from tape.entry import Entry, dump
from tape.linking import Linker
from tape.tokens import estimate, estimate_message

TITLE: Final = "#room"
SYSTEM_TOKENS: Final = 2_000
LANE_TOKENS: Final = 4_000
CALL_EVERY: Final = 5
EVIDENCE: Final = 3
DEPTHS: Final = (10, 20, 50)
MOST: Final = 50
WARM_MINUTES: Final = (60, 5)
PROGRESS_LINES: Final = 500


@dataclass(frozen=True, slots=True)
class Seen:
    """What the product made of one query; lines, as the log counts them."""

    file: str
    line: int
    ranked: tuple[int, ...]
    chosen: tuple[int, ...]
    prompt: tuple[int, ...] | None
    cached: tuple[int, ...] = ()
    tokens: int = 0
    last: tuple[int, ...] = ()
    cut: bool = False

    def as_json(self) -> str:
        """Return it as a line of the dump."""
        told = {
            "file": self.file,
            "line": self.line,
            "ranked": self.ranked,
            "set": self.chosen,
            "prompt": self.prompt,
        }
        return json.dumps(told)


@dataclass(slots=True)
class Prompts:
    """The prompts that were sent for a room, by when."""

    sent: list[tuple[float, list[bytes], list[int]]] = field(default_factory=list)

    def cached(self, at: float, messages: Sequence[Message], minutes: float) -> int:
        """Return the tokens of the longest prefix that was sent within some minutes."""
        texts = [dump(message).encode() for message in messages]
        best = 0
        for when, earlier, costs in self.sent:
            if at - when <= minutes * 60:
                same = 0
                for one, other in zip(texts, earlier, strict=False):
                    if one != other:
                        break
                    same += 1
                best = max(best, SYSTEM_TOKENS + sum(costs[:same]))
        return best

    def send(self, at: float, messages: Sequence[Message]) -> None:
        """Remember a prompt."""
        texts = [dump(message).encode() for message in messages]
        self.sent.append((at, texts, [estimate_message(message) for message in messages]))


class Replay:
    """Puts a log on a tape, line by line, and asks."""

    def __init__(
        self, gateway: Gateway, log: Log, options: argparse.Namespace, asking: Container[int]
    ) -> None:
        self._gateway = gateway
        self._log = log
        self._share: float = options.replies
        self._budget: int = options.lane_tokens
        self._asking = asking if options.answers else ()
        self._session = f"irc:{log.name}"
        self._prompts = Prompts()
        self._tape = gateway.services.tapes.session_tape(self._session)

    async def hear(self, line: Line) -> None:
        """Put a line on the tape."""
        await self._gateway.parts.intake.accept([self._message(line)])
        await self._gateway.taken_in()
        if line.number in self._asking:
            await self._gateway.idle()

    async def ask(self, line: Line, *, call: bool) -> Seen:
        """Ask what belongs to a line; `call`: also what a turn would show."""
        room = await self._gateway.parts.memories.of(self._tape.name)
        key = self._key(line)
        likely = room.linker.ranked(room.room, key, MOST)
        kept = room.linker.chosen(room.room, key, MOST)
        prompt, cached, tokens, cut = await self._call(line) if call else (None, (), 0, False)
        return Seen(
            self._log.name,
            line.number,
            tuple(self._lines(likely)[:MOST]),
            tuple(self._lines(kept)[-MOST:]),
            prompt,
            cached,
            tokens,
            tuple(self._lines([heard.key for heard in room.room.heard])[-MOST - 1 : -1]),
            cut,
        )

    async def _call(self, line: Line) -> tuple[tuple[int, ...], tuple[int, ...], int, bool]:
        entries, cut = await self._view(line)
        messages = to_messages(entries)
        cached = tuple(self._prompts.cached(line.at, messages, most) for most in WARM_MINUTES)
        self._prompts.send(line.at, messages)
        keys = [str(entry.meta.get("message_id", "")) for entry in entries]
        shown = [number for number in self._lines(keys) if number != line.number]
        return tuple(shown), cached, SYSTEM_TOKENS + estimate(messages), cut

    async def _view(self, line: Line) -> tuple[list[Entry], bool]:
        """Begin a turn and build its view, as a turn does; over the budget, after an anchor."""
        rooms = self._gateway.parts.memories
        room = await rooms.of(self._tape.name)
        key = self._key(line)
        lane, number = room.room.by_key[key].lane, room.entries[key]
        turn = f"call-{line.number}"
        known = await find_nearby(rooms, self._tape, self._message(line), 0, line.text, EVIDENCE)
        takes = await select_messages(self._tape, lane, [number], (), self._budget, known)
        log = TurnLog(self._tape, turn, lane)
        await log.record(takes.start(turn).to_entry())
        entries = await view_entries(self._tape, LATEST, lane, turn)
        if estimate(to_messages(entries)) <= self._budget:
            return entries, False
        await self._tape.handoff(OVERFLOW_NOTICED, {"reason": "length"}, lane=lane, turn=turn)
        again = await reselect_messages(self._tape, turn, [number], self._budget)
        await log.record(again.to_entry())
        return await view_entries(self._tape, LATEST, lane, turn), True

    def _key(self, line: Line) -> str:
        return room_key(self._message(line), 0)

    def _lines(self, keys: Sequence[str]) -> list[int]:
        ids = (key.rpartition("/")[2] for key in keys)
        numbers = (int(number) for number in ids if number.isdigit())
        return [number for number in numbers if number >= self._log.first_line]

    def _message(self, line: Line) -> InboundMessage:
        moment = self._log.begun + timedelta(seconds=line.at)
        return InboundMessage(
            channel="irc",
            chat_id=self._log.name,
            chat_kind="group",
            chat_title=TITLE,
            ext_id=f"{self._log.name}/{line.number}",
            message_id=str(line.number),
            sender=Author(line.author, line.author),
            text=line.text,
            date=moment.strftime("%Y-%m-%dT%H:%M:%S.000000Z"),
            mentions=line.mentions,
            reply_to=self._reply(line),
            addressed=line.number in self._asking,
            why="mention" if line.number in self._asking else "",
        )

    def _reply(self, line: Line) -> str | None:
        """Return a line's own reply or, for a share of the lines, an annotated link as one."""
        if line.number in self._log.replies:
            return str(self._log.replies[line.number])
        parents = self._log.parents.get(line.number, ())
        digest = sha256(f"{self._log.name}/{line.number}".encode()).digest()
        if not parents or digest[0] >= 256 * self._share:
            return None
        return str(max(parents))


async def replay(gateway: Gateway, log: Log, options: argparse.Namespace) -> list[Seen]:
    """Play a log and ask at each query."""
    numbers = [line.number for line in log.queries(options.warm)]
    queries = set(numbers[options.every - 1 :: options.every])
    calls = set(numbers[options.every * CALL_EVERY - 1 :: options.every * CALL_EVERY])
    play = Replay(gateway, log, options, calls)
    seen: list[Seen] = []
    for count, line in enumerate(log.lines, start=1):
        await play.hear(line)
        if count % PROGRESS_LINES == 0:
            print(f"{log.name}: {count} of {len(log.lines)} lines", file=sys.stderr, flush=True)
        if line.number in queries:
            call = line.number in calls and not options.answers
            seen.append(await play.ask(line, call=call))
    return seen


def figures(log: Log, seen: Sequence[Seen]) -> list[dict[str, float]]:
    """Return the figures of each query; what does not apply is absent."""
    return [_figures_of(log, one) for one in seen]


def _figures_of(log: Log, one: Seen) -> dict[str, float]:
    gold = log.gold(one.line)
    parents = {number for number in log.parents.get(one.line, ()) if number >= log.first_line}
    found: dict[str, float] = {}
    for depth in DEPTHS:
        top = set(one.ranked[:depth])
        found[f"R@{depth}"], found[f"P@{depth}"] = _recall_precision(gold, top)
        found[f"parents@{depth}"] = float(parents <= top)
    found["last20_recall"], found["last20_precision"] = _recall_precision(gold, set(one.last[-20:]))
    found["set_recall"], found["set_precision"] = _recall_precision(gold, set(one.chosen))
    if one.prompt is not None:
        shown = set(one.prompt)
        found["view_recall"], found["view_precision"] = _recall_precision(gold, shown)
        if one.cut:
            found["cut_recall"], found["cut_precision"] = _recall_precision(gold, shown)
        for minutes, cached in zip(WARM_MINUTES, one.cached, strict=True):
            found[f"cached_{minutes}"] = cached
        found["tokens"] = one.tokens
        found["cost"] = 0.1 * one.cached[0] + (one.tokens - one.cached[0])
    return found


def _recall_precision(gold: frozenset[int], shown: set[int]) -> tuple[float, float]:
    hits = len(gold & shown)
    return hits / len(gold), hits / len(shown) if shown else 0.0


def table(rows: Sequence[dict[str, float]]) -> dict[str, float]:
    """Return the macro means over queries, shares in percent."""

    def mean(name: str) -> float:
        found = [row[name] for row in rows if name in row]
        return statistics.fmean(found) if found else 0.0

    shares = [f"{what}@{depth}" for depth in DEPTHS for what in ("R", "P", "parents")]
    sets = ("last20", "set", "view", "cut")
    shares += [f"{name}_{what}" for name in sets for what in ("recall", "precision")]
    told = {name: 100 * mean(name) for name in shares}
    for name in ("last20", "set"):
        recall, precision = told[f"{name}_recall"], told[f"{name}_precision"]
        both = recall + precision
        told[f"{name}_F1"] = 2 * recall * precision / both if both else 0.0
    tokens = sum(row.get("tokens", 0.0) for row in rows)
    for minutes in WARM_MINUTES:
        cached = sum(row.get(f"cached_{minutes}", 0.0) for row in rows)
        told[f"cached_{minutes}min"] = 100 * cached / tokens if tokens else 0.0
    told["cost"] = mean("cost")
    warm = [row for row in rows if row.get("cached_60", 0.0) > 0]
    told["cost_warm"] = statistics.fmean(row["cost"] for row in warm) if warm else 0.0
    spent = sum(row["tokens"] for row in warm)
    told["cached_warm"] = 100 * sum(row["cached_60"] for row in warm) / spent if warm else 0.0
    told["queries"] = len(rows)
    told["calls"] = sum("tokens" in row for row in rows)
    told["cut_calls"] = sum("cut_recall" in row for row in rows)
    return {name: round(value, 1) for name, value in told.items()}


@asynccontextmanager
async def _gateway(home: Path, store: str) -> AsyncIterator[Gateway]:
    environ = {
        "TAPEWAY_HOME": str(home),
        "TAPEWAY_ACCESS__MODE": "open",
        "TAPEWAY_BUDGET__STRANGER_TURNS": "0",
        "TAPEWAY_BUDGET__PARALLEL_PER_PERSON": "0",
        "TAPEWAY_BUFFER__DEBOUNCE": "0",
        "TAPEWAY_TAPE__DISK_RESERVE": "0",
        "TAPEWAY_TAPE__URL": "memory:" if store == "memory" else "",
        "TAPEWAY_SECRETS": str(home / "none"),
    }
    settings = load_settings(environ, folder=home)
    async with running_gateway(settings, only=[], http=False) as gateway:
        yield gateway


async def _measure(options: argparse.Namespace, out: TextIO | None) -> dict[str, Any]:
    by_file: dict[str, list[dict[str, float]]] = {}
    for path in find_conversations(options):
        log = read_as(options, path)
        with tempfile.TemporaryDirectory() as home:
            async with _gateway(Path(home), options.store) as gateway:
                if options.rules:
                    gateway.parts.memories.linker = Linker()
                seen = await replay(gateway, log, options)
        by_file[log.name] = figures(log, seen)
        for one in seen if out is not None else ():
            print(one.as_json(), file=out)
        print(log.name, _line(table(by_file[log.name])), file=sys.stderr, flush=True)
    everything = [row for rows in by_file.values() for row in rows]
    return {"all": table(everything), "files": {name: table(r) for name, r in by_file.items()}}


def _line(told: dict[str, float]) -> str:
    names = ("set_F1", "R@20", "view_recall", "view_precision", "cached_60min", "cost", "queries")
    return "  ".join(f"{name} {told[name]}" for name in names)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else "")
    add_log_options(parser)
    parser.add_argument("--every", type=int, default=1, help="ask at every N-th query")
    parser.add_argument("--replies", type=float, default=0.0, help="share of links as replies")
    parser.add_argument("--answers", action="store_true", help="let the agent take part")
    parser.add_argument("--rules", action="store_true", help="link by rules alone")
    parser.add_argument("--lane-tokens", type=int, default=LANE_TOKENS, help="what a view may hold")
    parser.add_argument("--store", choices=("sqlite", "memory"), default="sqlite")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--dump", type=Path)
    options = parser.parse_args()
    if options.dump:
        with options.dump.open("w", encoding="utf-8") as out:
            told = anyio.run(_measure, options, out)
    else:
        told = anyio.run(_measure, options, None)
    for name, value in told["all"].items():
        print(f"{name:>16} {value}")
    if options.json:
        options.json.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
