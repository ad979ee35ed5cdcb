"""Checks, before anything is sent, that each of Slack's settings holds its own kind of token."""

from __future__ import annotations

from channels.errors import ChannelUnfit
from channels.slack.settings import SlackSettings
from channels.slack.troubles import NO_BOT_TOKEN, NO_WAY_IN, WRONG_TOKEN
from channels.token_kinds import SLACK_APP, SLACK_BOT, SLACK_SECRET, misplaced


def check_tokens(settings: SlackSettings) -> None:
    """Raise ChannelUnfit if a token is missing, or stands in another one's place."""
    bot, app = settings.bot_token.get_secret_value(), settings.app_token.get_secret_value()
    secret = settings.signing_secret.get_secret_value()
    places = (
        ("BOT_TOKEN", bot, SLACK_BOT),
        ("APP_TOKEN", app, SLACK_APP),
        ("SIGNING_SECRET", secret, SLACK_SECRET),
    )
    for name, value, wanted in places:
        if what := misplaced(value, wanted):
            raise ChannelUnfit(trouble=WRONG_TOKEN, detail=f"TAPEWAY_SLACK__{name}: {what}")
    if not (app or secret):
        raise ChannelUnfit(trouble=NO_WAY_IN)
    if not bot and settings.installations is None:
        raise ChannelUnfit(trouble=NO_BOT_TOKEN)
