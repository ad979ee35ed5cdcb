"""The troubles of Telegram, Discord and Slack, as channels and trials say them, in Chinese."""

# ruff: noqa: RUF001
from __future__ import annotations

from typing import Final

from gateway.language.chinese.refusals import PLATFORM_REFUSALS

_TELEGRAM: Final = {
    "Telegram refused the bot's answer.": "Telegram 拒绝了机器人的回答。",
    "Telegram does not accept it in any form that the bot knows.": (
        "Telegram 不接受机器人所知的任何形式。"
    ),
    "Get the token from @BotFather (/mybots, API Token).": (
        "请从 @BotFather 获取令牌（/mybots，API Token）。"
    ),
    "Paste it into `tapeway init`, or set {setting}, and restart.": (
        "请把它粘贴到 `tapeway init` 中，或设置 {setting}，然后重新启动。"
    ),
    "Telegram does not know this token.": "Telegram 不认识此令牌。",
    "It is misspelt, or @BotFather has issued a new one since.": (
        "它有拼写错误，或者 @BotFather 此后签发了新的令牌。"
    ),
    "Another program polls Telegram with this token.": "另一个程序正在用此令牌接收 Telegram 消息。",
    "A bot can have only one reader: a second gateway runs on another machine, in an old container"
    " or in a test.": (
        "一个机器人只能有一个接收者：另一台机器、旧容器或测试中正运行着第二个网关。"
    ),
    "Stop the second gateway, or get a new token from @BotFather (/revoke) to lock it out.": (
        "请停止第二个网关，或从 @BotFather 获取新令牌（/revoke）使它失效。"
    ),
    "This one keeps trying.": "本网关会继续尝试。",
    "In groups, the bot sees only commands, mentions and replies to it, and does not remember other"
    " messages.": "在群组中，机器人只能看到命令、提及和对它的回复，不会记住其他消息。",
    "Privacy mode is on.": "隐私模式已开启。",
    "privacy mode is on": "隐私模式已开启",
    "Send /setprivacy to @BotFather, choose the bot, then Disable.": (
        "请向 @BotFather 发送 /setprivacy，选择机器人，然后选择 Disable。"
    ),
    "Then remove the bot from each group and add it again: only then does Telegram apply the"
    " change.": "之后把机器人移出每个群组再重新加入：只有这样 Telegram 才会应用更改。",
    "An answer that one person of a group alone would have seen went to that person's private chat"
    " with the bot, or to nobody.": (
        "一个本来只有群里某人能看到的回答，发到了此人与机器人的私聊中，或没有发给任何人。"
    ),
    "Telegram lets a bot that is no administrator answer such a message within 15 seconds only.": (
        "机器人不是管理员时，Telegram 只允许它在 15 秒内回答这类消息。"
    ),
    "Make the bot an administrator of the group; it needs no particular right. People who have"
    " started the bot in private get such answers there meanwhile.": (
        "请把机器人设为群组管理员，不需要任何特定权限。"
        "在此之前，私下启动过机器人的人会在私聊中收到这类回答。"
    ),
    "The bot cannot be added to a group.": "无法把机器人加入群组。",
    "Groups are switched off for this bot.": "此机器人的群组功能已关闭。",
    "groups are switched off": "群组功能已关闭",
    "Send /setjoingroups to @BotFather, choose the bot, then Enable.": (
        "请向 @BotFather 发送 /setjoingroups，选择机器人，然后选择 Enable。"
    ),
    "TAPEWAY_TELEGRAM__RICH names a chat that the bot does not know.": (
        "TAPEWAY_TELEGRAM__RICH 中有机器人不认识的聊天。"
    ),
    "The id is misspelt, the bot has been removed from the chat, or the group has become a"
    " supergroup, which has another id.": (
        "id 写错了、机器人已被移出该聊天，或者群组已升级为超级群组，id 随之改变。"
    ),
    "Correct the id in TAPEWAY_TELEGRAM__RICH, and restart. `tapeway access list` shows the ids of"
    " open chats.": (
        "请更正 TAPEWAY_TELEGRAM__RICH 中的 id 并重启。"
        "`tapeway access list` 会列出已开放聊天的 id。"
    ),
    "Telegram delivers the bot's messages to another address.": (
        "Telegram 把机器人的消息发送到另一个地址。"
    ),
    "A webhook is set for this bot, by another program or an earlier setting.": (
        "此机器人设置了 webhook，来自另一个程序或以前的设置。"
    ),
    "Stop the other program, or make a bot for each.": (
        "请停止另一个程序，或为每个程序各建一个机器人。"
    ),
    "When the gateway starts, it takes the webhook away or sets its own.": (
        "网关启动时会移除该 webhook，或设置自己的 webhook。"
    ),
    "it is at {host}": "它位于 {host}",
    "Telegram cannot deliver messages to TAPEWAY_TELEGRAM__WEBHOOK_URL.": (
        "Telegram 无法把消息发送到 TAPEWAY_TELEGRAM__WEBHOOK_URL。"
    ),
    "The address does not lead to this gateway, its certificate is not accepted, or the gateway is"
    " not running.": "该地址没有指向此网关、证书不被接受，或者网关没有运行。",
    "Check the way from outside to the gateway (address, reverse proxy, certificate), or leave the"
    " setting empty to poll instead.": (
        "请检查从外部到网关的路径（地址、反向代理、证书），或将该设置留空，改为轮询。"
    ),
    "Telegram refuses the address in TAPEWAY_TELEGRAM__WEBHOOK_URL.": (
        "Telegram 拒绝 TAPEWAY_TELEGRAM__WEBHOOK_URL 中的地址。"
    ),
    "Telegram delivers only to https addresses that it can reach, on port 443, 80, 88 or 8443.": (
        "Telegram 只发送到它能访问的 https 地址，端口为 443、80、88 或 8443。"
    ),
    "Use an https address that is reachable from the internet, or leave the setting empty to poll"
    " instead.": "请使用可从互联网访问的 https 地址，或将该设置留空，改为轮询。",
}

