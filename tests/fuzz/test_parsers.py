"""No parser of bytes from outside fails on any input; `make fuzz` searches for minutes."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import HealthCheck, given

from tests.fuzz.parsers import PARSERS
from tests.kit.examples import examples

SHORT = examples(60, suppress_health_check=list(HealthCheck))


@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_takes_or_refuses_whatever_comes(name: str) -> None:
    parser = PARSERS[name]

    @SHORT
    @given(parser.inputs)
    def search(given: Any) -> None:
        with contextlib.suppress(*parser.refuses):
            parser.parse(given)

    search()
