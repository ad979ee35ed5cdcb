"""What the owner of a running gateway may set: a model, and the tokens of bots.

Values are validated as at the start and tried before they are written, into one file: the `.env` of
the home folder. Then the model or the channel begins again with them, and nothing else does. What
the environment, a secrets folder or a named file sets is not changed here.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Mapping
from dataclasses import replace
from hashlib import sha256
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, TypeVar

import anyio
from anyio.to_thread import run_sync

from agent.errors import AgentError
from agent.model_settings import checked_address
from agent.models.offline import OFFLINE
from gateway.errors import AdminError, SettingsError
from gateway.logs import get_log, hide_in_logs
from gateway.redaction.redactor import HIDDEN
from gateway.settings import LoadedSettings, Settings, load_with_sources
from gateway.settings.files import SettingsFiles, settings_files
from gateway.settings.sources import SettingsSource, read_text, variable
from gateway.setup.for_one_server import kept_for_the_server, server_of
from gateway.setup.model_choice import ModelChoice, whole
from gateway.setup.platforms import PLATFORMS, Platform
from gateway.setup.trials import Trial, TrialLine, try_model, try_platform
from gateway.supervision.renewal import Renewal
from tape.errors import TapeError

if TYPE_CHECKING:
    from gateway.setup.changes import Changes

MODEL: Final = "model"
MAX_CHARACTERS: Final = 2_000
MODEL_FIELDS: Final = {"base_url": "agent.base_url", "model": "agent.model", "key": "agent.api_key"}
"""The fields of a model, and their settings."""

NO_KEY_FIELD: Final = "keyless"
SECRETS: Final = frozenset({"key", "token", "bot_token", "app_token"})
ELSEWHERE: Final = (
    "Several processes share this database, and each has settings of its own: set"
    " TAPEWAY_AGENT__MODEL, TAPEWAY_AGENT__API_KEY and the tokens for all of them, and restart them"
)
OF_A_PLUGIN: Final = "A plugin brings this channel: its settings are the plugin's"
NOT_REMOVED: Final = "Only the tokens of a channel can be removed here"
NONE_SAVED: Final = "No token of this channel is saved"
CHANGED: Final = "The settings have changed meanwhile: look at them, and save once more"
NAME_A_MODEL: Final = "Name a model, such as gpt-5-mini"
NEW_ADDRESS: Final = (
    "Enter the key for this address, or say that the server needs none: a stored key is sent to no"
    " other address than its own"
)
FIXED: Final = "{0} is set in {1}, so it cannot be changed here: change it there"
FIXED_KEY: Final = "The key is set in {1} ({0}), and is sent to no other address: change both there"
OTHER_BOT: Final = (
    "This home has the messages of another {0} bot: its id is {1}, and this one's is {2}"
)
NEW_HOME: Final = (
    "Enter a token of the former bot. A new bot belongs into a home of its own: start a second"
    " gateway for it, with TAPEWAY_HOME=another-folder."
)

Found = TypeVar("Found")


class SettingsStale(AdminError):
    """Raised when somebody else has changed the settings since they were shown."""


class SettingsDesk:
    """Shows, tries and saves what may be set while the gateway runs.

    All methods raise AdminError with a sentence for the owner; then, nothing was written.
    """

    def __init__(self, environ: Mapping[str, str], renewal: Renewal) -> None:
        self.environ = dict(environ)
        self._renewal = renewal
        self._turn = anyio.Lock()
        self._key = secrets.token_bytes(32)

    async def shown(self) -> dict[str, Any]:
        """Return what may be set, without any secret: `why` says why nothing may, or is ""."""
        try:
            loaded, files, version = await run_sync(self._read)
        except AdminError as refused:
            return {"why": str(refused), "version": "", "parts": []}
        titles = {MODEL: "", **{one.name: one.title for one in PLATFORMS}}
        parts = [self._part(name, title, loaded, files) for name, title in titles.items()]
        return {"why": "", "version": version, "parts": parts}

    async def try_out(self, part: str, given: Mapping[str, str], by: str) -> Trial:
        """Try values that somebody has entered, and write nothing."""
        async with self._turn:
            loaded, files, _version = await run_sync(self._read)
            changes, wanted = await run_sync(lambda: self._changes(part, given, loaded, files))
            trial = await self._tried(part, wanted, changes)
        get_log().info("settings.tried", person=by, part=part, well=trial.well)
        return trial

    async def save(
        self, part: str, given: Mapping[str, str], by: str, version: str | None = None
    ) -> Trial:
        """Try values, and write them and put them into use if they can be used.

        `version` is that of the settings that were shown; raises SettingsStale if they are others.
        """
        async with self._turn:
            loaded, files, newest = await run_sync(self._read)
            if version is not None:
                _refuse_stale(version, newest)
            changes, wanted = await run_sync(lambda: self._changes(part, given, loaded, files))
            trial = await self._tried(part, wanted, changes)
            if not trial.well:
                get_log().info("settings.tried", person=by, part=part, well=False)
                return trial
            with anyio.CancelScope(shield=True):
                await run_sync(lambda: _write(changes))
                get_log().info("settings.saved", person=by, part=part, names=changes.names())
                await self._use(part, wanted, trial)
            return trial

    async def remove(self, part: str, by: str, version: str) -> None:
        """Take a channel's tokens out of the file, and stop the channel; `version` as in `save`."""
        async with self._turn:
            loaded, files, newest = await run_sync(self._read)
            _refuse_stale(version, newest)
            changes, wanted = await run_sync(lambda: self._removal(part, loaded, files))
            with anyio.CancelScope(shield=True):
                await run_sync(lambda: _write(changes))
                get_log().info("settings.removed", person=by, part=part, names=changes.names())
                self._renewal.use_channel(part, wanted)

    def _removal(
        self, part: str, loaded: LoadedSettings, files: SettingsFiles
    ) -> tuple[Changes, Settings]:
        """Return what is to be written so that a channel has no token, and the settings then."""
        if part == MODEL:
            raise AdminError(NOT_REMOVED)
        tokens, changes = _fields(part), _no_changes(files, loaded)
        if not self._renewal.is_replaceable(part):
            raise AdminError(OF_A_PLUGIN)
        for path in tokens.values():
            source = _source(path, loaded)
            if source is None:
                continue
            if _is_fixed(source, files):
                raise AdminError(FIXED.format(variable(path), source.place))
            changes.set_secret(path, "")
        if not changes.names():
            raise AdminError(NONE_SAVED)
        for sentence in changes.overruled():
            raise AdminError(sentence)
        return changes, _or_refused(changes.settings)

    def _read(self) -> tuple[LoadedSettings, SettingsFiles, str]:
        """Return the settings as the next start would have them, their files and a version."""
        if self._renewal.is_shared:
            raise AdminError(ELSEWHERE)
        files = _or_refused(lambda: settings_files(self.environ))
        texts = _or_refused(lambda: [read_text(path) for path in files.paths()])
        loaded = _or_refused(lambda: load_with_sources(self.environ))
        if loaded.settings.tape_url.startswith("postgres"):
            raise AdminError(ELSEWHERE)
        version = hmac.new(self._key, "\0".join(texts).encode(), sha256).hexdigest()
        return loaded, files, version

    def _part(
        self, name: str, title: str, loaded: LoadedSettings, files: SettingsFiles
    ) -> dict[str, Any]:
        fields = []
        for field, path in _fields(name).items():
            section, _, key = path.partition(".")
            value = getattr(getattr(loaded.settings, section), key)
            source = _source(path, loaded)
            fields.append(
                {
                    "name": field,
                    "variable": variable(path),
                    "secret": field in SECRETS,
                    "set": bool(value.get_secret_value() if field in SECRETS else value),
                    "value": "" if field in SECRETS else value,
                    "fixed": source.kind if source and _is_fixed(source, files) else "",
                    "place": source.place if source else "",
                }
            )
        why = "" if name == MODEL or self._renewal.is_replaceable(name) else OF_A_PLUGIN
        return {"name": name, "title": title, "why": why, "fields": fields}

    def _changes(
        self, part: str, given: Mapping[str, str], loaded: LoadedSettings, files: SettingsFiles
    ) -> tuple[Changes, Settings]:
        """Return what is to be written, and the settings that it makes."""
        known = {*_fields(part), NO_KEY_FIELD} if part == MODEL else {*_fields(part)}
        if not given.keys() <= known:
            raise AdminError(f"Only {', '.join(sorted(known))} can be set here")
        values = {name: value.strip() for name, value in given.items()}
        if any(len(one) > MAX_CHARACTERS or not one.isprintable() for one in values.values()):
            raise AdminError("A value is too long, or has characters that no setting has")
        if any(HIDDEN in one for one in values.values()):
            raise AdminError(f"Enter the whole value: {HIDDEN} stands for what is not shown")
        hide_in_logs(*(value for name, value in values.items() if name in SECRETS))
        changes = _no_changes(files, loaded)
        if part == MODEL:
            self._put_model(changes, values, loaded, files)
        else:
            self._put_tokens(part, changes, values, loaded, files)
        for sentence in changes.overruled():
            raise AdminError(sentence)
        return changes, _or_refused(changes.settings)

    def _put_model(
        self,
        changes: Changes,
        given: Mapping[str, str],
        loaded: LoadedSettings,
        files: SettingsFiles,
    ) -> None:
        agent, model, key = loaded.settings.agent, given.get("model", ""), given.get("key", "")
        address = _or_refused(lambda: checked_address(given.get("base_url", "")))
        if not model or model == OFFLINE:
            raise AdminError(NAME_A_MODEL)
        wanted = {"agent.model": model, "agent.base_url": address, "agent.api_key": key}
        known = {"agent.model": agent.model, "agent.base_url": agent.base_url, "agent.api_key": ""}
        for path, value in wanted.items():
            source = _source(path, loaded)
            if value != known[path] and source is not None and _is_fixed(source, files):
                raise AdminError(FIXED.format(variable(path), source.place))
        if model != agent.model:
            changes.set("agent.model", model)
        if address != agent.base_url:
            changes.set("agent.base_url", address or None)
        if key:
            changes.set_secret("agent.api_key", key)
        self._keep_from_others(changes, given, loaded, files)

    def _keep_from_others(
        self,
        changes: Changes,
        given: Mapping[str, str],
        loaded: LoadedSettings,
        files: SettingsFiles,
    ) -> None:
        """Raise AdminError if a server would get what was meant for another one."""
        wanted, known = _or_refused(changes.settings), loaded.settings
        server = server_of(wanted)
        if server != server_of(known):
            source = _source("agent.api_key", loaded)
            if source is not None and _is_fixed(source, files):
                raise AdminError(FIXED_KEY.format(variable("agent.api_key"), source.place))
            for sentence in kept_for_the_server(loaded):
                raise AdminError(sentence)
        elif not server or wanted.model().key() or not known.model().key():
            return  # it gets what it got before; otherwise, its key was that of a model's section
        if given.get("key"):
            return
        if not given.get(NO_KEY_FIELD):
            raise AdminError(NEW_ADDRESS)
        choice = whole(ModelChoice(wanted.agent.model, server), self.environ)
        changes.set_secret("agent.api_key", choice.key)

    def _put_tokens(
        self,
        part: str,
        changes: Changes,
        given: Mapping[str, str],
        loaded: LoadedSettings,
        files: SettingsFiles,
    ) -> None:
        if not self._renewal.is_replaceable(part):
            raise AdminError(OF_A_PLUGIN)
        entered = {name: value for name, value in given.items() if value}
        if not entered:
            raise AdminError("Enter the token that is to be set")
        for name, value in entered.items():
            path = _fields(part)[name]
            source = _source(path, loaded)
            if source is not None and _is_fixed(source, files):
                raise AdminError(FIXED.format(variable(path), source.place))
            changes.set_secret(path, value)

    async def _tried(self, part: str, wanted: Settings, changes: Changes) -> Trial:
        platform = next((one for one in PLATFORMS if one.name == part), None)
        if platform is None:
            trial = await try_model(wanted)
        else:
            trial = await self._of_same_bot(platform, await try_platform(platform, wanted))
        return trial.cleaned(changes.redactor.line)

    async def _of_same_bot(self, platform: Platform, trial: Trial) -> Trial:
        """Return the trial, which fails if the channel has the messages of another bot."""
        try:
            former = await self._renewal.former_bot(platform.name, trial.bot_id)
        except TapeError as cause:
            raise AdminError(f"Whose messages this home has cannot be read: {cause}") from cause
        if not former:
            return trial
        line = TrialLine(OTHER_BOT.format(platform.title, former, trial.bot_id), NEW_HOME)
        return replace(trial, well=False, lines=[*trial.lines, line])

    async def _use(self, part: str, wanted: Settings, trial: Trial) -> None:
        if part != MODEL:
            self._renewal.use_channel(part, wanted)
        elif trial.probed is not None:
            try:
                await self._renewal.use_model(wanted, trial.probed)
            except AgentError as cause:
                raise AdminError(f"It is saved, but not in use before a restart: {cause}") from None


