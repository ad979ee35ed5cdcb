"""Draws answers as the targets do, in a process of its own, and says what that took.

It is run as a file, over the packages of any checkout, and needs nothing else of this one. Each
line of input is a task in JSON, and each line of output what was found.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

SECONDS: Final = 10.0  # that an answer takes to come
THREADED: Final = 500
"""Maximum characters of a text that platforms draw on the event loop, not beside it."""

PAGE: Final = 2_000  # the same of the page, for any text
INLINE: Final = 4_000  # the same of cutting an answer into pieces

COLUMNS: Final = 100

Call = tuple[Callable[[], object], bool]  # and whether it stands on the event loop
Target = Callable[[list[str]], Iterator[Call]]


def shown(partials: list[str], seconds: float) -> list[str]:
    """Return the partial texts that a target shows that edits after each so many seconds."""
    step = max(1, round(seconds * len(partials) / SECONDS))
    return partials[step - 1 : -1 : step]


def telegram(partials: list[str]) -> Iterator[Call]:
    from channels.telegram import format as form

    for text in shown(partials, 0.7):
        yield lambda text=text: form.render_partial(text), len(text) <= THREADED  # type: ignore[misc]
    yield from _pieces(partials[-1], form.LIMIT, form.size, form.render)


def discord(partials: list[str]) -> Iterator[Call]:
    from channels.discord import format as form

    for text in shown(partials, 1.1):
        yield lambda text=text: form.render_partial(text), len(text) <= THREADED  # type: ignore[misc]
    yield from _pieces(partials[-1], form.LIMIT, form.size, form.render)


def slack(partials: list[str]) -> Iterator[Call]:
    from channels.slack import format as form

    begun = getattr(form, "begun", lambda text: text)  # older trees know no longest text
    for text in shown(partials, 1.2):
        yield lambda text=text: form.settled(begun(text)), len(text) <= THREADED  # type: ignore[misc]
    yield from _pieces(partials[-1], form.LIMIT, form.size, form.render)


def page(partials: list[str]) -> Iterator[Call]:
    from channels.web.format import to_html

    held: Callable[[str], str] = str  # older trees draw all of an answer
    with suppress(ImportError):
        from channels.web.growing import settled as held
    for text in shown(partials, 0.06):
        yield lambda text=text: to_html(held(text)), len(text) <= PAGE  # type: ignore[misc]
    yield lambda: to_html(partials[-1]), len(partials[-1]) <= PAGE


def terminal(partials: list[str]) -> Iterator[Call]:
    from gateway.cli.chat.answer import MessageText

    answer = MessageText(lambda: COLUMNS, [])

    def write(text: str) -> None:
        answer.write(text)
        answer.take()
        answer.live()

    for text in shown(partials, 0.03):
        yield lambda text=text: write(text), False  # type: ignore[misc]
    yield lambda: answer.write(partials[-1], final=True), False
    yield answer.end, False


TARGETS: Final[dict[str, Target]] = {
    "telegram": telegram,
    "discord": discord,
    "slack": slack,
    "page": page,
    "terminal": terminal,
}


def _pieces(
    text: str, limit: int, size: Callable[[str], int], render: Callable[[str], object]
) -> Iterator[Call]:
    """Cut an answer that is whole, and draw each piece; long ones are cut outside of the loop."""
    from channels.markdown.split import split

    found: list[str] = []
    yield lambda: found.extend(split(text, limit, size)), len(text) < INLINE
    for piece in found:
        yield lambda piece=piece: render(piece), len(piece) <= THREADED  # type: ignore[misc]


def drawn(target: str, text: str, deltas: int) -> dict[str, float]:
    """Draw an answer that grows in so many steps; return seconds of CPU: in all, and the longest
    call on the event loop.
    """
    ends = [len(text) * number // deltas for number in range(1, deltas + 1)]
    partials = [text[:end] for end in ends]
    whole = longest = 0.0
    for call, on_loop in TARGETS[target](partials):
        began = time.process_time()
        call()
        took = time.process_time() - began
        whole += took
        longest = max(longest, took) if on_loop else longest
    return {"cpu": whole, "longest": longest}


def main() -> None:
    """Answer tasks until there is no more."""
    for line in sys.stdin:
        task: dict[str, Any] = json.loads(line)
        print(json.dumps(drawn(task["target"], task["text"], task["deltas"])), flush=True)


if __name__ == "__main__":
    main()
