"""What the kits for authors of plugins check, from the checks and promises themselves."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from agent.testing import MODEL_CHECKS, TOOL_CHECKS
from channels.testing.promises import PROMISES
from tape.testing import (
    ERASING_CHECKS,
    SEARCH_CHECKS,
    STORE_CHECKS,
    STRATEGY_CHECKS,
    TAPE_CHECKS,
    UNIT_CHECKS,
)
from tests.reference.table import table

Checks = Sequence[Callable[..., Any]]

KITS: Final[Sequence[tuple[str, str, Checks]]] = (
    ("A tool", "`agent.testing.TOOL_CHECKS`", TOOL_CHECKS),
    ("A model", "`agent.testing.MODEL_CHECKS`", MODEL_CHECKS),
    ("A strategy", "`tape.testing.STRATEGY_CHECKS`", STRATEGY_CHECKS),
    ("A tape store: what is read", "`tape.testing.TAPE_CHECKS`", TAPE_CHECKS),
    (
        "A tape store: what is written",
        "`tape.testing.STORE_CHECKS`, with the checks of what is read",
        [one for one in STORE_CHECKS if one not in TAPE_CHECKS],
    ),
    ("A tape store: searches", "`tape.testing.SEARCH_CHECKS`", SEARCH_CHECKS),
    ("A tape store with a unit of work", "`tape.testing.UNIT_CHECKS`", UNIT_CHECKS),
    ("A tape store that can erase", "`tape.testing.ERASING_CHECKS`", ERASING_CHECKS),
)
"""Each kit: its heading, where it is, and its checks."""


def lines() -> Iterator[str]:
    for heading, where, checks in KITS:
        yield from (f"## {heading}", "", f"{where}:", "")
        yield from (f"- {_sentence(check)}" for check in checks)
        yield ""
    yield from ("## A channel", "", "The promises that `channels.testing.Stage` serves:", "")
    rows = ((one.id, one.promise, ", ".join(one.needs)) for one in PROMISES.values())
    yield from table(("", "Promise", "If the channel has"), rows)


def _sentence(check: Callable[..., Any]) -> str:
    said = inspect.getdoc(check)
    if said:
        return " ".join(said.split())
    words = check.__name__.replace("_", " ").strip()
    return f"{words[:1].upper()}{words[1:]}."