_DISCORD: Final = {
    "Discord refused the bot's answer.": "Discord 拒绝了机器人的回答。",
    "Discord does not accept it in any form that the bot knows.": (
        "Discord 不接受机器人所知的任何形式。"
    ),
    "Ask again, perhaps for a shorter answer.": "请再问一次，也许要求更短的回答。",
    "If it happens again, report it with the reason that the log has under `delivery.given_up`.": (
        "如果再次发生，请连同日志中 `delivery.given_up` 的原因一起报告。"
    ),
    "Open discord.com/developers/applications, choose the application, then Bot, Reset Token.": (
        "请打开 discord.com/developers/applications，选择应用，然后选择 Bot、Reset Token。"
    ),
    "Paste the new token into `tapeway init`, or set TAPEWAY_DISCORD__TOKEN, and restart.": (
        "请把新令牌粘贴到 `tapeway init` 中，或设置 TAPEWAY_DISCORD__TOKEN，然后重新启动。"
    ),
    "Discord doesn't accept this token.": "Discord 不接受此令牌。",
    "It is misspelt, or was reset since.": "它有拼写错误，或者此后被重置。",
    "Discord doesn't let this bot read messages.": "Discord 不让此机器人读取消息。",
    "Its Message Content Intent is off.": "它的 Message Content Intent 已关闭。",
    "Message Content Intent is off": "Message Content Intent 已关闭",
    "Open discord.com/developers/applications, choose the application, then Bot, switch on Message"
    " Content Intent under Privileged Gateway Intents, save, and restart.": (
        "请打开 discord.com/developers/applications，选择应用，然后选择 Bot，在 Privileged Gateway"
        " Intents 下打开 Message Content Intent，保存并重新启动。"
    ),
    "This bot is in too many servers for this number of connections.": (
        "此机器人所在的服务器太多，连接数不够。"
    ),
    "Discord allows 2500 servers for each connection.": "Discord 允许每个连接对应 2500 个服务器。",
    "Set TAPEWAY_DISCORD__SHARDS to a higher number (one for each 1000 servers) and restart.": (
        "请把 TAPEWAY_DISCORD__SHARDS 设为更大的数（每 1000 个服务器一个），然后重新启动。"
    ),
    "Discord advises {advised} connections; {set} is set": (
        "Discord 建议 {advised} 个连接；当前设置为 {set} 个"
    ),
    "The bot cannot connect again today.": "机器人今天无法再次连接。",
    "Discord allows 1000 new connections a day, and something used them up: a gateway that restarts"
    " again and again, or a second program.": (
        "Discord 每天允许 1000 个新连接，现已用完：可能是网关反复重启，或有第二个程序。"
    ),
    "Find out why it restarts (the log says so), stop it, and start it when the limit is reset.": (
        "请查明它为何重启（日志中有说明），停止它，待限额重置后再启动。"
    ),
    "{left} new connection is left for the next {hours} h": (
        "在接下来的 {hours} 小时内还剩 {left} 个新连接"
    ),
    "{left} new connections are left for the next {hours} h": (
        "在接下来的 {hours} 小时内还剩 {left} 个新连接"
    ),
    "Discord refuses the connection of this version.": "Discord 拒绝此版本的连接。",
    "Discord no longer supports the protocol or the events that it asks for.": (
        "Discord 不再支持它所用的协议或所请求的事件。"
    ),
    "Update Tapeway.": "请更新 Tapeway。",
    "A second gateway is using this bot's token, so that every question gets two answers.": (
        "第二个网关正在使用此机器人的令牌，因此每个问题都会得到两个回答。"
    ),
    "It runs on another machine, in an old container or in a test.": (
        "它运行在另一台机器、旧容器或测试中。"
    ),
    "Stop it, or reset the token under discord.com/developers/applications (Bot, Reset Token) to"
    " lock it out.": (
        "请停止它，或在 discord.com/developers/applications 重置令牌（Bot，Reset Token）使它失效。"
    ),
    "The bot can't post in {title}.": "机器人无法在 {title} 中发言。",
    "In Discord, open the channel's settings, Permissions, and give the bot's role {permission} and"
    " Read Message History.": (
        "请在 Discord 中打开频道设置的 Permissions，给机器人的角色授予 {permission} 和"
        " Read Message History。"
    ),
    "the bot is in no server": "机器人不在任何服务器中",
    "It has not been added to a server.": "它还没有被加入任何服务器。",
    "Open the link that the gateway and `tapeway doctor` print, and choose your server.": (
        "请打开网关和 `tapeway doctor` 打印的链接，然后选择您的服务器。"
    ),
    "Its role may not see the channel, write there or read its history.": (
        "它的角色不能看到该频道、在其中发言或读取历史消息。"
    ),
    "Open the server's or the channel's settings, then Permissions, and give the bot's role what is"
    " missing, or open the invite link once more.": (
        "请打开服务器或频道的设置，然后选择 Permissions，给机器人的角色授予缺少的权限，"
        "或再次打开邀请链接。"
    ),
    "Requires OAuth2 Code Grant is on.": "Requires OAuth2 Code Grant 已打开。",
    "Requires OAuth2 Code Grant is on": "Requires OAuth2 Code Grant 已打开",
    "Open discord.com/developers/applications, choose the application, then Bot, switch off"
    " Requires OAuth2 Code Grant, and save.": (
        "请打开 discord.com/developers/applications，选择应用，然后选择 Bot，"
        "关闭 Requires OAuth2 Code Grant 并保存。"
    ),
    "only you can add it to a server": "只有您能把它加入服务器",
    "Public Bot is off.": "Public Bot 已关闭。",
    "Open discord.com/developers/applications, choose the application, then Bot, and switch on"
    " Public Bot if others may add it.": (
        "如果允许别人添加它，请打开 discord.com/developers/applications，选择应用，然后选择 Bot，"
        "并打开 Public Bot。"
    ),
    "an Interactions Endpoint URL is set": "设置了 Interactions Endpoint URL",
    "The gateway was not running, or Discord sends them to another address: an Interactions"
    " Endpoint URL is set.": (
        "网关当时没有运行，或者 Discord 把它们发送到别处：设置了 Interactions Endpoint URL。"
    ),
    "Start the gateway, and empty Interactions Endpoint URL under"
    " discord.com/developers/applications, General Information.": (
        "请启动网关，并在 discord.com/developers/applications 的 General Information 中清空"
        " Interactions Endpoint URL。"
    ),
}

