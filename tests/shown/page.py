"""What people see on the page: Chromium's text of it, and what they copy.

The page's own modules draw what the server rendered; many texts are read in one go.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from playwright.async_api import Browser, Page, Route

import channels.web
from channels.web.format import to_html
from tests.shown.compare import Shown

ASSETS: Final = Path(channels.web.__file__).with_name("assets")
ORIGIN: Final = "http://page.test/"
AT_ONCE: Final = 200

_TYPES: Final = {".js": "text/javascript", ".css": "text/css"}
_HTML: Final = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<link rel="stylesheet" href="colours.css"><link rel="stylesheet" href="room.css">
<link rel="stylesheet" href="answers.css"></head>
<body><div class="msg" data-role="agent"><div class="body"></div></div>
<script type="module">
import { copied as copiedOf } from './copying.js';
import { showBody } from './markup.js';
const body = document.querySelector('.body');
// What is no word of the text: buttons, and the host of an image, whose address is a target.
const FURNITURE = '.copy, .note-back, .show-image small, .far-image a';
// The signs of a formula that are seen, as they stand beside each other.
const signs = (math) => [...math.querySelectorAll('mi, mn, mo, mtext')]
  .filter((one) => one.getClientRects().length && getComputedStyle(one).visibility === 'visible')
  .map((one) => one.textContent).join('');
const seen = () => {
  const formulas = [...body.querySelectorAll('math')].map((one) => [one, new Text(signs(one))]);
  for (const [math, said] of formulas) math.replaceWith(said);
  const text = body.innerText;
  for (const [math, said] of formulas) said.replaceWith(math);
  return text;
};
const text = (html, copied) => {
  body.replaceChildren();
  showBody(body, html);
  const targets = [...body.querySelectorAll('a')].map((one) => one.getAttribute('href'));
  for (const one of body.querySelectorAll(FURNITURE)) one.remove();
  const images = [...body.querySelectorAll('.show-image span')];
  for (const one of images) if (one.textContent === 'Image') one.remove();
  for (const list of body.querySelectorAll('ol')) {
    let number = list.start;
    for (const item of list.children) item.prepend(`${number++}. `);
  }
  if (!copied) return [seen(), targets];
  getSelection().selectAllChildren(body);
  return [copiedOf(document.body)?.text ?? getSelection().toString(), targets];
};
window.read = (htmls, copied) => htmls.map((html) => text(html, copied));
</script></body></html>"""


@asynccontextmanager
async def reading(browser: Browser) -> AsyncIterator[Page]:
    """Have a page that reads what the server rendered."""
    context = await browser.new_context()
    page = await context.new_page()
    await page.route("**/*", _serve)
    await page.goto(ORIGIN)
    await page.wait_for_function("window.read !== undefined")
    yield page
    await context.close()


async def _serve(route: Route) -> None:
    name = route.request.url.removeprefix(ORIGIN).partition("?")[0]
    file = ASSETS / name
    if not name:
        await route.fulfill(body=_HTML, content_type="text/html")
    elif route.request.url.startswith(ORIGIN) and file.parent == ASSETS and file.is_file():
        kind = _TYPES.get(file.suffix, "application/octet-stream")
        await route.fulfill(body=file.read_bytes(), content_type=kind)
    else:
        await route.abort()


async def on_page(page: Page, texts: Sequence[str], *, copied: bool = False) -> list[Shown]:
    """Return what people see of each text, or what they copy of it."""
    found: list[Shown] = []
    for at in range(0, len(texts), AT_ONCE):
        htmls = [to_html(text) for text in texts[at : at + AT_ONCE]]
        read = await page.evaluate("([htmls, copied]) => read(htmls, copied)", [htmls, copied])
        found += [Shown((text,), tuple(targets)) for text, targets in read]
    return found
