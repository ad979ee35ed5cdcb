"""`make audit` without a way to an advisory service, and with findings."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping

import pytest

from bench.audit import UNREACHED, audit


def printing(*packages: Mapping[str, object], code: int = 0) -> tuple[str, ...]:
    """Return a command that reports these packages as pip-audit does."""
    report = json.dumps({"dependencies": packages})
    return (sys.executable, "-c", f"import sys; print({report!r}); sys.exit({code})")


def test_where_nobody_can_be_asked_one_line_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    failing = "import sys; sys.exit('requests.exceptions.ConnectionError: Max retries exceeded')"
    assert audit((sys.executable, "-c", failing)) == 0
    assert capsys.readouterr().out == f"{UNREACHED}\n"


def test_a_mirror_without_advisories_is_not_taken_for_a_clean_bill(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert audit(printing({"name": "apsw", "skip_reason": "not found"})) == 0
    assert capsys.readouterr().out == f"{UNREACHED}\n"


def test_a_known_vulnerability_is_named_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    bad = {"name": "jinja2", "version": "3.0", "vulns": [{"id": "GHSA-0000"}]}
    good = {"name": "apsw", "version": "3.54", "vulns": []}
    skipped = {"name": "own", "skip_reason": "not found"}
    assert audit(printing(bad, good, skipped, code=1)) == 1
    out = capsys.readouterr().out
    assert "requirements.txt: 2 of 3 packages checked, 1 vulnerable" in out
    assert "jinja2 3.0: GHSA-0000" in out


def test_what_else_goes_wrong_is_no_success() -> None:
    assert audit((sys.executable, "-c", "import sys; sys.exit('no such option')")) == 1
