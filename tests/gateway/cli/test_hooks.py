"""`tapeway hooks --check`, and the commands of plugins."""

from __future__ import annotations

from importlib import metadata
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from gateway.cli import plugin_commands
from gateway.cli.help import OWN
from gateway.cli.hooks import check_hooks
from gateway.cli.plugin_commands import add_plugin_commands
from gateway.hooks.specs import hookimpl
from gateway.settings import Settings
from tape.context import TapeContext, to_messages

runner = CliRunner()


class Wrong:
    """A plugin with a problem in each hook that is checked."""

    @hookimpl
    def provide_tools(self) -> Any:
        return to_messages

    @hookimpl
    def provide_channels(self) -> Any:
        raise RuntimeError("no such platform")

    @hookimpl
    def provide_tape_store(self) -> Any:
        return "sqlite:///x.db"

    @hookimpl
    def build_tape_context(self) -> Any:
        return TapeContext(None, lambda _entries: [1])  # type: ignore[list-item]

    @hookimpl
    def system_prompt(self) -> Any:
        raise ValueError("no prompt")


class Empty:
    """A plugin without a hook."""


def points_of(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    points = [EntryPoint(name.lower(), f"{__name__}:{name}", "tapeway") for name in names]
    monkeypatch.setattr(metadata, "entry_points", lambda **_group: points)


def settings(home: Path) -> Settings:
    return Settings.model_construct(home=home)


def test_the_check_names_each_plugin_with_a_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    points_of(monkeypatch, "Wrong", "Empty", "Missing")
    assert check_hooks(settings(tmp_path)) == 1
    printed = capsys.readouterr().out
    for hook in ("provide_tools", "provide_channels", "provide_tape_store", "system_prompt"):
        assert f"The plugin wrong: {hook} " in printed
    assert "The plugin wrong: build_tape_context has a `select` that returned a list" in printed
    assert "The plugin empty: the plugin implements no hook." in printed
    assert "The plugin missing did not load" in printed


def test_the_check_of_good_plugins_succeeds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        metadata,
        "entry_points",
        lambda **_group: [EntryPoint("good", "tests.gateway.sample_plugin:Sample", "tapeway")],
    )
    assert check_hooks(settings(tmp_path)) == 0
    assert capsys.readouterr().out == "Checked good: no problems.\n"


def commands_of(monkeypatch: pytest.MonkeyPatch, *arguments: str, **values: str) -> Any:
    points = [EntryPoint(name, value, plugin_commands.GROUP) for name, value in values.items()]
    monkeypatch.setattr(metadata, "entry_points", lambda **_group: points)
    app = typer.Typer(rich_markup_mode=None)
    app.command("gateway")(lambda: None)
    app.command("chat")(lambda: None)
    add_plugin_commands(app, arguments)
    return runner.invoke(app, arguments)


def greet(name: str, loud: bool = False) -> None:
    """Greet somebody."""
    print(f"Hello {name}{'!' if loud else ''}")


def test_a_declared_command_is_listed_without_being_imported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = commands_of(monkeypatch, "--help", missing="no_such_module:command")
    assert "missing" in found.output
    assert found.exit_code == 0


def test_a_declared_command_gets_its_own_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    found = commands_of(monkeypatch, "greet", "Al", "--loud", greet=f"{__name__}:greet")
    assert found.output == "Hello Al!\n"
    assert (
        "Greet somebody."
        in commands_of(monkeypatch, "greet", "--help", greet=f"{__name__}:greet").output
    )


def test_a_command_that_does_not_load_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    found = commands_of(monkeypatch, "old", old="gateway.hookspecs:command")
    assert found.exit_code == 1
    assert "gateway.hookspecs is now gateway.plugin" in found.output


def test_a_builtin_command_cannot_be_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    found = commands_of(monkeypatch, "gateway", gateway=f"{__name__}:greet")
    assert "gateway" in OWN
    assert (found.output, found.exit_code) == ("", 0)
