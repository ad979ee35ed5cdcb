"""People see and copy on the page what the model wrote."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Page

from tests.kit.browser import connected, marks, running_chromium
from tests.kit.examples import number
from tests.shown.compare import missing
from tests.shown.growing import page_faults, parts
from tests.shown.installed import sections
from tests.shown.page import on_page, reading
from tests.shown.texts import Written, written

pytestmark = marks


@pytest.fixture(scope="module")
async def page(anyio_backend: object) -> AsyncIterator[Page]:
    """Have one page for the file."""
    with running_chromium() as address:
        async with connected(address) as browser, reading(browser) as page:
            yield page


@pytest.mark.parametrize("copied", [False, True])
async def test_each_run_is_seen_and_copied(page: Page, copied: bool) -> None:
    texts = [*map(written, range(number(600))), *map(Written, sections(number(150)))]
    shown = await on_page(page, [text.text for text in texts], copied=copied)
    found = [missing(t.text, one, t.kept) for t, one in zip(texts, shown, strict=True)]
    assert [fault for fault in found if fault] == []


async def test_a_text_that_grows_shows_nothing_that_the_whole_does_not(page: Page) -> None:
    for seed in range(number(60)):
        text = written(seed).text
        assert page_faults(text, await on_page(page, parts(text))) is None


async def test_a_page_that_loses_a_word_is_found(page: Page) -> None:
    (shown,) = await on_page(page, ["one three"])
    assert missing("one two three", shown) == "'two' in 'one two three'"
