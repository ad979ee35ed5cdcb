"""Formulas in the room: drawn by the browser, and copied as the model wrote them."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from playwright.async_api import Browser, Locator, Page, expect

from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.kit.browser import browsing, enter, marks, say
from tests.kit.gateways import gateway_of

pytestmark = marks

ANSWER = r"""So $\frac{a}{b}$ is **less**, and \(x^2_i < 1\), for $5 or $10.

\[
\begin{aligned}
a &= \alpha \\
  &= `b`
\end{aligned}
\]

Then \[ x^2 = 1 \] and $\ce{H2O}$.

- one $$y$$
- two"""
COPIED = r"""So $\frac{a}{b}$ is less, and \(x^2_i < 1\), for $5 or $10.

\[
\begin{aligned}
a &= \alpha \\
  &= `b`
\end{aligned}
\]

Then
\[ x^2 = 1 \]
and $\ce{H2O}$.

one
$$y$$
two"""
WHOLE = "(body) => getSelection().selectAllChildren(body)"
ACROSS = """(body) => {
  const text = document.createTreeWalker(body, NodeFilter.SHOW_TEXT);
  while (!text.nextNode().data.includes('is ')) { /* the text behind the formula */ }
  const inside = body.querySelector('math mi').firstChild;
  getSelection().setBaseAndExtent(inside, 0, text.currentNode, 3);
}"""
INSIDE = """(body) => {
  getSelection().selectAllChildren(body.querySelector('math mfrac'));
}"""
BOLD = "(body) => getSelection().selectAllChildren(body.querySelector('strong'))"
KINDS = """() => new Promise((done) => document.addEventListener('copy', (event) => {
  setTimeout(() => done(null));
  done(event.clipboardData.getData('text/html'));
}, { once: true }))"""


async def answered(page: Page) -> Locator:
    await say(page, "explain")
    body = page.locator("[data-role=agent]:not(.draft) .body")
    await expect(body.locator("math").first).to_be_visible()
    return body


async def copied(page: Page) -> str:
    """Copy with the keys, and return what is pasted."""
    await page.keyboard.press("Control+C")
    await page.locator("#composer-input").focus()
    await page.keyboard.press("Control+V")
    return await page.locator("#composer-input").input_value()


@pytest.mark.parametrize(
    ("select", "text"),
    [(WHOLE, COPIED), (ACROSS, r"$\frac{a}{b}$ is"), (INSIDE, r"$\frac{a}{b}$"), (BOLD, "less")],
)
async def test_a_copy_has_each_formula_as_it_was_written(
    model: FakeOpenAI, tmp_path: Path, chromium: Browser, select: str, text: str
) -> None:
    async with gateway_of(tmp_path, model) as gateway, browsing(chromium) as opened:
        model.enqueue(Text((ANSWER,)))
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        body = await answered(page)
        await body.evaluate("(body) => { document.activeElement.blur(); }")
        await body.evaluate(select)
        assert (await copied(page)).strip() == text
        assert await page.locator(".copying").count() == 0


async def test_a_copy_keeps_its_links_where_they_may_be_pasted(
    model: FakeOpenAI, tmp_path: Path, chromium: Browser
) -> None:
    async with gateway_of(tmp_path, model) as gateway, browsing(chromium) as opened:
        model.enqueue(Text(("See [tea](https://example.org/) and $x^2 < 1$.",)))
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        body = await answered(page)
        await body.evaluate("(body) => { document.activeElement.blur(); }")
        await body.evaluate(WHOLE)
        await page.evaluate(f"() => {{ window.heard = ({KINDS})(); }}")
        await page.keyboard.press("Control+C")
        html = await page.evaluate("window.heard")
        assert '<a href="https://example.org/"' in html
        assert "$x^2 &lt; 1$" in html
        assert "<math" not in html


async def test_formulas_are_drawn_and_a_wide_one_scrolls_by_itself(
    model: FakeOpenAI, tmp_path: Path, chromium: Browser
) -> None:
    wide, long = (" + ".join(f"a_{{{at}}}" for at in range(size)) for size in (60, 20))
    async with gateway_of(tmp_path, model) as gateway, browsing(chromium) as opened:
        model.enqueue(Text((f"So $\\frac{{a}}{{b}}$, ${long}$ and\n\n\\[ {wide} \\]",)))
        context = await opened.new_context(viewport={"width": 390, "height": 800})
        page = await enter(context, gateway.url, "Alice")
        body = await answered(page)
        fraction = body.locator("mfrac")
        above, below = [await one.bounding_box() for one in await fraction.locator("mi").all()]
        assert above
        assert below
        assert above["y"] + above["height"] <= below["y"] + 1
        scrolling = body.locator("[tabindex='0']")
        await expect(scrolling).to_have_count(2)
        assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")


async def test_an_answer_with_formulas_is_read_out_as_it_was_written(
    model: FakeOpenAI, tmp_path: Path, chromium: Browser
) -> None:
    async with gateway_of(tmp_path, model) as gateway, browsing(chromium) as opened:
        model.enqueue(Text(("It is $x^2$.",)))
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        await answered(page)
        await expect(page.locator("#spoken")).to_contain_text("It is $x^2$.")


async def test_a_formula_appears_once_it_is_complete(
    model: FakeOpenAI, tmp_path: Path, chromium: Browser
) -> None:
    gate = asyncio.Event()
    async with gateway_of(tmp_path, model) as gateway, browsing(chromium) as opened:
        model.enqueue(Text(("It is so, and \\[ a_1 *b* ", "c_2 \\]"), gate=gate))
        page = await enter(await opened.new_context(), gateway.url, "Alice")
        await say(page, "explain")
        await expect(page.locator(".draft .body")).to_have_text("It is so, and")
        gate.set()
        body = page.locator("[data-role=agent]:not(.draft) .body")
        await expect(body.locator("math")).to_have_text("a1\u2217b\u2217c2")
