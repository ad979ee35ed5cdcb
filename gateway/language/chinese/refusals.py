"""What the console refuses, and what it says when something is done, in Chinese."""

# ruff: noqa: RUF001
from __future__ import annotations

from typing import Final

_DOOR: Final = {
    "Log in first: send `/console` to the agent in a private chat, or sign in with the access"
    " token.": "请先登录：在私聊中向助手发送 `/console`，或用访问令牌登录。",
    "The console is for owners and admins.": "控制台仅供所有者和管理员使用。",
    "There is no such chat, or you may not see it.": "没有这个聊天，或您无权查看。",
    "Only the owner of this instance may do this.": "只有此实例的所有者可以这样做。",
    "The platform does not say just now which chats you administer.": (
        "平台暂时没有说明您管理哪些聊天。"
    ),
    "The platform does not say just now whether the person who made your link may show this"
    " chat.": ("平台暂时没有说明创建此链接的人是否可以展示此聊天。"),
    "This link has ended. Ask the person who gave it to you for another one.": (
        "此链接已失效。请向给您链接的人索取新的链接。"
    ),
    "Too many browsers open links just now: try again in a moment.": (
        "现在打开链接的浏览器太多：请稍后再试。"
    ),
    "This link was used or has expired. Send `/console` once more, in private.": (
        "此链接已使用或已过期。请在私聊中再次发送 `/console`。"
    ),
    "Too many browsers follow the console for you.": "您打开控制台的浏览器太多。",
    "The search took too long and was ended: look for rarer words, or in fewer chats.": (
        "搜索耗时过长，已中止：请使用更少见的词，或在更少的聊天中搜索。"
    ),
    "the console reads too much at once: try again in a moment": (
        "控制台一次读取的内容太多：请稍后再试"
    ),
}

_TAPES: Final = {
    "There is no such message, or you may not see it.": "没有这条消息，或您无权查看。",
    "Nothing is recorded here about how this entry came about: it may be imported, or its message"
    " forgotten since.": "这里没有关于此记录来历的信息：它可能是导入的，或其消息的记录已不再保留。",
    "There is no such turn in this chat.": "此聊天中没有这个轮次。",
    "No model was asked in this turn, or nothing is recorded here about it.": (
        "此轮次没有询问模型，或这里没有关于它的记录。"
    ),
    "There is no such chapter on this tape.": "此磁带上没有这个章节。",
    "{name} is a number": "{name} 应为数字",
    "{name} is a date, such as 2026-01-31T10:31Z": "{name} 应为日期，例如 2026-01-31T10:31Z",
    "until is a date, such as 2026-01-31T10:31Z": "until 应为日期，例如 2026-01-31T10:31Z",
    "{by} is no way to sum up: use {ways}": "不能按 {by} 汇总：请用 {ways}",
    "write a day as 2026-01-31": "日期请写成 2026-01-31",
    "Only the person of a private chat or thread can make a link to it.": (
        "只有私聊或私密话题的本人才能为其创建链接。"
    ),
    "There is no such link, or you may not see its chat.": "没有这个链接，或您无权查看其聊天。",
    "This chat has {count} links already: revoke one first.": (
        "此聊天已有 {count} 个链接：请先撤销一个。"
    ),
    "hours is 1, 24 or 168": "hours 应为 1、24 或 168",
}

_PROMPTS: Final = {
    "may differ from what was sent: no digest was recorded": ("可能与发送的内容不同：没有记录摘要"),
    "differs from what was sent: a plugin built the view, or the tape lost some text": (
        "与发送的内容不同：视图由插件生成，或磁带失去了一些文字"
    ),
}

_RERUN: Final = {
    "Only an owner of this account may run a turn again, since it costs.": (
        "只有此账号的所有者可以再次运行轮次，因为会产生费用。"
    ),
    "Running it again needs your agreement: a provider sees the text, and it costs.": (
        "再运行一次需要您的同意：提供方会看到文字，并产生费用。"
    ),
    "This model is not in the settings; name one of them.": "设置中没有此模型；请选择其中的一个。",
    "Nothing would be left to ask: keep at least one message.": (
        "没有可提问的内容了：请至少保留一条消息。"
    ),
    "Another turn is being run again; wait until it is done.": (
        "另一个轮次正在再次运行；请等它完成。"
    ),
    "What was asked has been deleted since; the answer is not shown and not kept.": (
        "所问的内容此后已被删除；回答不予显示，也不保留。"
    ),
    "`without` must be a list of the numbers of entries.": "`without` 必须是记录编号的列表。",
    "The model did not answer: {cause}.": "模型没有回答：{cause}。",
    "The model did not answer in time.": "模型没有及时回答。",
    "The model gave no reply.": "模型没有给出答复。",
}

