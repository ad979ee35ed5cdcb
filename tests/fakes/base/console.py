"""A fake to try a bot on by hand: typed lines become messages, and its answers are shown."""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
import sys
import threading
from collections.abc import Callable

from tests.fakes.base.faults import FaultT
from tests.fakes.base.server import CallT, FakeServer


def parser_of(platform: str) -> argparse.ArgumentParser:
    """Return a parser of the options that every console has."""
    parser = argparse.ArgumentParser(description=f"A {platform} to try a bot on.")
    parser.add_argument("--port", type=int, default=0, help="0 takes any free port")
    parser.add_argument("--no-limits", action="store_true", help="never answer with 429")
    return parser


async def talk(
    fake: FakeServer[CallT, FaultT],
    act: Callable[[str], bool],
    shown: Callable[[CallT], str],
    usage: str,
) -> None:
    """Act on typed lines and print what the bot does, until interrupted.

    `act` returns False for a line that it does not understand, `shown` "" for a request that
    nobody in a chat would notice.
    """
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop.set)

    def obey(line: str) -> None:
        if not act(line):
            print(usage, flush=True)

    def listen() -> None:
        for line in sys.stdin:
            if line.strip():
                loop.call_soon_threadsafe(obey, line)

    # A thread: not every input can be waited for.
    threading.Thread(target=listen, daemon=True).start()
    showing = asyncio.create_task(_show(fake, shown))
    await stop.wait()
    showing.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await showing


async def _show(fake: FakeServer[CallT, FaultT], shown: Callable[[CallT], str]) -> None:
    position = 0
    while True:
        await fake.wait_for_call(position)
        # In a later turn the request has had its effect.
        await asyncio.sleep(0)
        for call in fake.calls[position:]:
            position += 1
            if line := shown(call):
                print(line, flush=True)