def _refuse_stale(version: str, newest: str) -> None:
    if not hmac.compare_digest(version.encode(), newest.encode()):
        raise SettingsStale(CHANGED)


def _no_changes(files: SettingsFiles, loaded: LoadedSettings) -> Changes:
    # A start needs no writer of TOML.
    changes: Changes = import_module("gateway.setup.changes").Changes(files, loaded, one_file=True)
    return changes


def _fields(part: str) -> dict[str, str]:
    """Return the fields of a part, and their settings; raises AdminError if there is no such."""
    if part == MODEL:
        return MODEL_FIELDS
    for platform in PLATFORMS:
        if platform.name == part:
            return {key: f"{part}.{key}" for key, _flag, _where in platform.tokens}
    raise AdminError("There is nothing of that name to set")


def _source(path: str, loaded: LoadedSettings) -> SettingsSource | None:
    return next((one for one in loaded.sources if one.names(path)), None)


def _is_fixed(source: SettingsSource | None, files: SettingsFiles) -> bool:
    """Return whether a setting comes from elsewhere than the home folder's own files."""
    return source is not None and source.path not in (files.env, files.toml)


def _or_refused(work: Callable[[], Found]) -> Found:
    try:
        return work()
    except (SettingsError, ValueError) as cause:
        raise AdminError(str(cause)) from None


def _write(changes: Changes) -> None:
    try:
        changes.write()
    except (OSError, SettingsError) as cause:
        raise AdminError(f"The settings cannot be written: {cause}") from cause
