"""Draws the picture of the terminal chat in the documentation, from a session of the real command.

Run `python -m tests.gateway.cli.chat.picture`, or `make picture`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from html import escape
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import anyio
from pyte.screens import Char
from wcwidth import wcswidth

from tests.fakes.openai.script import Call, Reply, Request, Text, ToolCalls
from tests.fakes.openai.server import FakeOpenAI
from tests.gateway.cli.chat.window import Window, chat_window
from tests.kit.gateways import ROOT, gateway_process, make_environ

PICTURE: Final = ROOT / "docs" / "images" / "terminal.svg"
ROWS, COLUMNS = 48, 80
CELL: Final = (8.4, 18)  # the width and height of a character
STYLE: Final = """
  .window { fill: #ffffff; stroke: #d0d7de } text { fill: #1f2328; white-space: pre }
  text { font: 14px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace }
  .bold { font-weight: bold } .italics { font-style: italic } .brightblack { fill: #6e7781 }
  .cyan { fill: #1b7c83 } .magenta { fill: #8250df } .green { fill: #116329 } .red { fill: #cf222e }
  @media (prefers-color-scheme: dark) {
    .window { fill: #0d1117; stroke: #30363d } text { fill: #e6edf3 }
    .brightblack { fill: #8b949e } .cyan { fill: #39c5cf } .magenta { fill: #bc8cff }
    .green { fill: #56d364 } .red { fill: #ff7b72 }
  }
"""

PLAN: Final = """Last time, **three of you** settled this:

- *Ann* brings the tent, and 小林 the stove
- everybody carries `2 l` of water

| Item  | kg  | Who  |
|-------|----:|------|
| tent  | 2.1 | Ann  |
| stove | 0.4 | 小林 |
"""
SCRIPT: Final = "The script adds up what each of you carries:\n\n```python\n" + "\n".join(
    [
        "from collections import Counter",
        "",
        "PACKED = [",
        *(f'    ("{name}", {n / 10}),' for n, name in enumerate(["tent", "stove", "rope"] * 7, 3)),
        "]",
        "load = Counter()",
        "```\n",
    ]
)


def answer(request: Request) -> Reply:
    """Answer as the picture needs it."""
    asked = request.body["messages"][-1]
    if asked["role"] == "tool":
        return Text((PLAN,))
    if "script" in request.last_user_text:
        return Text((SCRIPT,))
    if "weather" in request.last_user_text:
        thought = ("The forecast for Sunday matters most, ", "so I look for the page they used.")
        return Text(("It",), reasoning=thought, delay=0.6, gate=asyncio.Event())
    call = Call("call-1", "tape.search", '{"query": "hut packing"}')
    return ToolCalls((call,), reasoning=("They planned this ", "last week."), delay=0.4)


async def record(home: Path) -> Window:
    """Hold the conversation of the picture; return the window at its end."""
    async with FakeOpenAI(default=answer) as server:
        environ = {**make_environ(home, server), "LOGNAME": "Ann"}
        bob = {**environ, "LOGNAME": "Bob"}
        async with gateway_process(environ, home) as gateway:
            await gateway.url()
            async with chat_window(environ, rows=ROWS) as ann, chat_window(bob) as other:
                await ann.presses("What do we pack for the hut?\r")
                await ann.shows("stove | 0.4")
                await other.presses("Can a script add it up?\r")
                await ann.shows("more lines")
                await ann.presses("And the weather on Sunday?\r")
                await ann.shows("page they used")
                return ann


def drawn(window: Window) -> str:
    """Return a window as an SVG."""
    width, height = CELL
    rows = max(at for at, line in enumerate(window.screen.display) if line.strip()) + 1
    size = f'width="{COLUMNS * width + 32:g}" height="{rows * height + 32:g}"'
    lines = "".join(_line(window, row, 16 + (row + 0.8) * height) for row in range(rows))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size}>\n<style>{STYLE}</style>\n'
        f'<rect class="window" x="0.5" y="0.5" width="{COLUMNS * width + 31:g}"'
        f' height="{rows * height + 31:g}" rx="8"/>\n{lines}</svg>\n'
    )


def _line(window: Window, row: int, y: float) -> str:
    cells = [window.screen.buffer[row][at] for at in range(COLUMNS)]
    runs = groupby(enumerate(cells), key=lambda one: _classes(one[1]))
    return "".join(_texts(list(run), classes, y) for classes, run in runs)


def _texts(run: list[tuple[int, Char]], classes: str, y: float) -> str:
    text = "".join(char.data for _at, char in run)
    if not text.strip():
        return ""
    style = f' class="{classes}"' if classes else ""
    place = f'x="{16 + run[0][0] * CELL[0]:g}" y="{y:g}"'
    length = f'textLength="{wcswidth(text) * CELL[0]:g}"'
    return f"<text {place} {length}{style}>{escape(text)}</text>\n"


def _classes(char: Char) -> str:
    def names() -> Iterator[str]:
        if char.fg != "default":
            yield char.fg
        if char.bold:
            yield "bold"
        if char.italics:
            yield "italics"

    return " ".join(names())


async def main() -> None:
    with TemporaryDirectory() as folder:
        window = await record(Path(folder) / "home")
    PICTURE.write_text(drawn(window))


if __name__ == "__main__":
    anyio.run(main)
