"""`make audit` without a way to an advisory service, and with findings."""

from __future__ import annotations

import sys

import pytest

from bench.audit import UNREACHED, audit


def command(code: str) -> tuple[str, ...]:
    return (sys.executable, "-c", code)


def test_where_nobody_can_be_asked_one_line_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    failing = "import sys; sys.exit('requests.exceptions.ConnectionError: Max retries exceeded')"
    assert audit(command(failing)) == 0
    assert capsys.readouterr().out == f"{UNREACHED}\n"


def test_a_known_vulnerability_is_printed_and_fails(capsys: pytest.CaptureFixture[str]) -> None:
    finding = "import sys; print('jinja2 3.0 GHSA-0000'); sys.exit(1)"
    assert audit(command(finding)) == 1
    out = capsys.readouterr().out
    assert "requirements.txt:\njinja2 3.0 GHSA-0000" in out


def test_what_else_goes_wrong_is_no_success() -> None:
    assert audit(command("import sys; sys.exit('no such option')")) == 1
