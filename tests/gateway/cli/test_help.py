"""`--help`: every command stands in a task, in whole lines, with examples."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest
import typer
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from gateway.cli.completion import VARIABLE, prepare_completion
from gateway.cli.help import OWN, TASKS, CommandApp, TaskGroup
from gateway.cli.main import app
from gateway.cli.tape.commands import Kind
from tape.entry import KINDS

WIDTH = 80


def commands(group: object, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the path of every command and group."""
    yield path
    if isinstance(group, TyperGroup):
        for name, command in group.commands.items():
            yield from commands(command, (*path, name))


def help_of(*path: str, of: typer.Typer = app) -> str:
    shown = CliRunner().invoke(of, [*path, "--help"], env={"COLUMNS": str(WIDTH)})
    assert shown.exit_code == 0, shown.output
    return shown.output


def root() -> TaskGroup:
    group = get_command(app)
    assert isinstance(group, TaskGroup)
    return group


def test_every_builtin_command_stands_in_one_task() -> None:
    names = [name for names in TASKS.values() for name in names]
    assert len(names) == len(set(names))
    assert set(root().commands) <= OWN


@pytest.mark.parametrize("path", list(commands(get_command(app))), ids=" ".join)
def test_help_is_cut_nowhere(path: tuple[str, ...]) -> None:
    shown = help_of(*path)
    assert max(map(len, shown.splitlines())) <= WIDTH
    assert "..." not in shown.partition("\n\n")[2]
    assert "<str>" not in shown
    assert "<list" not in shown
    assert "x>=" not in shown


@pytest.mark.parametrize("path", list(commands(get_command(app))), ids=" ".join)
def test_a_command_shows_examples_of_itself(path: tuple[str, ...]) -> None:
    if path and not help_of(*path).count("COMMAND [ARGS]"):
        examples = help_of(*path).partition("\nExamples:\n")[2].splitlines()
        assert examples
        for line in examples:
            words = shlex.split(line)
            assert words[0] == "tapeway"
            assert " ".join(path) in " ".join(words)


def test_a_plugin_s_command_stands_after_the_builtin_ones() -> None:
    other = CommandApp(name="tapeway")
    other.command("gateway")(lambda: None)
    other.command("weather", help="Show the weather. And more.")(lambda: None)
    shown = help_of(of=other)
    assert shown.index("Start it:") < shown.index("From plugins:")
    assert "  weather  Show the weather.\n" in shown


def test_the_kinds_on_the_command_line_are_those_of_the_tape() -> None:
    assert set(Kind) == KINDS


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("le",), ["ledger"]),
        (("ledger", "list", "--st"), ["--status"]),
        (("ledger", "list", "--status", "de"), ["dead"]),
        (("tape", "show", "telegram", ":", "-5", "--kind", "to"), ["tool_call", "tool_result"]),
        (("completion", ""), ["bash", "zsh", "fish"]),
    ],
    ids=lambda value: " ".join(value),
)
def test_a_shell_completes_commands_options_and_values(
    monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], found: list[str]
) -> None:
    monkeypatch.setenv(VARIABLE, "complete_bash")
    prepare_completion()
    environ = {"COMP_WORDS": "tapeway " + " ".join(words), "COMP_CWORD": str(len(words))}
    shown = CliRunner().invoke(app, [], env=environ, prog_name="tapeway")
    assert shown.output.split() == found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_a_shell_asks_tapeway(shell: str) -> None:
    script = CliRunner().invoke(app, ["completion", shell])
    assert script.exit_code == 0
    assert f"{VARIABLE}=complete_{shell}" in script.output
    assert ("funcstack" in script.output) == (shell == "zsh")


def test_a_wrong_value_is_refused_with_the_right_ones() -> None:
    refused = CliRunner().invoke(app, ["usage", "--by", "weekday"])
    assert refused.exit_code == 2
    assert "'weekday' is not one of 'day', 'chat', 'person', 'model', 'turn'" in " ".join(
        refused.output.split()
    )
    narrow = CliRunner(env={"COLUMNS": "60"}).invoke(app, ["ledger", "list", "--status", "x"])
    assert max(map(len, narrow.output.splitlines())) <= 60
    assert "Value error" not in CliRunner().invoke(app, ["ledger", "list", "--status", "x"]).output
