"""The settings: `sections` declares them, `load` reads them, and `env_example` documents them."""

from gateway.settings.load import (
    LoadedSettings,
    Settings,
    describe,
    fields,
    load_settings,
    load_with_sources,
)
from gateway.settings.origins import EffectiveSetting, effective_settings
from gateway.settings.sections import AccessSettings, LogSettings

__all__ = [
    "AccessSettings",
    "EffectiveSetting",
    "LoadedSettings",
    "LogSettings",
    "Settings",
    "describe",
    "effective_settings",
    "fields",
    "load_settings",
    "load_with_sources",
]
