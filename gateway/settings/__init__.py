"""The settings: `sections` declares them, `load` reads them, and `env_example` documents them."""

from gateway.settings.load import Settings, describe, fields, load_settings, unknown_names
from gateway.settings.sections import AccessSettings, LogSettings

__all__ = [
    "AccessSettings",
    "LogSettings",
    "Settings",
    "describe",
    "fields",
    "load_settings",
    "unknown_names",
]
