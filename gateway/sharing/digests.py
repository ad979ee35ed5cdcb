"""What the processes of a database should have alike, and in which of it they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from hashlib import sha256
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Any, Final

from agent.system_prompt import read_agents_file
from gateway.hooks.loader import GROUP
from gateway.hooks.runtime import BUILTIN, HookRuntime
from gateway.redaction import Redactor
from gateway.settings import Settings
from gateway.settings.load import paths
from gateway.settings.sources import variable
from tape.entry import dump
from tape.search.tokenizer import VERSION

OF_ONE_MACHINE: Final = frozenset(
    {"home", "workspace", "http", "log", "cli", "tape.url", "tape.disk_reserve"}
    | {"sharing.listen_url"}
)
"""Settings and sections that each process may have for itself; also, every path."""

PLUGIN: Final = "plugin "
SETTING: Final = "setting "
SENTENCES: Final = {
    "version": "runs version {own} of Tapeway instead of {others}",
    "prompt": "has another AGENTS.md",
    "terms": "has other rules for the words of searches: {own} instead of {others}",
}


def digests_of(settings: Settings, hooks: HookRuntime, redactor: Redactor) -> dict[str, str]:
    """Return what others compare: versions as they are, texts and settings as digests."""
    found = {
        "version": version("tapeway"),
        "prompt": _digest(read_agents_file(settings.workspace_path)),
        "terms": VERSION,
    }
    versions = {one.name: one.dist.version for one in entry_points(group=GROUP) if one.dist}
    for name in hooks.names():
        if name != BUILTIN:
            found[f"{PLUGIN}{name}"] = versions.get(name, "")
    for path, value in _shared_settings(settings):
        found[f"{SETTING}{variable(path)}"] = _digest(dump(redactor.value(value, lines=True)))
    return found


def differences(processes: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return a sentence for everything in which a process differs from most of the others.

    The processes are named, the oldest first: of two, the younger one is the other.
    """
    known = {name: found for name, found in processes.items() if found}
    keys = dict.fromkeys(key for found in known.values() for key in found)
    sentences = []
    for key in keys:
        usual = Counter(found.get(key) for found in known.values()).most_common(1)[0][0]
        for name, found in known.items():
            if found.get(key) != usual:
                sentences.append(f"{name} {_says(key, found.get(key), usual)}")
    return sentences


def _says(key: str, own: str | None, usual: str | None) -> str:
    if key in SENTENCES:
        return SENTENCES[key].format(own=own or "an unknown one", others=usual or "an unknown one")
    kind, _, name = key.partition(" ")
    if f"{kind} " != PLUGIN or own is None or usual is None:
        what = f"the {kind} {name}" if f"{kind} " == PLUGIN else name
        if own is None:
            return f"lacks {what}"
        return f"has {what}, which others lack" if usual is None else f"has another {what}"
    return f"has version {own or '?'} of the plugin {name} instead of {usual or '?'}"


def _shared_settings(settings: Settings) -> Iterator[tuple[str, Any]]:
    values = settings.model_dump(mode="json")  # with every secret as stars
    for path, section, _field in paths():
        name = path.rpartition(".")[2]
        own = getattr(getattr(settings, section) if section else settings, name)
        if not {path, section} & OF_ONE_MACHINE and not isinstance(own, Path):
            yield path, values[section][name] if section else values[name]


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
