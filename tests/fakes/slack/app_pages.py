"""The pages at api.slack.com/apps, on which an app is made, installed and given its tokens."""

from __future__ import annotations

from ruamel.yaml import YAML

from tests.fakes.slack.server import FakeSlack


class AppPages:
    """One person's browser; a button that is not on the page of the moment fails.

    What the manifest does not ask for, the app made from it does not get.
    """

    def __init__(self, fake: FakeSlack) -> None:
        self._fake = fake
        self._page = "Your Apps"
        self._manifest = ""

    def create_new_app(self) -> None:
        self._go("Your Apps", "Create an app")

    def from_a_manifest(self) -> None:
        self._go("Create an app", "Pick a workspace")

    def pick_workspace(self) -> None:
        self._go("Pick a workspace", "Create app from manifest")

    def enter_manifest(self, text: str) -> None:
        """Replace the text on the tab YAML, and go on."""
        self._manifest = text
        self._go("Create app from manifest", "Review summary & create your app")

    def create(self) -> None:
        """Make the app that the manifest describes."""
        self._go("Review summary & create your app", "Basic Information")
        found = YAML(typ="safe").load(self._manifest)
        events = self._fake.events
        events.scopes = set(found["oauth_config"]["scopes"]["bot"])
        events.subscribed = set(found["settings"]["event_subscriptions"]["bot_events"])
        events.interactive = found["settings"]["interactivity"]["is_enabled"]
        self._fake.tokens.app_scopes.clear()
        self._fake.workspace.installed, self._fake.workspace.refused = False, "invalid_auth"

    def install(self) -> None:
        self._go("Basic Information", "Permission to access the workspace")

    def allow(self) -> None:
        self._go("Permission to access the workspace", "Install App")
        self._fake.workspace.installed, self._fake.workspace.refused = True, ""

    def bot_token(self) -> str:
        """Copy the Bot User OAuth Token."""
        assert self._page == "Install App"
        return self._fake.bot_token

    def generate_token_and_scopes(self) -> None:
        self._go("Install App", "Generate an app-level token")

    def generate(self, name: str, scope: str) -> None:
        """Name the app-level token, give it a scope, and make it."""
        assert name
        self._go("Generate an app-level token", "App-level token")
        self._fake.tokens.app_scopes.add(scope)

    def app_token(self) -> str:
        """Copy the app-level token."""
        assert self._page == "App-level token"
        return self._fake.app_token

    def _go(self, here: str, there: str) -> None:
        assert self._page == here, f"this button is on the page {here}, not on {self._page}"
        self._page = there
