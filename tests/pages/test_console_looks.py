"""Every screen of the console on phones, by keyboard alone, in forced colors and without motion.

All tests of this file share a gateway.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Final

import pytest
from playwright.async_api import Browser, Page, expect

from tests.fakes.openai.script import Text
from tests.gateway.console.scene import GROUP, MEMBER, key
from tests.kit.browser import Browsing, browsing, marks
from tests.pages.entering import MOVING
from tests.pages.town import SIGNS, Town, town_of

pytestmark = marks

PLACES: Final = (*SIGNS, "reader", "door")
OVERFLOWING: Final = """() => {
  const wide = document.documentElement.clientWidth;
  const clips = (one) => one && one !== document.body
    && (getComputedStyle(one).overflowX !== 'visible' || clips(one.parentElement));
  const isOut = ({ left, right, width }) => width > 1 && (right > wide + 1 || left < -1);
  const found = [...document.querySelectorAll('body *')]
    .filter((one) => isOut(one.getBoundingClientRect()) && one.checkVisibility())
    .filter((one) => !clips(one.parentElement) && !one.closest('.sr-only, .skip, .defs'))
    .map((one) => `${one.tagName}.${one.getAttribute('class')}#${one.id}`);
  return document.documentElement.scrollWidth > wide ? ['the page', ...found] : found;
}"""
UNBORDERED: Final = """() => [...document.querySelectorAll('button, input, select, a.button')]
  .filter((one) => one.checkVisibility() && !one.closest('.sr-only'))
  .filter((one) => one.type !== 'checkbox')
  .filter((one) => {
    const { borderStyle, textDecorationLine } = getComputedStyle(one);
    return borderStyle === 'none' && textDecorationLine === 'none';
  }).map((one) => `${one.tagName}.${one.className} ${one.textContent}`)"""
PARTS: Final = 8  # stops that one field for a date has, at most
ONE_LINE: Final = """() => {
  const shown = [...document.querySelectorAll('.nav a')].filter((one) => {
    const { borderBlockEndColor } = getComputedStyle(one);
    return borderBlockEndColor !== getComputedStyle(document.documentElement).backgroundColor;
  });
  return shown.length === 1 && shown[0].ariaCurrent !== null;
}"""
WATCH_FOCUS: Final = """() => {
  const said = (one) => one.getAttribute('aria-label') ?? one.textContent.trim();
  const name = (one) => `${one.tagName} ${one.id} ${said(one)}`;
  const can = 'a[href], button, input, select, textarea, summary, [tabindex]';
  window.reached = [];
  window.unmarked = [];
  window.reachable = () => [...document.querySelectorAll(can)]
    .filter((one) => one.tabIndex >= 0 && !one.disabled)
    .filter((one) => one.checkVisibility({ visibilityProperty: true }))
    .map(name);
  document.addEventListener('focusin', ({ target }) => {
    window.reached.push(name(target));
    const { width, height } = target.getBoundingClientRect();
    const isMarked = [null, '::after'].some((part) => {
      const { outlineStyle, outlineWidth } = getComputedStyle(target, part);
      return outlineStyle !== 'none' && outlineWidth !== '0px';
    });
    if (!isMarked || width * height === 0) window.unmarked.push(name(target));
  });
  document.activeElement.blur();
}"""


@pytest.fixture(scope="module")
async def town(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Town]:
    async with town_of(tmp_path_factory.mktemp("town")) as found:
        yield found


async def shown(town: Town, opened: Browsing, page: Page, place: str) -> Page:
    """Return a page that shows a place: that of the owner, a reader's, or the door."""
    if place == "reader":
        return await town.read(opened)
    if place == "door":
        return await town.door(opened)
    await town.show(page, place)
    return page


async def test_every_screen_fits_on_a_phone(town: Town, chromium: Browser) -> None:
    wide: dict[tuple[str, int], list[str]] = {}
    async with browsing(chromium) as opened:
        owner = await town.owner(opened)
        for place in PLACES:
            page = await shown(town, opened, owner, place)
            for width in (320, 390):
                await page.set_viewport_size({"width": width, "height": 700})
                wide[place, width] = await page.evaluate(OVERFLOWING)
    assert {place: what for place, what in wide.items() if what} == {}


async def test_every_screen_can_be_used_in_forced_colors(town: Town, chromium: Browser) -> None:
    lost: dict[str, list[str]] = {}
    async with browsing(chromium) as opened:
        owner = await town.owner(opened, forced_colors="active")
        for place in PLACES:
            page = await shown(town, opened, owner, place)
            await page.emulate_media(forced_colors="active")
            lost[place] = await page.evaluate(UNBORDERED)
            if await page.locator(".nav").is_visible() and not await page.evaluate(ONE_LINE):
                lost[place].append("the line of the current screen")
    assert {place: what for place, what in lost.items() if what} == {}


async def test_nothing_moves_where_nothing_may(town: Town, chromium: Browser) -> None:
    gate = asyncio.Event()
    town.scene.server.enqueue(Text(("It grows ", "and ends."), gate=gate))
    async with browsing(chromium) as opened, asyncio.TaskGroup() as group:
        page = await town.owner(opened, reduced_motion="no-preference")
        await town.show(page, "deck")
        group.create_task(town.scene.say(MEMBER, "Go on", addressed=True))
        running = page.locator(f"[data-chat='{key(GROUP)}'][data-lamp=running]")
        await expect(running).to_be_visible()
        assert await page.evaluate(MOVING) > 0
        await page.emulate_media(reduced_motion="reduce")
        for screen in SIGNS:
            await town.show(page, screen)
            assert await page.evaluate(MOVING) == 0, screen
        await town.show(page, "replay")
        await page.get_by_role("button", name="Play", exact=True).click()
        assert await page.evaluate(MOVING) == 0
        gate.set()


async def test_tab_reaches_everything_in_its_order_and_every_stop_shows_it(
    town: Town, chromium: Browser
) -> None:
    missed: dict[str, object] = {}
    async with browsing(chromium) as opened:
        owner = await town.owner(opened)
        for place in PLACES:
            page = await shown(town, opened, owner, place)
            await page.evaluate(WATCH_FOCUS)
            wanted: list[str] = await page.evaluate("reachable()")
            # Once, the focus may be outside the page; and a date has more than one place to be in.
            dates = await page.locator("input[type^=date]").count()
            for _ in range(len(wanted) + 1 + PARTS * dates):
                if await page.evaluate("reached.length") == len(wanted):
                    break
                await page.keyboard.press("Tab")
            reached: list[str] = await page.evaluate("reached")
            if not any(reached == wanted[at:] + wanted[:at] for at in range(len(wanted))):
                missed[place] = (reached, wanted)
            if unmarked := await page.evaluate("unmarked"):
                missed[f"{place}: what shows no focus"] = unmarked
    assert missed == {}
