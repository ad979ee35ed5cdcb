"""Who is who on the page: colours by arrival, and two people of one name."""

from __future__ import annotations

from playwright.async_api import Browser, Page, expect

from gateway.app import Gateway
from tests.kit.browser import browsing, marks, say, somebody

pytestmark = marks

NAMES = """() => [...document.querySelectorAll('.log [data-role=person]')].map((one) => [
  one.querySelector('.who').textContent,
  [...one.classList].find((name) => name.startsWith('hue-')),
])"""


async def names(page: Page) -> list[list[str]]:
    """Return the name and colour of each person's messages, in order."""
    found: list[list[str]] = await page.evaluate(NAMES)
    return found


async def test_two_people_of_one_name_have_numbers_and_colours_of_their_own(
    gateway: Gateway, chromium: Browser
) -> None:
    async with browsing(chromium) as opened:
        first = await somebody(opened, gateway.url, "Ann")
        second = await somebody(opened, gateway.url, "ann")
        agent = await somebody(opened, gateway.url, "Tapeway")
        await first.locator("#ask-agent").uncheck(force=True)
        await say(first, "one")
        await expect(second.get_by_text("one", exact=True)).to_be_visible()
        await second.locator("#ask-agent").uncheck(force=True)
        await say(second, "two")
        await expect(agent.get_by_text("two", exact=True)).to_be_visible()
        await agent.locator("#ask-agent").uncheck(force=True)
        await say(agent, "three")
        for page in (first, second, agent):
            await expect(page.get_by_text("three", exact=True)).to_be_visible()
            shown = await names(page)
            assert [name for name, _hue in shown] == ["Ann", "ann (2)", "Tapeway (2)"]
            assert len({hue for _name, hue in shown}) == 3
        before = await names(second)
        await second.reload()
        await expect(second.get_by_text("three", exact=True)).to_be_visible()
        assert await names(second) == before

        await second.locator("#people-summary").click()
        people = second.locator("#people-list")
        for name in ("Ann", "ann (2)", "Tapeway (2)"):
            await expect(people.get_by_text(name, exact=True)).to_be_visible()
        await expect(second.locator("#name-text")).to_have_text("ann (2)")
