"""One stage per platform: its people, chats and faults, as `channels.testing.Stage` has them.

A stage needs no suite. Open it, run a gateway with its settings, connect it, and ask:

    async with TelegramStage() as telegram:
        async with gateway_of(home, model, **OPEN, **telegram.settings()) as gateway:
            async with telegram.connected(gateway.url):
                await telegram.say(telegram.group(), telegram.person("Ann"), "Are you there?")

`fake` is the platform itself. `registry` has the stage of each channel, `platform` what those of
Discord, Slack and Telegram share. The conformance suite, chaos and the fleet all use them.
"""
