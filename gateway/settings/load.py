"""Load the settings, frozen. If several sources contain a setting, the first source wins.

In order: the environment, `.env`, a secrets folder (one file per variable), `tapeway.toml`; behind
files that are named, the home folder's `.env` and `tapeway.toml`. The module
`gateway.settings.files` says where the files are.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field, PrivateAttr, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict
from pydantic_settings.exceptions import SettingsError as SourceError

from agent.model_settings import ModelSettings
from agent.models.prices import Prices
from agent.settings import AgentSettings
from channels.cli.settings import CliSettings
from channels.discord.settings import DiscordSettings
from channels.slack.settings import SlackSettings
from channels.telegram.settings import TelegramSettings
from channels.web.settings import WebSettings
from gateway.errors import SettingsError
from gateway.settings import sections
from gateway.settings.files import DEFAULT_HOME, settings_files
from gateway.settings.local import LocalModelSettings
from gateway.settings.section import setting
from gateway.settings.sources import (
    PREFIX,
    Kind,
    SettingsSource,
    not_a_setting,
    read_sources,
    variable,
)
from tape.stores.urls import canonical


class Origins(dict[str, tuple[Kind, Path | None]]):
    """The sources of settings, which are equal wherever they come from."""

    __hash__ = None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Origins)


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix=PREFIX, env_nested_delimiter="__", frozen=True, extra="ignore"
    )

    home: Path = setting(
        Path(DEFAULT_HOME),
        "The home folder, which holds the gateway's files, including its database.",
        example="/srv/tapeway",
    )
    workspace: Path | None = setting(
        None,
        "The folder the agent works in, with its AGENTS.md. Each workspace has tapes of its own."
        " Default: `workspace` in the home folder.",
        example="/srv/tapeway/workspace",
    )
    models: dict[str, ModelSettings] = Field(
        {},
        description="Settings of single models, for the one in use and for fallback models. Write"
        " them as sections [models.NAME] of tapeway.toml, or here as JSON.",
        examples=[
            '{"qwen3:8b": {"base_url": "http://127.0.0.1:11434/v1", "context_window": 8192}}'
        ],
    )
    http: sections.HttpSettings = Field(default_factory=sections.HttpSettings)
    tape: sections.TapeSettings = Field(default_factory=sections.TapeSettings)
    sharing: sections.SharingSettings = Field(default_factory=sections.SharingSettings)
    access: sections.AccessSettings = Field(default_factory=sections.AccessSettings)
    buffer: sections.BufferSettings = Field(default_factory=sections.BufferSettings)
    turn: sections.TurnSettings = Field(default_factory=sections.TurnSettings)
    budget: sections.BudgetSettings = Field(default_factory=sections.BudgetSettings)
    context: sections.ContextSettings = Field(default_factory=sections.ContextSettings)
    search: sections.SearchSettings = Field(default_factory=sections.SearchSettings)
    media: sections.MediaSettings = Field(default_factory=sections.MediaSettings)
    delivery: sections.DeliverySettings = Field(default_factory=sections.DeliverySettings)
    agent: AgentSettings = Field(default_factory=AgentSettings)
    local: LocalModelSettings = Field(default_factory=LocalModelSettings)
    slack: SlackSettings = Field(default_factory=SlackSettings)
    telegram: TelegramSettings = Field(default_factory=TelegramSettings)
    discord: DiscordSettings = Field(default_factory=DiscordSettings)
    web: WebSettings = Field(default_factory=WebSettings)
    cli: CliSettings = Field(default_factory=CliSettings)
    log: sections.LogSettings = Field(default_factory=sections.LogSettings)
    _models_in_use: dict[str, ModelSettings] = PrivateAttr(default_factory=dict)
    _origins: Origins = PrivateAttr(default_factory=Origins)

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],  # noqa: ARG003
        init_settings: PydanticBaseSettingsSource,
        *_others: PydanticBaseSettingsSource,
        **_by_name: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        # `load_with_sources` reads the sources, so that each setting's origin is known.
        return (init_settings,)

    @property
    def home_path(self) -> Path:
        return self.home.expanduser().absolute()

    @property
    def workspace_path(self) -> Path:
        chosen = self.workspace.expanduser() if self.workspace else self.home_path / "workspace"
        return chosen.absolute()

    def model(self, name: str = "") -> ModelSettings:
        """Return the settings of a model in use: the first one, unless another is named."""
        name = name or self.agent.model
        if name not in self._models_in_use:
            self._models_in_use[name] = self.agent.model_settings(name, self.models)
        return self._models_in_use[name]

    def prices(self, name: str) -> Prices | None:
        """Return what a million tokens of a model cost, or None if that is not known."""
        return self.model(name).prices(name, self.agent.currency)

    def unpriced(self) -> list[str]:
        """Return the models in use whose prices are not known."""
        return [name for name in self.agent.models() if self.prices(name) is None]

    def set_by(self, sources: Sequence[SettingsSource]) -> Settings:
        """Remember the places of these sources, the one that wins first; return these settings."""
        for path, _section, _field in paths():
            source = next((one for one in sources if one.names(path)), None)
            if source is not None:
                self._origins[path] = (source.kind, source.path)
        return self

    def with_section(self, name: str, other: Settings) -> Settings:
        """Return these settings with one section of others, and the places that set it."""
        changed = self.model_copy(update={name: getattr(other, name)})
        own = {path: at for path, at in self._origins.items() if path.partition(".")[0] != name}
        its = {path: at for path, at in other._origins.items() if path.partition(".")[0] == name}
        changed._models_in_use, changed._origins = {}, Origins({**own, **its})
        return changed

    def origin(self, path: str) -> tuple[Kind | Literal["default"], Path | None]:
        """Return the kind of source that set a setting, as in http.port, and its file or folder."""
        return self._origins.get(path, ("default", None))

    @property
    def tape_url(self) -> str:
        return canonical(self.tape.url) or f"sqlite://{self.home_path / 'tapeway.db'}"


@dataclass(frozen=True, slots=True)
class LoadedSettings:
    """The settings, and the sources that they come from, the one that wins first."""

    settings: Settings
    sources: tuple[SettingsSource, ...]

    def notices(self) -> list[str]:
        """Return a sentence for each setting that stands in a source under its former name."""
        return [sentence for source in self.sources for sentence in source.notices()]


def load_settings(environ: Mapping[str, str] | None = None, folder: Path | None = None) -> Settings:
    """Load the settings; `folder` has their files, unless `environ` names them.

    `environ` defaults to the process's own, and `folder` to the home folder.

    Raises SettingsError, which lists every wrong setting with the problem and an example.
    """
    return load_with_sources(environ, folder).settings


def load_with_sources(
    environ: Mapping[str, str] | None = None, folder: Path | None = None
) -> LoadedSettings:
    """Load the settings as `load_settings` does, with the sources that they come from."""
    variables = dict(os.environ if environ is None else environ)
    files = settings_files(variables, folder)
    try:
        sources = read_sources(Settings, variables, files)
    except (SourceError, ValueError, OSError) as cause:
        raise SettingsError(f"cannot read the settings: {cause}") from cause
    return LoadedSettings(settings_of(sources), tuple(sources))


def settings_of(sources: Sequence[SettingsSource]) -> Settings:
    """Return the settings that sources make, the one that wins first; raises SettingsError."""
    known = [path for path, _section, _field in paths()]
    lines = [sentence for source in sources for sentence in source.misspelt(known)]
    merged: dict[str, Any] = {}
    for source in reversed(sources):
        _merge(merged, source.values)
    try:
        settings = Settings(**merged).set_by(sources)
    except ValidationError as cause:
        lines += [_explain(error, sources) for error in cause.errors(include_url=False)]
        raise SettingsError("\n".join(lines)) from None
    except (ValueError, OSError) as cause:
        raise SettingsError(f"cannot read the settings: {cause}") from cause
    if lines:
        raise SettingsError("\n".join(lines))
    return settings


def _merge(into: dict[str, Any], values: dict[str, Any]) -> None:
    for name, value in values.items():
        if isinstance(value, dict) and isinstance(into.get(name), dict):
            _merge(into[name], value)
        else:
            into[name] = deepcopy(value)


def paths() -> Iterator[tuple[str, str, FieldInfo]]:
    """Yield each setting's path, as in http.port, its section and field."""
    for name, field in Settings.model_fields.items():
        annotation = field.annotation
        if isinstance(annotation, type) and issubclass(annotation, BaseModel):
            for inner, inner_field in annotation.model_fields.items():
                yield f"{name}.{inner}", name, inner_field
        else:
            yield name, "", field


