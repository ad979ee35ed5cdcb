"""What no setting changes: the defaults, and that each has a sentence."""

from __future__ import annotations

import ast
import inspect
from dataclasses import is_dataclass
from types import ModuleType

import pytest

from channels import findings
from channels.discord import limits
from gateway.settings import bounds, intervals
from gateway.settings.intervals import INTERVALS
from tape.database.connection import BUSY_SECONDS
from tape.stores.postgres import measures


@pytest.mark.parametrize("module", [bounds, intervals, limits, measures])
def test_each_field_says_what_it_is_for(module: ModuleType) -> None:
    [kind] = [one for one in vars(module).values() if inspect.isclass(one) and is_dataclass(one)]
    [body] = [one.body for one in ast.parse(inspect.getsource(kind)).body if hasattr(one, "body")]
    named = [one.target for one in body if isinstance(one, ast.AnnAssign)]
    said = [one for one in body if isinstance(one, ast.Expr)]
    assert len(said) == len(named) + 1, "each field needs a string below it"


def test_a_gateway_waits_for_a_locked_file_as_long_as_any_program_of_the_tape() -> None:
    assert INTERVALS.database_busy == BUSY_SECONDS


def test_a_check_of_a_platform_may_make_more_than_one_request() -> None:
    assert findings.CHECK_SECONDS.request < findings.CHECK_SECONDS.platform
