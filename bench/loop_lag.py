"""How long hostile text holds the gateway's event loop: `python -m bench.loop_lag --help`.

The gateway is the real process; the platforms and the model are fakes on real sockets. The model
answers, and people write, 64 KB of the worst Markdown in chats where others have spoken, so that
drafts, the link filter, the redactor, splitting and the page's events are all on the way.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from bench.figures import Bar, Figure, progress, report
from bench.loop_ticker import NOTES
from channels.testing import Chat
from tests.fakes.openai.script import Reply, Request, Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.gateways import OPEN, gateway_process, make_environ
from tests.kit.plugins import distribution
from tests.kit.stages.registry import STAGES, OpenStage

SHAPES: Final[Mapping[str, str]] = {
    "bullets in a line": "- - - ",
    "brackets": "[a]",
    "half links": "[a](",
    "open brackets": "[",
    "open images": "![",
    "angles": "<",
    "half tags": "<a",
    "comments": "<!--",
    "quotes in a line": ">",
    "quotes and bullets": "> - > - a\n",
    "tables": "|a|b|\n|-|-|\n",
    "fences": "```\n",
    "definitions": "[a]: b\n",
    "emphasis": "*a **b ",
    "links": "[a](https://a.example/b?c=d) ",
    "bare hosts": "a.b.",
    "ordered items": "1. a\n",
    "words": "a ",
    "one run": "a",
}
CHANNELS: Final = ("telegram", "discord", "slack", "web")
LARGE: Final = 64_000
HUGE: Final = 160_000
PIECE: Final = 1000
LOOP_BAR: Final = Bar("<", 200)
LONGEST: Final = 60.0
UNBOUND: Final[Mapping[str, str]] = {**OPEN, "TELEGRAM__PER_SECOND": "0"}
QUIET_SECONDS: Final = 1.5
"""Seconds to wait, after the first piece of an answer arrives, for its other pieces."""

_ASKED: Final = re.compile(r"shape (\d+) of (\d+)")


@dataclass(frozen=True, slots=True)
class Scene:
    """A gateway on one platform, and the notes of its ticker."""

    stage: OpenStage
    model: FakeOpenAI
    notes: Path

    def held(self, since: float) -> tuple[float, float]:
        """Return the longest gap since a moment, and the longest that is the process's own."""
        rows = [list(map(float, line.split())) for line in self.notes.read_text().splitlines()]
        found = [(gap, min(gap, cpu)) for moment, gap, cpu in rows if moment >= since]
        return max((gap for gap, _ in found), default=0.0), max((c for _, c in found), default=0.0)


def hostile(request: Request) -> Reply:
    """Answer with the shape that is asked for, in a hundred pieces or so."""
    asked = _ASKED.findall(request.last_user_text)
    if not asked:
        return Text(("fine",))
    shape, size = list(SHAPES.values())[int(asked[-1][0])], int(asked[-1][1])
    text = (shape * size)[: size - 2] + " a"  # bullets alone would be a rule
    pieces = [text[start : start + PIECE] for start in range(0, size, PIECE)]
    return Text(tuple(pieces), delay=0.01)


@asynccontextmanager
async def scene(channel: str) -> AsyncIterator[Scene]:
    """Run a gateway on one platform, with the ticker."""
    with TemporaryDirectory(prefix="tapeway-bench-") as folder:
        home, notes = Path(folder) / "home", Path(folder) / "notes"
        notes.touch()
        async with STAGES[channel]() as stage, FakeOpenAI(default=hostile) as model:
            environ = make_environ(home, model, **{**UNBOUND, **stage.settings()})
            environ[NOTES] = str(notes)
            plugins = distribution(Path(folder) / "plugins", "bench.loop_ticker:Ticker")
            environ["PYTHONPATH"] = str(plugins)
            async with gateway_process(environ, home) as process:
                async with asyncio.timeout(LONGEST):
                    url = await process.url()
                async with stage.connected(url):
                    found = Scene(stage, model, notes)
                    await _answered(found, stage.group(), "Are you there?")
                    yield found
                await process.kill()


async def _answered(scene: Scene, chat: Chat, text: str) -> None:
    """Say something beside somebody else's words, and wait for an answer."""
    stage = scene.stage
    async with asyncio.timeout(LONGEST):
        await stage.say(chat, stage.person("Bob"), "see https://a.example/b", mention=False)
        before = len(scene.model.requests)
        await stage.say(chat, stage.person("Alice"), text)
        await scene.model.wait_for_requests(before + 1)
        await stage.until(lambda: bool(stage.answers(chat)))


async def lag_figures(channel: str, sizes: tuple[int, ...], shapes: list[str]) -> list[Figure]:
    """Measure one platform: answers of each shape and size, and messages of each shape."""
    figures = []
    async with scene(channel) as found:
        for number, (name, shape) in enumerate(SHAPES.items()):
            if name not in shapes:
                continue
            for size in sizes:
                ask = f"shape {number} of {size}"
                figures += await _measured(found, f"{channel}: answer, {size} of {name}", ask, size)
            said = (shape * LARGE)[:LARGE]
            figures += await _measured(found, f"{channel}: message of {name}", said, LARGE)
    return figures


async def _measured(scene: Scene, name: str, text: str, size: int) -> list[Figure]:
    since = time.monotonic()
    chat = scene.stage.group()
    try:
        await _answered(scene, chat, text)
        await asyncio.sleep(size / PIECE * 0.011 + QUIET_SECONDS)
        wedged = 0
    except TimeoutError:
        wedged = 1
    gap, own = scene.held(since)
    progress(f"{name}: {gap * 1000:.0f} ms, {own * 1000:.0f} ms of them its own")
    return [
        Figure(f"{name}: not answered", wedged, "", Bar("=", 0)),
        Figure(f"{name}: loop held", gap * 1000, "ms"),
        Figure(
            f"{name}: loop held, of it own CPU",
            own * 1000,
            "ms",
            LOOP_BAR if size == LARGE else None,
        ),
    ]


def main() -> None:
    """Measure what the command line asks for; print the table, and write the JSON."""
    parser = argparse.ArgumentParser(prog="python -m bench.loop_lag", description=__doc__)
    parser.add_argument("--only", nargs="+", choices=CHANNELS, default=list(CHANNELS))
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--sizes", nargs="+", type=int, default=[LARGE, HUGE])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    options = parser.parse_args()
    figures: list[Figure] = []
    for channel in options.only:
        figures += asyncio.run(lag_figures(channel, tuple(options.sizes), options.shapes))
    report(figures, options.json)


if __name__ == "__main__":
    main()
