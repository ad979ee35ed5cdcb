"""Looks at many texts on all five targets, for minutes; prints what is not shown.

    python -m tests.shown.run [--texts 10000] [--sections 500] [--growing 300] [--first 0]

A text that fails is printed in a smaller form. The exit code is 1 if one does.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from playwright.async_api import Page

from tests.kit.browser import MISSING, connected, running_chromium
from tests.shown.compare import missing
from tests.shown.growing import faults, page_faults, parts
from tests.shown.installed import sections
from tests.shown.page import on_page, reading
from tests.shown.shrink import smaller
from tests.shown.targets import TARGETS
from tests.shown.texts import Written, written

PRINTED = 5
"""How many failures of a kind are printed."""


class Report:
    """Counts what was looked at and what failed, and prints the first failures."""

    def __init__(self) -> None:
        self.looked = Counter[str]()
        self.failed = Counter[str]()

    def add(self, kind: str, fault: str | None, small: Callable[[], str]) -> None:
        """Count a text; `small` returns it in a smaller form."""
        self.looked[kind] += 1
        if fault is None:
            return
        self.failed[kind] += 1
        if self.failed[kind] <= PRINTED:
            print(f"{kind}: {fault}\n    {small()!r}", flush=True)

    def lines(self) -> list[str]:
        """Return a line for each kind."""
        return [f"{kind}: {self.failed[kind]} of {n} texts" for kind, n in self.looked.items()]


def kept_by(text: Written, messages: int) -> tuple[str, ...]:
    """Return the words that are to be seen as they are; a cut may part them."""
    return text.kept if messages == 1 else ()


def fault_on(target: str, text: Written) -> str | None:
    """Return what of a text is not shown on a target, or None."""
    shown = TARGETS[target](text.text)
    return missing(text.text, shown, kept_by(text, len(shown.messages)))


def look(report: Report, kind: str, texts: Sequence[Written]) -> None:
    """Look at texts on all targets but the page."""
    for target in TARGETS:
        for text in texts:
            fault = fault_on(target, text)

            def small(target: str = target, text: Written = text) -> str:
                return smaller(text.text, lambda one: bool(missing(one, TARGETS[target](one))))

            report.add(f"{target}, {kind}", fault, small)


async def look_on_page(report: Report, kind: str, texts: Sequence[Written], page: Page) -> None:
    """Look at texts on the page: what is seen, and what is copied."""
    for copied in (False, True):
        name = f"page{', copied' * copied}, {kind}"
        shown = await on_page(page, [text.text for text in texts], copied=copied)
        for text, one in zip(texts, shown, strict=True):
            report.add(name, missing(text.text, one, text.kept), lambda: "")


async def look_at_growing(report: Report, texts: Sequence[Written], page: Page) -> None:
    """Look at answers that are being written."""
    for text in texts:
        for target in TARGETS:
            report.add(f"{target}, growing", faults(target, text.text), lambda: "")
        seen = await on_page(page, parts(text.text))
        report.add("page, growing", page_faults(text.text, seen), lambda: "")


@asynccontextmanager
async def one_page() -> AsyncIterator[Page]:
    """Have a page in a browser of its own."""
    with running_chromium() as address:
        async with connected(address) as browser, reading(browser) as page:
            yield page


async def run(first: int, texts: int, others: int, growing: int) -> Report:
    """Look at all, and return the report."""
    report = Report()
    generated = [written(seed) for seed in range(first, first + texts)]
    found = [Written(one) for one in sections(others)]
    look(report, "generated", generated)
    look(report, "by others", found)
    async with one_page() as page:
        await look_on_page(report, "generated", generated, page)
        await look_on_page(report, "by others", found, page)
        await look_at_growing(report, generated[:growing], page)
    return report


def main() -> int:
    """Run as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first text")
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--sections", type=int, default=500)
    parser.add_argument("--growing", type=int, default=300)
    given = parser.parse_args()
    if MISSING:
        print(MISSING)
        return 1
    begun = time.monotonic()
    report = asyncio.run(run(given.first, given.texts, given.sections, given.growing))
    print("\nNot all is shown of:", *report.lines(), sep="\n  ")
    print(f"{time.monotonic() - begun:.0f} s")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
