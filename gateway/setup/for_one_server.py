"""What the settings keep for the server of the model, and would send to another one in its place.

Whatever names no server of its own follows the model's: a model's section, and search by meaning.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from gateway.settings import LoadedSettings, Settings
from gateway.settings.sources import variable

SENT: Final = ("api_key", "headers", "body")
"""What a model's section adds to the requests to a server."""


FOR_ANOTHER_SERVER: Final = (
    "{0} is meant for the present server, and would be sent to the new one: take it out of {1}"
    " first"
)


def server_of(settings: Settings) -> str:
    """Return the address that gets the key, with the section of the model if there is one."""
    return settings.model().base_url


def kept_for_the_server(loaded: LoadedSettings) -> Iterator[str]:
    """Yield a sentence for what would follow the model to another server, but for its own key."""
    for name, place in _that_follows(loaded):
        yield FOR_ANOTHER_SERVER.format(name, place)


def _that_follows(loaded: LoadedSettings) -> Iterator[tuple[str, str]]:
    settings = loaded.settings
    for name in ("headers", "body"):
        if getattr(settings.agent, name):
            yield variable(f"agent.{name}"), _place(loaded, "agent", name)
    for model, section in settings.models.items():
        if "base_url" in section.model_fields_set:
            continue
        for name in SENT:
            if getattr(section, name):
                yield f"{name} in [models.{model}]", _place(loaded, "models", model, name)
    search = settings.search
    if search.embedder == "openai" and search.api_key and not search.base_url:
        yield variable("search.api_key"), _place(loaded, "search", "api_key")


def _place(loaded: LoadedSettings, *keys: str) -> str:
    """Return where a value stands that wins."""
    return next(one.place for one in loaded.sources if _has(one.values, keys))


def _has(values: Mapping[str, Any], keys: tuple[str, ...]) -> bool:
    found: Any = values
    for key in keys:
        if not isinstance(found, Mapping) or key not in found:
            return False
        found = found[key]
    return True
