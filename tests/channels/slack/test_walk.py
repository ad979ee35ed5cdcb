"""The 18 actions from the app to the first answer in a channel, as in docs/how-to/slack.md."""

from __future__ import annotations

from pathlib import Path

from tests.fakes.slack.app_pages import AppPages
from tests.fakes.slack.server import FakeSlack
from tests.fakes.slack.world import Message
from tests.scenarios.walk import ROOT, START, Action, Walker, walk

MANIFEST = (
    "On the tab **YAML**, paste [deploy/slack-manifest.yaml](../../deploy/slack-manifest.yaml) in"
    " place of the text, and choose **Next**."
)
SAVED = "Run `make init`, and paste both; Enter answers every other question."


class NewSlackOwner:
    """Ada, who walks."""

    def __init__(self, fake: FakeSlack, walker: Walker) -> None:
        self._fake, self._walker, self._pages = fake, walker, AppPages(fake)
        self._ada = fake.user("Ada")
        self._place = fake.channel("team", member=False, members=[self._ada])
        self._bot_token = self._app_token = self._im = ""

    def actions(self) -> dict[str, Action | None]:
        return {
            "Choose **Create New App**.": self.creates,
            "Choose **From a manifest**.": self.from_a_manifest,
            "Choose your workspace, and **Next**.": self.picks_the_workspace,
            MANIFEST: self.pastes_the_manifest,
            "Choose **Create**.": self.confirms,
            "Choose **Install App**, and **Install to** your workspace.": self.installs,
            "Choose **Allow**.": self.allows,
            "Copy the **Bot User OAuth Token**: `xoxb-...`": self.copies_the_bot_token,
            "Under **Basic Information**, **App-Level Tokens**, choose **Generate Token and"
            " Scopes**.": self.wants_a_token,
            "Enter any name, add the scope `connections:write`, and choose **Generate**.": (
                self.generates_it
            ),
            "Copy the app-level token: `xapp-...`": self.copies_the_app_token,
            SAVED: self.saves_them,
            START: None,
            "In Slack, open **Tapeway** under **Apps**.": self.opens_the_chat,
            "Write the pairing code to it, as the gateway prints it: `pair 4F7K-2Q`": self.pairs,
            "In a channel, write `/invite @Tapeway`.": self.invites_it,
            "In your chat with Tapeway, press **This channel**.": self.opens_the_channel,
            "Ask in the channel: `@Tapeway hello`": self.asks,
        }

    async def creates(self) -> None:
        self._pages.create_new_app()

    async def from_a_manifest(self) -> None:
        self._pages.from_a_manifest()

    async def picks_the_workspace(self) -> None:
        self._pages.pick_workspace()

    async def pastes_the_manifest(self) -> None:
        self._pages.enter_manifest((ROOT / "deploy" / "slack-manifest.yaml").read_text())

    async def confirms(self) -> None:
        self._pages.create()

    async def installs(self) -> None:
        self._pages.install()

    async def allows(self) -> None:
        self._pages.allow()

    async def copies_the_bot_token(self) -> None:
        self._bot_token = self._pages.bot_token()

    async def wants_a_token(self) -> None:
        self._pages.generate_token_and_scopes()

    async def generates_it(self) -> None:
        self._pages.generate("tapeway", "connections:write")

    async def copies_the_app_token(self) -> None:
        self._app_token = self._pages.app_token()

    async def saves_them(self) -> None:
        given = ("--slack-bot-token", self._bot_token, "--slack-app-token", self._app_token)
        await self._walker.init(*given)

    async def opens_the_chat(self) -> None:
        self._im = self._fake.im(self._ada).id

    async def pairs(self) -> None:
        written = self._walker.link(r"(?<=`)pair \S+(?=`)")
        self._fake.say(self._im, self._ada, written)
        await self._walker.until(lambda: self._fake.messages(self._im))
        assert "my owner" in (owned := self._last(self._im).text)
        assert "added to a channel" in owned

    async def invites_it(self) -> None:
        self._fake.join(self._place, by=self._ada)
        await self._walker.until(lambda: self._last(self._im).buttons)

    async def opens_the_channel(self) -> None:
        asked = self._last(self._im)
        assert self._ada.name in asked.text.lower()
        self._fake.tap(self._im, self._ada, asked, "This channel")
        await self._walker.until(lambda: "opened" in asked.text)

    async def asks(self) -> None:
        said = self._fake.say(self._place, self._ada, "@tapeway hello")

        def answered() -> bool:
            thread = self._fake.world.thread(self._place, said.ts)
            return any(one.mine and one.text for one in thread)

        await self._walker.until(answered)

    def _last(self, channel_id: str) -> Message:
        return self._fake.messages(channel_id)[-1]


async def test_the_first_answer_in_a_channel_takes_18_actions_and_6_once_the_tokens_are_set(
    tmp_path: Path,
) -> None:
    walker = Walker(tmp_path, {"WEB__ENABLED": "false", "SLACK__REORDER_SECONDS": "0"})
    clock = walker.clock
    async with FakeSlack(clock=clock.monotonic, sleep=clock.sleep) as fake:
        fake.epoch = clock.now().timestamp() - clock.monotonic()
        walker.more["SLACK__BASE_URL"] = fake.base_url
        rows = await walk(walker, "slack.md", NewSlackOwner(fake, walker).actions())
        assert (len(rows), len(rows) - rows.index(START)) == (18, 6)
