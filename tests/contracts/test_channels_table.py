"""Which lines a channel need not keep, and why: nothing is left out silently."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from channels.registry import CHANNELS
from channels.testing.promises import LACKS, PROMISES, skip_reason
from tests.kit.promised import (
    LEFT_OUT,
    ON_A_SERVER,
    PROMISED,
    STORELESS,
    STORELESS_TESTS,
    class_of,
    needed_on_a_server,
)
from tests.kit.stages.registry import STAGES

ROOM: Final = {
    "A4": "messages cannot be edited there",
    "B5": "it has no other bots",
    "B6": "a line is sent on purpose, so nothing waits for another",
    "B7": "everybody there is the owner, or was let in by the owner",
    "B8": "everybody there is the owner, or was let in by the owner",
    "D1 remote": "there is no platform between the gateway and its people",
    "D2": "there is no platform between the gateway and its people",
    "D3": "there is no platform between the gateway and its people",
    "D4": "there is no platform between the gateway and its people",
    "D6": "there is no platform between the gateway and its people",
    "E1 threads": "its chats have no threads",
    "E2 remote groups": "there is no platform between the gateway and its people",
    "E5": "it alerts nobody",
    "F1": "there is no platform between the gateway and its people",
    "F2": "there is no platform between the gateway and its people",
    "F3": "there is no platform between the gateway and its people",
    "F4": "there is no platform between the gateway and its people",
    "H1 remote": "there is no platform between the gateway and its people",
    "H1 edits": "messages cannot be edited there",
    "H1 strangers groups": "everybody there is the owner, or was let in by the owner",
}

DOES_NOT_APPLY: Final[Mapping[str, Mapping[str, str]]] = {
    "cli": ROOM
    | {
        "B1": "its chats have one person each",
        "B2 groups": "its chats have one person each",
        "B2 names": "the agent is called by mention only",
        "B2 rules threads": "each message says itself whether it is for the agent",
        "B3": "its chats have one person each",
        "B4": "its chats have one person each",
        "C1": "its chats have one person each",
        "C2 groups": "its chats have one person each",
        "G1": "its chats have one person each",
        "E8": "messages there are text only",
        "G2": "its chats have one person each",
        "I12": "its chats have one person each",
        "H1 groups": "its chats have one person each",
    },
    "discord": {"F4 exclusive": "several readers may connect, and none learns of another"},
    "slack": {},
    "telegram": {"A4 deletions": "the agent does not learn of deleted messages"},
    "web": ROOM
    | {
        "B2 private": "every chat of it is a room",
        "D1 private": "every chat of it is a room",
        "B2 names": "the agent is called by mention only",
        "B2 rules threads": "each message says itself whether it is for the agent",
        "G1 groups rules": "each message says itself whether it is for the agent",
    },
}

for found in Path(__file__).parent.glob("test_channels_*.py"):
    import_module(f"tests.contracts.{found.stem}")


@pytest.mark.parametrize("channel", sorted(CHANNELS))
def test_what_is_left_out_on_a_channel_is_what_the_table_says(channel: str) -> None:
    assert LEFT_OUT.get(channel, {}) == dict(DOES_NOT_APPLY[channel])


@pytest.mark.parametrize("channel", sorted(CHANNELS))
def test_every_line_has_a_test_on_a_channel_or_a_reason(channel: str) -> None:
    open_lines = [
        line
        for line in PROMISES
        if (line, channel) not in PROMISED and line not in DOES_NOT_APPLY[channel]
    ]
    assert open_lines == []


@pytest.mark.parametrize("channel", sorted(CHANNELS))
def test_every_line_that_a_store_has_a_part_in_runs_on_a_server_with_every_test(
    channel: str,
) -> None:
    with_store = {key: tests for key, tests in PROMISED.items() if key[0] not in STORELESS}
    assert STORELESS.keys() <= PROMISES.keys()
    for key, tests in with_store.items():
        with_part = sorted(test for test in tests if test not in STORELESS_TESTS)
        assert sorted(ON_A_SERVER.get(key, ())) == with_part
        assert with_part, f"{key}: the line itself is storeless"
    assert any(key[1] == channel for key in ON_A_SERVER)


@pytest.mark.parametrize("count", range(1, 12))
def test_on_a_server_each_channel_has_a_case_and_each_case_a_channel(count: int) -> None:
    runs = [(channel, str(case)) for case in range(count) for channel in CHANNELS]
    shared = [run for run, needed in zip(runs, needed_on_a_server(runs), strict=True) if needed]
    assert {channel for channel, _ in shared} == set(CHANNELS)
    assert {case for _, case in shared} == {case for _, case in runs}
    assert len(shared) == max(count, len(CHANNELS))


def test_every_registered_channel_has_a_stage() -> None:
    assert sorted(STAGES) == sorted(CHANNELS)


@pytest.mark.parametrize("channel", sorted(CHANNELS))
def test_a_channel_is_excused_by_what_it_does_not_declare_and_by_nothing_else(channel: str) -> None:
    kind = class_of(channel)
    for need in kind.capabilities | kind.features:
        assert skip_reason([need], kind) is None
    for need in LACKS.keys() - kind.capabilities - kind.features:
        assert skip_reason([need], kind) == LACKS[need]
