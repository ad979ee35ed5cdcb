"""Render docker-compose.yml as Compose does: profiles, variables, and what optional things drop."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML

ROOT: Final = Path(__file__).resolve().parent.parent
FORM: Final = re.compile(r"\$\{(\w+)(?::([-+])([^{}]*))?\}")
DOLLAR: Final = "\0"

Json = dict[str, Any]


def interpolate(text: str, variables: dict[str, str]) -> str:
    """Replace `${A:-default}` and `${A:+other}`, the innermost first, and `$$` by a dollar."""

    def value(match: re.Match[str]) -> str:
        given = variables.get(match[1], "")
        if match[2] == "+":
            return match[3] if given else ""
        return given or match[3] or ""

    text = text.replace("$$", DOLLAR)
    while FORM.search(text):
        text = FORM.sub(value, text)
    assert "$" not in text, (
        f"a form that this does not know, or a dollar that is not doubled: {text}"
    )
    return text.replace(DOLLAR, "$")


def render(*flags: str, **variables: str) -> Json:
    """Return the configuration of `docker compose --profile FLAG ... up`; a flag beats a variable.

    Raises KeyError if a service needs one that is not part of it.
    """
    active = set(flags or filter(None, variables.get("COMPOSE_PROFILES", "").split(",")))
    loaded = YAML(typ="safe").load(ROOT / "docker-compose.yml")
    found: Json = _interpolated(loaded, variables)
    services: Json = {
        name: service
        for name, service in found["services"].items()
        if not service.get("profiles") or active & set(service["profiles"])
    }
    for service in services.values():
        needs = service.get("depends_on", {})
        rules = needs if isinstance(needs, dict) else {name: {} for name in needs}
        missing = {name for name in rules if name not in services}
        if required := {name for name in missing if rules[name].get("required", True)}:
            raise KeyError(*required)
        service["depends_on"] = {name: rule for name, rule in rules.items() if name not in missing}
    return {**found, "services": services}


def _interpolated(value: Any, variables: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {name: _interpolated(item, variables) for name, item in value.items()}
    if isinstance(value, list):
        return [_interpolated(item, variables) for item in value]
    return interpolate(value, variables) if isinstance(value, str) else value
