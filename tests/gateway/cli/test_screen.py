"""Text for a terminal: widths, colours, time, and tables that other people's text cannot break."""

from __future__ import annotations

import io
import json
import sys
from datetime import datetime

import pytest
import wcwidth

from gateway.cli.screen import clipped, hanging, lane_label, local_time, painted, safe, short_time
from gateway.cli.table import print_json, print_table


class Terminal(io.StringIO):
    """A standard output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def a_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    found = Terminal()
    monkeypatch.setattr(sys, "stdout", found)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    return found


def test_colours_are_for_terminals_without_no_color(monkeypatch: pytest.MonkeyPatch) -> None:
    a_terminal(monkeypatch)
    assert painted("x", "1") == "\x1b[1mx\x1b[0m"
    assert lane_label("a") == lane_label("a") != lane_label("b")
    monkeypatch.setenv("TERM", "dumb")
    assert painted("x", "1") == "x"
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    assert painted("x", "1") == "x"
    assert lane_label("a") == "[a]"


def test_a_table_counts_the_columns_of_wide_letters_and_keeps_rows_on_a_line(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal = a_terminal(monkeypatch)
    rows = [{"who": "王小明\x1b[2J", "what": "梅" * 40}, {"who": "Ann", "what": "a\nb"}]
    print_table(("who", "what"), rows)
    head, wide, plain = terminal.getvalue().splitlines()
    assert wcwidth.width(wcwidth.strip_sequences(head)) <= 40
    assert wcwidth.width(wide) <= 40
    assert wide.endswith("…")
    assert "王小明\\u001b[2J  梅" in wide
    assert wcwidth.width(plain[: plain.index("a b")]) == wcwidth.width(wide[: wide.index("梅")])


def test_a_narrow_table_cuts_its_other_columns_too(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = a_terminal(monkeypatch)
    row = {"who": "discord:1574229530644578307", "name": "Bob the Builder", "turns": 12345678}
    print_table(("who", "name", "turns"), [row], fill="name")
    (line,) = terminal.getvalue().splitlines()[1:]
    assert line == "discord:15742295306…  Bob the…  12345678"


def test_a_table_without_rows_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("who", "what"), [], empty="Nobody yet: invite somebody.")
    out, err = capsys.readouterr()
    assert out == "who  what\n"
    assert err == "Nobody yet: invite somebody.\n"


def test_numbers_end_in_one_column(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("who", "turns"), [{"who": "7", "turns": 5}, {"who": "all", "turns": 1200}])
    assert capsys.readouterr().out == "who  turns\n7        5\nall   1200\n"


def test_a_lane_is_called_by_the_end_of_its_name() -> None:
    assert lane_label("said:-100123/42") == "[42]"
    assert lane_label("said:lobby/d27aa283-2fe5") == "[…283-2fe5]"


def test_listings_leave_out_this_year() -> None:
    now = datetime.now().astimezone()
    assert short_time(now.isoformat()) == f"{now:%m-%d %H:%M}"
    assert short_time("2020-01-02T03:04:05+00:00").startswith("2020-01-0")


def test_a_date_that_is_none_is_shown_safely() -> None:
    assert local_time("soon\x1b[2J") == "soon\\u001b[2J"
    assert local_time("") == ""
    assert local_time("2026-01-02T03:04:05+00:00", "%Y") == "2026"


def test_lone_surrogates_and_controls_are_escaped_and_letters_are_not() -> None:
    assert safe("a\ud800\x07\r\nb") == "a\\ud800\\u0007\nb"
    assert safe("你好, Straße 👍") == "你好, Straße 👍"


def test_wide_text_is_cut_and_wrapped_by_its_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    assert clipped("梅子梅子", 5) == "梅子…"
    lines = hanging("head ", "梅" * 40 + "\nnext", 5)
    assert max(map(wcwidth.width, lines)) <= 40
    assert lines[-1] == "     next"


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_json_is_json_in_every_encoding(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding=encoding))
    print_json({"text": "Grüße 梅 \x9b2J"})
    sys.stdout.flush()
    assert json.loads(raw.getvalue().decode(encoding)) == {"text": "Grüße 梅 \x9b2J"}


def test_a_path_that_is_longer_than_a_line_is_not_cut_in_two(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    path = "/srv/" + "a" * 60
    assert hanging("", f"{path} is ignored", 0) == [path, "is ignored"]
