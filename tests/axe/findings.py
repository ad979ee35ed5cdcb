"""What axe finds on a page, as sentences."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from playwright.async_api import Page

SOURCE: Final = Path(__file__).with_name("axe.min.js")
DIGEST: Final = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
FOUND: Final = """async () => {
  const { violations } = await axe.run(document, { resultTypes: ['violations'] });
  return violations.flatMap(({ id, impact, nodes }) => nodes.map(({ target, failureSummary }) => (
    [impact ?? 'minor', `${id} at ${target.join(' ')}: ${failureSummary}`]
  )));
}"""
COUNTED: Final = ("moderate", "serious", "critical")


@cache
def _source() -> str:
    text = SOURCE.read_bytes()
    assert sha256(text).hexdigest() == DIGEST, f"{SOURCE} is not what was pinned"
    return text.decode()


async def findings(page: Page) -> list[str]:
    """Return the moderate, serious and critical findings of every rule of axe."""
    # The page's policy forbids scripts of others: the debugger brings this one.
    if not await page.evaluate("typeof axe === 'object'"):
        await page.evaluate(_source())
    found: list[list[Any]] = await page.evaluate(FOUND)
    return [f"{impact}: {what}" for impact, what in found if impact in COUNTED]
