"""How soon an answer begins on the room's page: `python -m bench.first_text`.

From Enter to the first text, in Chromium, with a model that answers at once. The gateway runs in
this process, over SQLite, with the settings that it has by default.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Final

from playwright.async_api import Page, expect

from bench.figures import Bar, Figure, latencies, progress, report
from gateway.app import running_gateway
from gateway.settings import load_settings
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.browser import connected, enter, running_chromium
from tests.kit.gateways import make_environ

WARM_UP: Final = 3
TIMES: Final = 20
BARS: Final = MappingProxyType({95: Bar("<", 150)})
PIECES: Final = tuple(f"word{number} " for number in range(60))

ASK: Final = """async (text) => {
    const field = document.querySelector('#composer-input');
    const bodies = () => [...document.querySelectorAll('[data-role=agent] .body')];
    const before = bodies().length;
    field.value = text;
    field.dispatchEvent(new Event('input'));
    const began = performance.now();
    const enter = { key: 'Enter', bubbles: true, cancelable: true };
    field.dispatchEvent(new KeyboardEvent('keydown', enter));
    await new Promise((done) => {
        const look = () => {
            if (bodies().length > before && bodies().at(-1).textContent.trim()) done();
            else requestAnimationFrame(look);
        };
        look();
    });
    return performance.now() - began;
}"""


async def first_texts(page: Page) -> list[float]:
    """Return the milliseconds from Enter to the frame with the first text, for each question."""
    took = []
    for number in range(WARM_UP + TIMES):
        took.append(float(await page.evaluate(ASK, f"question {number}")))
        await expect(page.locator(".draft")).to_have_count(0)
    return took[WARM_UP:]


async def measure() -> list[Figure]:
    """Measure the answers to questions in a room, one after another."""
    with running_chromium() as address, TemporaryDirectory(prefix="tapeway-bench-") as folder:
        async with FakeOpenAI() as server:
            server.enqueue(*(Text(PIECES) for _ in range(WARM_UP + TIMES)))
            environ = make_environ(Path(folder), server)
            del environ["TAPEWAY_BUFFER__DEBOUNCE"]
            settings = load_settings(environ, folder=Path(folder))
            async with connected(address) as browser, running_gateway(settings) as gateway:
                context = await browser.new_context()
                page = await enter(context, gateway.url, "Ada")
                progress(f"{TIMES} questions")
                took = await first_texts(page)
                await context.close()
    seconds = [one / 1000 for one in took]
    return latencies("from Enter to the first text in the room", seconds, (50, 95), BARS)


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(prog="python -m bench.first_text", description=__doc__)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures there too")
    given = parser.parse_args()
    report(asyncio.run(measure()), given.json)


if __name__ == "__main__":
    main()
