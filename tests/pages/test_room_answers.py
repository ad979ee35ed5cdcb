"""An answer on the page while it grows and when it ends: what moves, and what is read out."""

from __future__ import annotations

import asyncio
from pathlib import Path

from playwright.async_api import Browser, Page, expect

from tests.browser import browsing, enter, marks, say
from tests.fakes.openai.script import Text
from tests.fakes.openai.server import FakeOpenAI
from tests.gateways import gateway_of

pytestmark = marks

COUNT = """() => {
  window.heard = [];
  new MutationObserver((records) => {
    for (const record of records) {
      window.heard.push([...record.addedNodes].map((node) => node.textContent));
    }
  }).observe(
    document.querySelector('#spoken'), { childList: true, characterData: true, subtree: true },
  );
}"""
PLACES = """() => {
  return [...document.querySelectorAll('[data-role=agent] .body *')].map((one) => {
    const { top, left, width, height } = one.getBoundingClientRect();
    return [one.className, top, left, width, height].join(' ');
  });
}"""
WIDE = " | ".join(f"column {number}" for number in range(12))
ANSWER = f"""See https://example.org/a_b?x=1. It holds[^one].

```python
def area(r: float) -> str:  # {"x" * 200}
    return f"{{r * 3.14}}"
```

| name | {WIDE} |
|---|{"---|" * 12}
| one | {WIDE} |

- [x] write it
- [ ] read it

[^one]: https://example.org/one

So $\\frac{{a+b}}{{2}} \\leq x^2$, for $5 or $10"""


async def still(page: Page) -> list[str]:
    """Return where the parts of the answer are, once that is the same in two frames."""
    places: list[str] = []
    while places != (places := await page.evaluate(PLACES)):
        await page.evaluate("() => new Promise((go) => setTimeout(go, 300))")
    return places


async def test_nothing_moves_when_an_answer_ends_and_it_is_read_out_once_and_whole(
    tmp_path: Path, chromium: Browser
) -> None:
    gate = asyncio.Event()
    async with (
        FakeOpenAI() as server,
        gateway_of(tmp_path, server) as gateway,
        browsing(chromium) as opened,
    ):
        server.enqueue(Text((ANSWER, "."), gate=gate))
        context = await opened.new_context(viewport={"width": 800, "height": 1400})
        page = await enter(context, gateway.url, "Alice")
        await page.evaluate(COUNT)
        await say(page, "Show it all")
        await expect(page.locator(".draft .copy")).to_have_count(1)
        await expect(page.locator(".draft .code-keyword").first).to_have_text("def")
        await expect(page.locator(".draft .wide[data-more=end]")).to_have_count(2)
        await page.locator(".draft .copy").focus()
        before = await still(page)
        assert await page.evaluate("window.heard") == []
        gate.set()
        await expect(page.locator(".draft")).to_have_count(0)
        assert await still(page) == before
        assert await page.evaluate("document.activeElement.className") == "copy"
        own = page.locator("[data-role=person] > .paper")
        await expect(own).to_have_css("opacity", "1")  # not as pale as what is on its way
        ((spoken,),) = await page.evaluate("window.heard")
        assert spoken.startswith("Tapeway: See https://example.org/a_b?x=1. It holds.")
        assert spoken.endswith("for $5 or $10.\nhttps://example.org/one")

        answer = page.locator("[data-role=agent]")
        await expect(answer.locator("a").first).to_have_attribute(
            "href", "https://example.org/a_b?x=1"
        )
        await expect(answer.get_by_role("img", name="done")).to_have_count(1)
        await expect(answer.get_by_role("img", name="open")).to_have_count(1)
        await expect(answer.locator(".math")).to_have_text("(a + b)/2 ≤ x2")
        await answer.get_by_role("button", name="Footnote 1", exact=True).press("Enter")
        back = answer.get_by_role("button", name="Back to footnote 1")
        await expect(back).to_be_focused()
        await answer.locator("pre").evaluate("pre => pre.scrollTo(pre.scrollWidth, 0)")
        await expect(answer.locator(".code")).to_have_attribute("data-more", "start")
