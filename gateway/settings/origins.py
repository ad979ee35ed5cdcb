"""Each setting's effective value, and where it comes from."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from gateway.settings.load import LoadedSettings, paths
from gateway.settings.sources import Kind, variable


@dataclass(frozen=True, slots=True)
class EffectiveSetting:
    """A setting as the gateway uses it.

    name      its variable, as in TAPEWAY_HTTP__PORT; in tapeway.toml it is `port` in [http]
    section   its section, as in "http"; empty for the general ones
    value     its value; secrets are SecretStr, or dicts of SecretStr
    origin    the kind of source that sets it
    path      the file or folder of that source; None for the environment and defaults
    former    the former name under which it stands there, as it is written there, or ""
    """

    name: str
    section: str
    value: Any
    origin: Kind | Literal["default"]
    path: Path | None
    former: str


def effective_settings(loaded: LoadedSettings) -> Iterator[EffectiveSetting]:
    """Yield every setting in the order of the sections."""
    for path, section, _field in paths():
        table = getattr(loaded.settings, section) if section else loaded.settings
        value = getattr(table, path.rpartition(".")[2])
        source = next((one for one in loaded.sources if one.names(path)), None)
        if source is None:
            yield EffectiveSetting(variable(path), section, value, "default", None, "")
            continue
        written = source.renamed.get(path)
        former = source.shown(written) if written else ""
        yield EffectiveSetting(variable(path), section, value, source.kind, source.path, former)
