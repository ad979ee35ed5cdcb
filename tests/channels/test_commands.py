"""The form of a command, in whatever way it was written."""

from __future__ import annotations

import pytest

from channels.commands import after_mention, as_written, command_line, named_bot


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (",help", ",help"),
        ("/Help", ",help"),
        ("  /stop all", ",stop all"),
        (",tape.search query=tea\nand", ",tape.search query=tea\nand"),
        (",tape.search\u00a0tea", ",tape.search\u00a0tea"),
        ("/tmp is full", ",tmp is full"),
        ("/stop@ours all", ",stop all"),
        ("/stop@theirs all", ""),
        ("/etc/hosts", ""),
        (",help!", ""),
        (", help", ""),
        ("/", ""),
        ("//help", ""),
        ("> ,help", ""),
        ("`,help`", ""),
        ("say /help", ""),
        ("/помощь", ""),
        (",1", ""),
        ("", ""),
    ],
)
def test_a_line_is_a_word_behind_a_slash_or_a_comma(text: str, line: str) -> None:
    assert command_line(text, lambda bot: bot == "ours") == line


def test_a_command_may_name_a_bot() -> None:
    assert named_bot("/stop@theirs all") == "theirs"
    assert not named_bot("/stop mail@theirs")
    assert not named_bot("write to me@theirs")


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("@bot /help", "/help"),
        ("@bot: ,help", ",help"),
        ("@bot, ,help", ",help"),
        ("@bot\u00a0/help", "/help"),
        ("@bot,help me", "@bot,help me"),
        ("@bot", "@bot"),
    ],
)
def test_a_blank_stands_between_a_mention_and_a_command(text: str, rest: str) -> None:
    assert after_mention(text, 4) == rest
    assert after_mention(text, 0) == text


def test_a_sentence_has_its_commands_as_people_write_them_there() -> None:
    said = "`,forget me` or `,tape.info x`, but no `{,plum}`"
    assert as_written(said, lambda name: f"<{name}>") == (
        "`<forget me>` or `<tape.info> x`, but no `{,plum}`"
    )
