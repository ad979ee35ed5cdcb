"""Looks at many texts on all five targets, for minutes; prints what is not shown.

    python -m tests.shown.run [--texts 10000] [--sections 500] [--growing 300] [--first 0]
        [--targets page]

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

PAGE = "page"
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


def look(report: Report, kind: str, texts: Sequence[Written], targets: Sequence[str]) -> None:
    """Look at texts on some targets, of which the page is none."""
    for target in targets:
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


async def grow_on_page(report: Report, texts: Sequence[Written], page: Page) -> None:
    """Look at answers that are being written, on the page."""
    for text in texts:
        seen = await on_page(page, parts(text.text))
        report.add("page, growing", page_faults(text.text, seen), lambda: "")


@asynccontextmanager
async def one_page() -> AsyncIterator[Page]:
    """Have a page in a browser of its own."""
    with running_chromium() as address:
        async with connected(address) as browser, reading(browser) as page:
            yield page


async def run(
    generated: Sequence[Written], others: Sequence[Written], growing: int, targets: Sequence[str]
) -> Report:
    """Look at all texts, and at so many of them while they grow; return the report."""
    report = Report()
    elsewhere = [one for one in targets if one != PAGE]
    look(report, "generated", generated, elsewhere)
    look(report, "by others", others, elsewhere)
    for target in elsewhere:
        for text in generated[:growing]:
            report.add(f"{target}, growing", faults(target, text.text), lambda: "")
    if PAGE in targets:
        async with one_page() as page:
            await look_on_page(report, "generated", generated, page)
            await look_on_page(report, "by others", others, page)
            await grow_on_page(report, generated[:growing], page)
    return report


def main() -> int:
    """Run as the arguments say."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first text")
    parser.add_argument("--texts", type=int, default=10_000)
    parser.add_argument("--sections", type=int, default=500)
    parser.add_argument("--growing", type=int, default=300)
    parser.add_argument("--targets", nargs="+", choices=[*TARGETS, PAGE], default=[*TARGETS, PAGE])
    given = parser.parse_args()
    if MISSING and PAGE in given.targets:
        print(MISSING)
        return 1
    begun = time.monotonic()
    generated = [written(seed) for seed in range(given.first, given.first + given.texts)]
    others = [Written(one) for one in sections(given.sections)]
    report = asyncio.run(run(generated, others, given.growing, given.targets))
    print("\nNot all is shown of:", *report.lines(), sep="\n  ")
    print(f"{time.monotonic() - begun:.0f} s")
    return 1 if report.failed else 0


if __name__ == "__main__":
    sys.exit(main())
