"""Which addresses are public."""

from __future__ import annotations

import pytest

from agent.web.addresses import is_public
from tests.agent.web.hostile import PRIVATE, PRIVATE_V6


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:4700::1111", "2a00::1"])
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("address", [*PRIVATE, *PRIVATE_V6, "fe80::1%lo", "2606:4700::1%lo", "x"])
def test_others_are_not(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize("form", ["::ffff:{}", "64:ff9b::{}", "::ffff:0:{}", "::{}"])
def test_an_ipv4_address_inside_decides(form: str) -> None:
    assert is_public(form.format("8.8.8.8"))
    assert not is_public(form.format("10.0.0.1"))


def test_6to4_is_judged_by_the_ipv4_address_inside() -> None:
    assert is_public("2002:808:808::1")
    assert not is_public("2002:a00:1::1")
    assert not is_public("2002:7f00:1::808:808")