_LEDGER: Final = {
    "There is no such row, or you may not see it.": "没有这一行，或您无权查看。",
    "{row} will be sent again to {chat}": "{row} 将重新发送到 {chat}",
    "{row} will be sent again to {chat} at the next start": "{row} 将在下次启动时重新发送到 {chat}",
    "{row} will be answered again in {chat}": "{row} 将在 {chat} 中重新回答",
    "{row} will be answered again in {chat} at the next start": (
        "{row} 将在下次启动时在 {chat} 中重新回答"
    ),
    "{row} is dropped": "已丢弃 {row}",
    "cannot retry {row}: its content was removed from the ledger after {days} days; ask again"
    " in the"
    " chat": "无法重试 {row}：其内容在 {days} 天后已从账本中移除；请在聊天中再问一次",
    "cannot retry {row}: its status is {status}": "无法重试 {row}：其状态为“{status}”",
    "cannot drop {row}: its status is {status}": "无法放弃 {row}：其状态为“{status}”",
    "{row} is not a row: use a name such as in-12 or out-34, as listed": (
        "{row} 不是账本中的行：请用列表中的名称，例如 in-12 或 out-34"
    ),
    "there is no row {row}: `tapeway ledger list` shows the rows": (
        "没有 {row} 这一行：`tapeway ledger list` 会列出各行"
    ),
    "{row} cannot be read by this version": "此版本无法读取 {row}",
}

_PEOPLE: Final = {
    "Only an owner may do this.": "只有所有者可以这样做。",
    "Erasing can't be undone: confirm it.": "清除后无法恢复：请确认。",
    "This belongs to an account that isn't yours.": "这属于一个不是您的账号。",
    "An owner's role is changed by whoever holds the access token.": (
        "所有者的角色由访问令牌的持有者更改。"
    ),
    "groups opened: {count}": "已开放的群组：{count}",
    "there is no role {name}: use owner, admin or member": (
        "没有角色 {name}：请用 owner、admin 或 member"
    ),
    "{who} is a chat: it can be opened (member), but it is no {role}": (
        "{who} 是聊天：可以开放（member），但不能是{role}"
    ),
    "opened {who}": "已开放 {who}",
    "{who} is now a {role}": "{who} 现在是{role}",
    "{who} is now an {role}": "{who} 现在是{role}",
    "{who} has no access of its own any more": "{who} 不再有自己的权限",
    "no platform runs on which you could pair: start the gateway with `tapeway gateway` and a token"
    " of Telegram, Discord or Slack": (
        "没有可以配对的平台在运行：请用 `tapeway gateway` 和 Telegram、Discord 或 Slack"
        " 的令牌启动网关"
    ),
    "{who} is not of the form channel:id, for example telegram:-100123": (
        "{who} 的格式不是“渠道:编号”，例如 telegram:-100123"
    ),
    "{who} is a name, which anybody can take: use the number, which stands in `tapeway access list`"
    " or in the bot's sentence to a person without access": (
        "{who} 是名称，任何人都可以取用：请用编号，可在 `tapeway access list`"
        " 或机器人对无权限者说的话中"
        "找到"
    ),
    "There is no such session, or you may not end it.": "没有这个会话，或您无权结束它。",
}

_ERASING: Final = {
    "erase a message, a person or a chat": "请清除一条消息、一个人或一个聊天",
    "there is no erasure of that id": "没有这个编号的清除",
    "this tape has no message {name}: give its id, or # and its entry's number": (
        "此磁带上没有消息 {name}：请给出其编号，或 # 加记录编号"
    ),
    "name a person as channel:id, for example telegram:42": (
        "请以“渠道:编号”指明一个人，例如 telegram:42"
    ),
    "this person is of another platform than the chat": "此人与该聊天不属于同一平台",
    "name the chat to erase in": "请指明要清除的聊天",
    "this store cannot erase: erase the entries there": "此存储不能清除：请在那里清除记录",
    "erasing stopped, and goes on in a minute: {cause}": ("清除已中止，将在一分钟后继续：{cause}"),
}

REFUSALS: Final = {**_DOOR, **_TAPES, **_PROMPTS, **_RERUN, **_LEDGER, **_PEOPLE, **_ERASING}

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
    '"Sending messages to this app has been turned off" The app\'s Messages Tab is read-only.': (
        "“已关闭向此应用发送消息”：应用的 Messages Tab 是只读的。"
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
"""What explains the refusals of Telegram, Discord and Slack."""