_SLACK: Final = {
    "Slack refused the bot's answer.": "Slack 拒绝了机器人的回答。",
    "Slack does not accept it in any form that the bot knows.": (
        "Slack 不接受机器人所知的任何形式。"
    ),
    "Open https://api.slack.com/apps, choose the app, then OAuth & Permissions.": (
        "请打开 https://api.slack.com/apps，选择应用，然后选择 OAuth & Permissions。"
    ),
    "Copy the Bot User OAuth Token (xoxb-...; if there is none, install the app first).": (
        "复制 Bot User OAuth Token（xoxb-...；如果没有，请先安装应用）。"
    ),
    "Open https://api.slack.com/apps, choose the app, then Basic Information, App-Level Tokens.": (
        "请打开 https://api.slack.com/apps，选择应用，然后选择 Basic Information、App-Level"
        " Tokens。"
    ),
    "Copy one with the scope connections:write (xapp-...).": (
        "复制一个带有 connections:write 权限的令牌（xapp-...）。"
    ),
    "Slack has no bot token.": "Slack 没有机器人令牌。",
    "Only the app-level token or the signing secret is set.": "只设置了应用级令牌或签名密钥。",
    "Slack has a bot token, but events cannot come in.": "Slack 有机器人令牌，但无法接收事件。",
    "Neither an app-level token nor a signing secret is set.": "应用级令牌和签名密钥都没有设置。",
    "Set TAPEWAY_SLACK__APP_TOKEN (xapp-..., from Basic Information, App-Level Tokens, with the"
    " scope connections:write) for Socket Mode, or TAPEWAY_SLACK__SIGNING_SECRET for /slack/events,"
    " and restart.": (
        "请为 Socket Mode 设置 TAPEWAY_SLACK__APP_TOKEN（xapp-...，来自 Basic Information 的"
        " App-Level Tokens，权限为 connections:write），或为 /slack/events 设置"
        " TAPEWAY_SLACK__SIGNING_SECRET，然后重新启动。"
    ),
    "A setting of Slack holds another kind of token.": "Slack 的一项设置中是另一种令牌。",
    "The bot token begins with xoxb-, the app-level token with xapp-, and the signing secret is"
    " neither.": "机器人令牌以 xoxb- 开头，应用级令牌以 xapp- 开头，签名密钥两者都不是。",
    "Nothing was sent to Slack.": "没有向 Slack 发送任何内容。",
    "Open https://api.slack.com/apps, choose the app, then Basic Information for the signing secret"
    " and the app-level token (xapp-...), and OAuth & Permissions for the bot token (xoxb-...).": (
        "请打开 https://api.slack.com/apps，选择应用；签名密钥和应用级令牌（xapp-...）在 Basic"
        " Information 中，机器人令牌（xoxb-...）在 OAuth & Permissions 中。"
    ),
    "Correct the setting, and restart.": "请更正该设置，然后重新启动。",
    "Slack does not know this bot token.": "Slack 不认识此机器人令牌。",
    "It is misspelt or revoked, or the app was removed from the workspace.": (
        "它有拼写错误、已被撤销，或者应用已从工作区移除。"
    ),
    "Slack does not know this app-level token, or it lacks connections:write.": (
        "Slack 不认识此应用级令牌，或者它缺少 connections:write 权限。"
    ),
    "It is misspelt, revoked, or was made without that scope.": (
        "它有拼写错误、已被撤销，或者创建时没有该权限。"
    ),
    "Slack does not let the app in.": "Slack 不让该应用进入。",
    "The app is not installed in the workspace, or the workspace has disabled it.": (
        "应用没有安装在该工作区中，或已被工作区停用。"
    ),
    "Install it again at https://api.slack.com/apps (Install App), copy its token into"
    " TAPEWAY_SLACK__BOT_TOKEN, and restart.": (
        "请在 https://api.slack.com/apps 重新安装（Install App），把令牌复制到"
        " TAPEWAY_SLACK__BOT_TOKEN 中，然后重新启动。"
    ),
    "The app lacks a scope.": "应用缺少一项权限。",
    "Its manifest is older than this version, or a scope was removed.": (
        "它的清单早于此版本，或者有权限被移除。"
    ),
    "Add what is missing at https://api.slack.com/apps, OAuth & Permissions, Bot Token Scopes, then"
    " reinstall the app to the workspace: only then does a scope take effect.": (
        "请在 https://api.slack.com/apps 的 OAuth & Permissions、Bot Token Scopes"
        " 中添加缺少的权限，"
        "然后把应用重新安装到工作区：只有这样权限才会生效。"
    ),
    "{team} has not granted {scopes}": "{team} 没有授予 {scopes}",
    "the app is installed for an organization, and in {count} of its workspaces": (
        "应用已为整个组织安装，并装在其中 {count} 个工作区"
    ),
    "{count} of {all} workspaces are checked": "检查了 {all} 个工作区中的 {count} 个",
    "Slack asks to wait for {seconds} s before it checks the token": (
        "Slack 要求等待 {seconds} 秒后再检查令牌"
    ),
    "Slack ends every connection of this app.": "Slack 结束此应用的每个连接。",
    "Socket Mode is off.": "Socket Mode 已关闭。",
    "Open https://api.slack.com/apps, choose the app, then Socket Mode, and switch on Enable Socket"
    " Mode.": (
        "请打开 https://api.slack.com/apps，选择应用，然后选择 Socket Mode，并打开 Enable"
        " Socket Mode。"
    ),
    "A second reader is connected with this app token.": "另有一个接收者用此应用级令牌连接。",
    "Slack sends each event to only one of them: a second gateway runs on another machine, in an"
    " old container or in a test.": (
        "Slack 只把每个事件发送给其中一个：另一台机器、旧容器或测试中正运行着第二个网关。"
    ),
    "Stop it, or create a new app-level token and revoke the old one (Basic Information, App-Level"
    " Tokens).": (
        "请停止它，或创建新的应用级令牌并撤销旧的（Basic Information，App-Level Tokens）。"
    ),
    "The gateway checks again soon.": "网关很快会再次检查。",
    "Slack accepts my messages but delivers no events: the connection has stalled.": (
        "Slack 接受消息，但不再发送事件：连接已停滞。"
    ),
    "Slack stopped sending events over it.": "Slack 停止通过它发送事件。",
    "Wait: the gateway has connected again, and reads what it missed.": (
        "请等待：网关已重新连接，正在读取错过的内容。"
    ),
    "the bot is in no channel": "机器人不在任何频道中",
    "It is not in the channel.": "它不在该频道中。",
    "Write /invite and the bot's name in the channel, then mention the bot.": (
        "请在频道中写 /invite 和机器人的名字，然后提及机器人。"
    ),
    "The file of installations cannot be used.": "无法使用安装记录文件。",
    "TAPEWAY_SLACK__INSTALLATIONS names a file that cannot be read, or is not what /slack/install"
    " writes.": (
        "TAPEWAY_SLACK__INSTALLATIONS 指定的文件无法读取，或不是 /slack/install 写入的内容。"
    ),
    "Correct the file or its permissions, or remove it and install the app again.": (
        "请更正该文件或其权限，或将其删除并重新安装应用。"
    ),
    "TAPEWAY_SLACK__INSTALLATIONS cannot be read: {error}": (
        "无法读取 TAPEWAY_SLACK__INSTALLATIONS：{error}"
    ),
    "The app is no longer installed in the workspace {team}.": "应用已不再安装于工作区 {team}。",
    "Install it again at /slack/install, or remove the workspace from the file of installations.": (
        "请在 /slack/install 重新安装，或从安装记录文件中移除该工作区。"
    ),
    "The workspace {team} cannot be reached now.": "现在无法连接工作区 {team}。",
    "I keep trying; the others are not affected.": "网关会继续尝试；其他工作区不受影响。",
    "Slack drops events because the app gets more than 30,000 an hour.": (
        "应用每小时收到超过 30,000 个事件，因此 Slack 丢弃了一些。"
    ),
    "I read the missing messages from the history.": "网关会从历史中读取缺少的消息。",
    "I dropped an event from a workspace that the app has no token for.": (
        "丢弃了一个事件，因为应用没有该工作区的令牌。"
    ),
    "The Slack app is not installed in any workspace.": "Slack 应用没有安装在任何工作区。",
    "Set TAPEWAY_SLACK__BOT_TOKEN, or open /slack/install, and start again.": (
        "请设置 TAPEWAY_SLACK__BOT_TOKEN，或打开 /slack/install，然后重新启动。"
    ),
    "A request to /slack/events was not signed with TAPEWAY_SLACK__SIGNING_SECRET, or was signed"
    " more than five minutes ago.": (
        "一个发往 /slack/events 的请求没有用 TAPEWAY_SLACK__SIGNING_SECRET 签名，"
        "或签名已超过五分钟。"
    ),
    "The log does not mention slack.": "日志中没有提到 slack。",
    "Slack is off, since the gateway got no token.": "Slack 未启用，因为网关没有得到令牌。",
    "Run `tapeway init`, paste the tokens, and restart.": (
        "请运行 `tapeway init`，粘贴令牌，然后重新启动。"
    ),
}

PLATFORMS: Final = {**_TELEGRAM, **_DISCORD, **_SLACK, **PLATFORM_REFUSALS}