def fields() -> Iterator[tuple[str, str, FieldInfo]]:
    """Yield each setting's variable name, section and field."""
    return ((variable(path), section, field) for path, section, field in paths())


def _explain(error: ErrorDetails, sources: Sequence[SettingsSource]) -> str:
    if error["loc"][0] == "models" and len(error["loc"]) > 2:
        return _explain_model(error)
    path = ".".join(str(part) for part in error["loc"][:2])
    known = {known: field for known, _section, field in paths()}
    field = known.get(path) or known.get(path.partition(".")[0])
    if field is None:
        return not_a_setting(variable(path), [variable(name) for name in known])
    path = path if path in known else path.partition(".")[0]
    source = next((source for source in sources if source.names(path)), None)
    place = f" (in {source.path})" if source and source.path else ""
    example = f"; for example {variable(path)}={field.examples[0]}" if field.examples else ""
    return f"{variable(path)}: {_problem(error, field)}{example}{place}"


def _explain_model(error: ErrorDetails) -> str:
    _models, model, name = (str(part) for part in error["loc"][:3])
    known = ModelSettings.model_fields
    where = f"{name} in [models.{model}]"
    if name in known:
        example = (known[name].examples or [""])[0]
        return f"{where}: {_problem(error, known[name])}; for example {example}"
    return not_a_setting(where, known, name)


def _problem(error: ErrorDetails, field: FieldInfo) -> str:
    secret = "SecretStr" in str(field.annotation)
    value = "" if secret else f" (it is {str(error['input'])[:80]!r})"
    message = error["msg"].removeprefix("Value error, ")
    return f"{message[:1].lower()}{message[1:]}{value}"


def describe(settings: Settings) -> dict[str, Any]:
    # These are logged on startup; none of them is secret.
    return {
        "home": str(settings.home_path),
        "model": settings.agent.model,
        "access": settings.access.mode,
        "context": settings.context.mode,
    }
