"""`tapeway config show`: print every setting's effective value, and where it comes from."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from typing import Any

from agent.models.network import Variable, network_variables
from gateway.cli.screen import print_note, safe
from gateway.cli.table import print_json
from gateway.errors import SettingsError
from gateway.printing import print_out, redact_with
from gateway.redaction.known_secrets import secrets_as_written, secrets_of
from gateway.redaction.redactor import Redactor
from gateway.settings import EffectiveSetting, effective_settings, load_with_sources
from gateway.settings.files import with_remembered
from gateway.settings.shown import shown


def show_config(as_json: bool, changed: bool) -> int:
    """Print the settings, only those that are set if asked for; return 2 if they are wrong."""
    try:
        loaded = load_with_sources(with_remembered(os.environ))
    except SettingsError as cause:
        redact_with(Redactor(secrets_as_written(os.environ)))
        print_note(f"tapeway: {cause}")
        return cause.exit_code
    # A password in the address of a proxy is a secret, too.
    redact_with(Redactor(secrets_of(loaded.settings)))
    network = network_variables(os.environ)
    found = [one for one in effective_settings(loaded) if _is_set(one) or not changed]
    if as_json:
        print_json([*map(_as_json, found), *map(_of_network, network)], 2)
        return 0
    for line in (*_table(found), *_network(network)):
        print_out(safe(line))
    return 0


def _is_set(one: EffectiveSetting) -> bool:
    return one.origin != "default"


def _as_json(one: EffectiveSetting) -> dict[str, Any]:
    return {
        "name": one.name,
        "section": one.section,
        "value": shown(one.value),
        "origin": one.origin,
        "path": str(one.path) if one.path else None,
        "former": one.former,
    }


def _of_network(one: Variable) -> dict[str, Any]:
    origin = {"origin": "environment", "path": None, "former": None}
    return {"name": one.name, "section": "network", "value": one.shown(), **origin}


def _network(variables: Iterable[Variable]) -> Iterator[str]:
    """Yield the variables of other programs that say how model servers are reached."""
    lines = [f"* {one.name}={one.shown()}" for one in variables]
    if lines:
        yield from ("", "[network, of the environment]", *lines)


def _table(found: Iterable[EffectiveSetting]) -> Iterable[str]:
    """Yield a line for each setting under its section, and its origin below if it is set."""
    section: str | None = None
    for one in found:
        if one.section != section:
            section = one.section
            yield f"[{section or 'general'}]"
        value = shown(one.value)
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield f"{'*' if _is_set(one) else ' '} {one.name}={'' if value is None else text}"
        if _is_set(one):
            former = f", as {one.former}" if one.former else ""
            yield f"      from {one.path or 'the environment'}{former}"
    yield ""
    yield "* is set; all others have their defaults."
