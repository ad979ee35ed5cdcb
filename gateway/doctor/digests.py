"""What the processes of a database should have alike, and in which of it they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from hashlib import scrypt, sha256
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Final

from pydantic import BaseModel, SecretStr

from agent.system_prompt import read_agents_file
from gateway.hooks.loader import GROUP
from gateway.hooks.runtime import BUILTIN, HookRuntime
from gateway.redaction.redactor import Redactor
from gateway.settings import Settings
from gateway.settings.load import paths
from gateway.settings.sources import variable
from tape.database.schema import own_version
from tape.entry import dump
from tape.search.tokenizer import VERSION

OF_ONE_MACHINE: Final = frozenset(
    {"home", "workspace", "http", "log", "cli", "tape.url", "tape.disk_reserve"}
    | {"sharing.role", "sharing.listen_url"}
)
"""Settings and sections that each process may have for itself; also, every path."""

ALIKE: Final = frozenset({"http.public_url"})
"""Settings in those sections that lead people from one process to another."""

ROUNDS: Final = 1 << 12
"""How much work it is to try a guess at a secret; a process does it for each of its few secrets."""

PLUGIN: Final = "plugin "
SETTING: Final = "setting "
SENTENCES: Final = {
    "version": "runs version {own} of Tapeway instead of {others}",
    "prompt": "has another AGENTS.md",
    "terms": "has other rules for the words of searches: {own} instead of {others}",
}
PLUGIN_SAYS: Final = (
    "lacks the plugin {name}",
    "has the plugin {name}, which others lack",
    "has version {own} of the plugin {name} instead of {others}",
)
SETTING_SAYS: Final = (
    "leaves {name} at its default, unlike others",
    "sets {name}, which others leave at its default",
    "has another {name}",
)
"""What is said of one who lacks something, who alone has it, and who has another one."""


def digests_of(
    settings: Settings, hooks: HookRuntime, redactor: Redactor, *, salt: str = "", token: str = ""
) -> Callable[[], dict[str, str]]:
    """Return what gives what others compare: versions as they are, texts and settings as digests.

    Those of secrets are made with the `salt` of the database; the page's access `token` is one,
    wherever it comes from. Only AGENTS.md is read each time, as turns do.
    """
    found = {"version": own_version(), "terms": VERSION}
    if names := [name for name in hooks.names() if name != BUILTIN]:
        versions = {one.name: one.dist.version for one in entry_points(group=GROUP) if one.dist}
        found |= {f"{PLUGIN}{name}": versions.get(name, "") for name in names}
    for path, shown, value in _shared_settings(settings):
        is_secret = dump(shown) != dump(value)
        digest = (
            _salted(dump(value), salt)
            if is_secret
            else _digest(dump(redactor.value(shown, lines=True)))
        )
        found[f"{SETTING}{variable(path)}"] = digest
    if token:
        found[f"{SETTING}{variable('http.token')}"] = _salted(token, salt)
    place = settings.workspace_path
    return lambda: {"prompt": _digest(read_agents_file(place)), **found}


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
    name = key.partition(" ")[2]
    missing, added, other = PLUGIN_SAYS if key.startswith(PLUGIN) else SETTING_SAYS
    says = missing if own is None else added if usual is None else other
    return says.format(name=name, own=own or "?", others=usual or "?")


def _shared_settings(settings: Settings) -> Iterator[tuple[str, Any, Any]]:
    """Yield each setting that has not its default, and is not of one machine.

    Its value comes with secrets as stars, and as it is.
    """
    shown = settings.model_dump(mode="json")
    for path, section, field in paths():
        name = path.rpartition(".")[2]
        own = getattr(getattr(settings, section) if section else settings, name)
        usual = own == field.get_default(call_default_factory=True)
        is_own = path not in ALIKE and bool({path, section} & OF_ONE_MACHINE)
        if not usual and not is_own and not isinstance(own, Path):
            starred = shown[section][name] if section else shown[name]
            yield path, starred, _revealed(own, starred)


def _revealed(value: Any, shown: Any) -> Any:
    """Return a value as it is `shown`, apart from its secrets."""
    if isinstance(value, SecretStr):
        return value.get_secret_value()
    if isinstance(value, BaseModel):
        value = dict(value)
    if isinstance(value, Mapping) and isinstance(shown, Mapping):
        # In the order of `shown`: that of a set is another one in each process.
        return {key: _revealed(value[key], one) for key, one in shown.items() if key in value}
    return shown


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:12]


def _salted(secret: str, salt: str) -> str:
    return scrypt(
        secret.encode("utf-8", "replace"), salt=salt.encode(), n=ROUNDS, r=8, p=1, dklen=6
    ).hex()
