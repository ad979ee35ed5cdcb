"""The page about security names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).resolve().parent.parent
PAGE: Final = (ROOT / "docs" / "explanation" / "security.md").read_text("utf-8")
NAMED: Final = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_a_test_that_the_page_names_is_there(path: str, name: str) -> None:
    assert re.search(rf"^(async )?def {name}\(", (ROOT / path).read_text("utf-8"), re.MULTILINE)


def test_every_published_failure_and_claim_has_a_test() -> None:
    _before, _heading, table = PAGE.partition("## Published failures")
    headings = ("| Published", "| Claim")
    rows = [line for line in table.splitlines() if line.startswith("| ")]
    rows = [line for line in rows if not line.startswith(headings)]
    assert len(rows) >= 12 + 20
    assert [row for row in rows if "`tests/" not in row] == []
