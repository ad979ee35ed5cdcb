"""What explains the refusals of Telegram, Discord and Slack, in Chinese."""

# ruff: noqa: RUF001
from __future__ import annotations

from typing import Final

PLATFORM_REFUSALS: Final = {
    "A rule of this server blocked the bot's answer.": "本服务器的规则拦截了机器人的回答。",
    "AutoMod refuses words or links in it.": "AutoMod 拒绝了其中的词语或链接。",
    "Ask in other words, or ask an administrator to exempt the bot's role (Server Settings,"
    " Safety Setup, AutoMod).": (
        "请换一种说法提问，或请管理员豁免机器人的角色（Server Settings，Safety Setup，AutoMod）。"
    ),
    "The bot may not write to this person.": "机器人不能给此人发消息。",
    "The person takes no direct messages from members of the server, or has blocked the bot.": (
        "此人不接受服务器成员的私信，或已屏蔽机器人。"
    ),
    "Allow direct messages in the server's privacy settings, or ask in a channel.": (
        "请在服务器的隐私设置中允许私信，或在频道中提问。"
    ),
    "The channel of the question is gone.": "提问所在的频道已不存在。",
    "It was deleted, or the bot was removed from the server.": (
        "它已被删除，或机器人已被移出服务器。"
    ),
    "Ask in another channel, or add the bot again with its invite link.": (
        "请在其他频道提问，或用邀请链接重新添加机器人。"
    ),
    "The bot may not answer in this thread.": "机器人不能在此话题中回答。",
    "It is locked or archived.": "它已被锁定或归档。",
    "Have a moderator unlock it, or ask in the channel.": "请让版主解锁，或在频道中提问。",
    "The bot answers in one place, but not in another.": "机器人在一处回答，在另一处不回答。",
    "Open the server's or the channel's settings, then Permissions, and give the bot's role"
    " what is missing, or open the invite link once more.": (
        "请打开服务器或频道的设置，选择 Permissions，为机器人的角色补上缺少的权限，或再次打开"
        "邀请链接。"
    ),
    "A rule of the workspace keeps the bot from answering.": "工作区的规则不让机器人回答。",
    "Only some people or apps may post there, or what is in the answer.": (
        "只有部分人或应用可以在那里发言，或发送回答中的内容。"
    ),
    "Ask in another channel, or have an administrator let the app post there.": (
        "请在其他频道提问，或请管理员允许应用在那里发言。"
    ),
    "The bot is silent in one channel only.": "机器人只在一个频道中沉默。",
    "It was removed, or the channel was archived.": "它已被移出，或频道已归档。",
    "Invite it again.": "请再次邀请它。",
    "The log has `delivery.given_up` with Slack's reason.": (
        "日志中的 `delivery.given_up` 有 Slack 给出的原因。"
    ),
    '"Sending messages to this app has been turned off"': (
        "“Sending messages to this app has been turned off”（已关闭向此应用发送消息）"
    ),
    "The app's Messages Tab is read-only.": "应用的 Messages Tab 是只读的。",
    "Under App Home, Messages Tab, allow people to send messages.": (
        "请在 App Home 的 Messages Tab 中允许人们发送消息。"
    ),
    "The bot may not write in a chat.": "机器人不能在某个聊天中发言。",
    "The chat's permissions keep it from sending messages there, or its topic is closed.": (
        "该聊天的权限不允许它发消息，或话题已关闭。"
    ),
    "Have an administrator let the bot send messages, or open the topic again.": (
        "请让管理员允许机器人发消息，或重新打开话题。"
    ),
    "The bot cannot write to a chat any more.": "机器人无法再向某个聊天发消息。",
    "It was removed or blocked, or the chat is gone.": "它已被移除或屏蔽，或该聊天已不存在。",
    "Add the bot to the group again, or unblock it, and ask again.": (
        "请把机器人重新加入群组，或取消屏蔽，然后再问一次。"
    ),
}
