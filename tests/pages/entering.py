"""How people come into the room and the console in a browser."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from playwright.async_api import Browser, Page, expect

from gateway.assembly import Internals
from tests.gateway.console.scene import OWNER, Scene, scene_of
from tests.kit.browser import Browsing, browsing
from tests.kit.gateways import PATIENT


@asynccontextmanager
async def entered(
    home: Path, chromium: Browser, person: str = OWNER, internals: Internals = PATIENT
) -> AsyncIterator[tuple[Scene, Browsing, Page]]:
    """Have somebody in the console, by a link of theirs, in a browser that is no one's."""
    async with scene_of(home, internals=internals) as scene, browsing(chromium) as opened:
        yield scene, opened, await enter(scene, opened, person)


async def enter(scene: Scene, opened: Browsing, person: str, **options: object) -> Page:
    headers = {"X-Forwarded-For": "203.0.113.9"}
    context = await opened.new_context(extra_http_headers=headers, **options)
    page = await context.new_page()
    await page.goto(f"{scene.gateway.url}console#code={await scene.code(person)}")
    await expect(page.get_by_role("heading", level=1)).to_have_text(re.compile("Chats|聊天"))
    return page


MOVING = """() => document.getAnimations().filter((one) => one.playState === 'running').length"""


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


ELSEWHERE = {"X-Forwarded-For": "203.0.113.9"}
"""What a proxy adds: the visitor is not a user of this machine."""


async def guest_page(opened: Browsing) -> Page:
    context = await opened.new_context(extra_http_headers=ELSEWHERE)
    return await context.new_page()


async def invitation(page: Page) -> str:
    await page.locator("#menu-summary").click()
    await page.get_by_role("button", name="Invite, and access").click()
    await page.get_by_role("button", name="Make an invitation link").click()
    await expect(page.locator("#invite-link")).not_to_have_value("")
    return await page.locator("#invite-link").input_value()
