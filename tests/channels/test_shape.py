"""Every channel has the same rooms."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

import pytest

from channels.base import Channel
from channels.capabilities import Capability
from channels.registry import CHANNELS, make_channel

ROOMS = ("adapter", "inbound", "outbound", "format", "settings")


@pytest.mark.parametrize("name", sorted(CHANNELS))
def test_a_channel_has_every_room(name: str) -> None:
    missing = [room for room in ROOMS if find_spec(f"channels.{name}.{room}") is None]
    assert missing == []


@pytest.mark.parametrize("name", sorted(CHANNELS))
def test_a_channel_lives_in_the_adapter_of_its_own_folder(name: str) -> None:
    module, _, attribute = CHANNELS[name].target.partition(":")
    assert module == f"channels.{name}.adapter"
    made = getattr(import_module(module), attribute)
    assert issubclass(made, Channel)
    assert made.name == name


def test_an_unknown_channel_is_a_key_error() -> None:
    with pytest.raises(KeyError):
        make_channel("pigeon", None)


@pytest.mark.parametrize("capability", ["edit", "native_stream", "typing", "media"])
def test_a_channel_that_declares_what_it_does_not_do_is_refused(capability: Capability) -> None:
    body = {"name": "half", "capabilities": frozenset({capability})}
    with pytest.raises(TypeError, match=f"declares {capability} and has no method"):
        type("Half", (Channel,), body)
