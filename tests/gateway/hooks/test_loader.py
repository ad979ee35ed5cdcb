"""Plugins are loaded from entry points; one that fails stops no other."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

from gateway.hooks.loader import MOVED, load_plugins
from gateway.hooks.runtime import HookRuntime
from gateway.hooks.specs import hookimpl


def test_a_plugin_that_fails_to_load_is_reported_and_stops_nothing() -> None:
    hooks = HookRuntime()
    points = [
        EntryPoint("b-missing", "no_such_module_here:Plugin", "tapeway"),
        EntryPoint("a-good", "tests.gateway.sample_plugin:Sample", "tapeway"),
        EntryPoint("c-object", "tests.gateway.sample_plugin:OBJECT", "tapeway"),
    ]
    failures = load_plugins(hooks, points)
    assert hooks.names() == ["c-object", "a-good"]
    assert [failure.name for failure in failures] == ["b-missing"]
    assert "no_such_module_here" in failures[0].error


@pytest.mark.parametrize(
    ("line", "new"),
    [
        ("from gateway.hookspecs import hookimpl", "gateway.plugin"),
        ("import gateway.accessors", "gateway.plugin"),
        ("from tape.memory import MemoryStore", "tape.stores.memory"),
        ("from tape import memory", "tape.stores.memory"),
        ("from channels.message import Sender", "channels.message.Author"),
    ],
)
def test_the_error_of_an_old_import_says_the_new_one(
    line: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "an_old_plugin.py").write_text(f"{line}\n")
    monkeypatch.syspath_prepend(tmp_path)
    (failure,) = load_plugins(HookRuntime(), [EntryPoint("old", "an_old_plugin", "tapeway")])
    assert f"is now {new}: import it from there" in failure.error


@pytest.mark.parametrize("new", sorted(set(MOVED.values())))
def test_each_new_import_exists(new: str) -> None:
    module, _, name = new.rpartition(".") if new[new.rindex(".") + 1].isupper() else (new, "", "")
    loaded = import_module(module)
    assert not name or hasattr(loaded, name)


def test_a_plugin_that_ends_the_process_is_reported_and_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "an_exiting_plugin.py").write_text("raise SystemExit(3)\n")
    monkeypatch.syspath_prepend(tmp_path)
    (failure,) = load_plugins(HookRuntime(), [EntryPoint("exits", "an_exiting_plugin", "tapeway")])
    assert "SystemExit" in failure.error


def test_nothing_of_a_plugin_stays_that_names_an_argument_its_hook_does_not_have() -> None:
    class Half:
        @hookimpl
        def provide_tools(self) -> list[Any]:
            return []

        @hookimpl
        def system_prompt(self, promt: Any) -> str:
            return "never"

    hooks = HookRuntime()
    with pytest.raises(Exception, match="promt"):
        hooks.register(Half(), "half")
    assert hooks.names() == []
    assert hooks.implementations("provide_tools") == ()


def test_a_second_plugin_of_a_name_does_not_remove_the_first() -> None:
    hooks = HookRuntime()
    points = [
        EntryPoint("same", "tests.gateway.sample_plugin:Sample", "tapeway"),
        EntryPoint("same", "tests.gateway.sample_plugin:OBJECT", "tapeway"),
    ]
    (failure,) = load_plugins(hooks, points)
    assert "rename one" in failure.error
    assert hooks.names() == ["same"]
