"""Which promises are tested on which channels, and on which store.

A test is declared with `promises(line, *needs)`: it runs for each registered channel that has what
the line and the test need. What that leaves out is in `LEFT_OUT`, for the table to answer for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any, Final, NamedTuple, TypeVar

import pytest
from _pytest.mark import ParameterSet

from channels.base import Channel
from channels.registry import CHANNELS
from channels.testing import Need, skip_reason
from channels.testing.promises import PROMISES

Test = TypeVar("Test", bound=Callable[..., Any])

PROMISED: Final[dict[tuple[str, str], list[str]]] = {}
"""The tests that run, by line and channel."""

LEFT_OUT: Final[dict[str, dict[str, str]]] = {}
"""What does not run: by channel, by line (and what a test of it needs beyond), the reason."""

ON_A_SERVER: Final[dict[tuple[str, str], list[str]]] = {}
"""The tests that run on PostgreSQL, too, by line and channel."""

STORELESS: Final[Mapping[str, str]] = {
    "B3": "what a text asks is read from the text",
    "C6": "a tool's CPU is not the store's",
    "E2": "how a text looks and is cut is the platform's",
    "E3": "how a text looks is the platform's",
    "E4": "what goes out is decided before it is kept",
    "E5": "whom a text alerts is the platform's",
    "E6": "typing is shown and never kept",
    "E7": "the sentence and the log come from the error",
    "F2": "connections are the platform's",
    "F3": "connections are the platform's",
    "F4": "tokens are the platform's",
}
"""The lines that a store has no part in, and why: they do not run once more on PostgreSQL."""

STORELESS_TESTS: Final[dict[str, str]] = {}
"""The tests of other lines that a store has no part in, and why."""

SHARED: Final[set[str]] = set()
"""The tests whose cases the channels share on a server."""

AT_LENGTH: Final = "telegram"
"""The channel on which hours, crowds and companies have their full size."""

_server: list[bool] = [False]


class Share(NamedTuple):
    """What one of several channels has of the cases of a test."""

    place: int
    channels: int

    def has(self, number: int) -> bool:
        """Return whether a case is this channel's, by its number."""
        return number % self.channels == self.place


@contextmanager
def on_a_server(wanted: bool) -> Iterator[None]:
    """Have houses keep everything in PostgreSQL, or in memory."""
    _server.append(wanted)
    yield
    _server.pop()


def is_on_a_server() -> bool:
    """Return whether houses keep everything in PostgreSQL."""
    return _server[-1]


def is_at_length(channel: str) -> bool:
    """Return whether what is many or long has its full size: for one channel only.

    The sizes are the gateway's and the store's, and the channels share them.
    """
    return channel == AT_LENGTH


def promises(
    line: str, *needs: Need, storeless: str = "", shared: bool = False
) -> Callable[[Test], Test]:
    """Run a test of a line on every channel that has what it needs.

    It runs in memory and, marked `postgresql`, on a server, unless the line or the test is
    `storeless`, with the reason. A test that is `shared` is given its channel's `Share`, for the
    cases that are the same on all of them. What else a test is parametrized with are its cases,
    too: in memory, each runs on every channel, and on a server on one of them.
    """

    def declare(test: Test) -> Test:
        named = f"test_{line.lower()}_"
        assert test.__name__.startswith(named), f"{test.__name__} must begin with {named}"
        if storeless:
            STORELESS_TESTS[test.__name__] = storeless
        elif not shared:
            SHARED.add(test.__name__)
        channels = list(_channels_of(line, needs))
        runs: list[ParameterSet] = []
        for index, channel in enumerate(channels):
            values = (channel, Share(index, len(channels))) if shared else (channel,)
            runs.append(pytest.param(*values, id=channel))
            PROMISED.setdefault((line, channel), []).append(test.__name__)
            if line not in STORELESS and not storeless:
                ON_A_SERVER.setdefault((line, channel), []).append(test.__name__)
                mark, name = pytest.mark.postgresql, f"{channel}-postgresql"
                runs.append(pytest.param(*values, marks=mark, id=name))
        names = ("channel", "share") if shared else ("channel",)
        marked: Test = pytest.mark.parametrize(names, runs)(test)
        return marked

    return declare


def _channels_of(line: str, needs: Sequence[Need]) -> Iterator[str]:
    """Yield the channels that have what a test needs; note for the others why they have not."""
    for channel in sorted(CHANNELS):
        kind = class_of(channel)
        whole = skip_reason(PROMISES[line].needs, kind)
        part = skip_reason(needs, kind)
        if whole is not None:
            LEFT_OUT.setdefault(channel, {})[line] = whole
        elif part is not None:
            LEFT_OUT.setdefault(channel, {})[f"{line} {' '.join(needs)}"] = part
        else:
            yield channel


def needed_on_a_server(runs: Sequence[tuple[str, str]]) -> list[bool]:
    """Return for each run of a test, of a channel and a case, whether it is needed on a server.

    Each channel has a case, each case has a channel, and there are no more than that takes.
    """
    channels = list(dict.fromkeys(channel for channel, _ in runs))
    cases = list(dict.fromkeys(case for _, case in runs))
    every = min(len(channels), len(cases))
    return [(channels.index(one) - cases.index(case)) % every == 0 for one, case in runs]


def class_of(channel: str) -> type[Channel]:
    """Return the class of a registered channel."""
    module, _, attribute = CHANNELS[channel].target.partition(":")
    found: type[Channel] = getattr(import_module(module), attribute)
    return found
