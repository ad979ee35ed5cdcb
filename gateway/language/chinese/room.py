"""What the room page is refused, what any request is, and what notices say, in Chinese."""

# ruff: noqa: RUF001
from __future__ import annotations

from typing import Final

_REQUESTS: Final = {
    "Log in first.": "请先登录。",
    "Too many wrong links.": "错误的链接太多。",
    "Too many wrong tokens.": "错误的令牌太多。",
    "Too many wrong logins. Try again in a second.": "错误登录太多，请稍后再试。",
    "This link was used or has expired.": "此链接已使用或已过期。",
    "This is for the owner alone.": "这仅供所有者使用。",
    "Requests from other sites are refused.": "来自其他网站的请求会被拒绝。",
    "The request is too long.": "请求太长。",
    "Send it as application/json.": "请以 application/json 发送。",
    "the request is not JSON": "请求不是 JSON",
    "the request is not a JSON object": "请求不是 JSON 对象",
    "The database is away. Try again later.": "数据库暂时不可用，请稍后再试。",
    "the disk is full: answers in progress are finished, nothing new is accepted; free some"
    " space": ("磁盘已满：正在进行的回答会完成，但不再接收新内容；请腾出一些空间"),
}

_MESSAGES: Final = {
    "The message is empty.": "消息是空的。",
    "Send the message as application/json.": "请以 application/json 发送消息。",
    "The message is too long. Send it in parts.": "消息太长，请分几次发送。",
    "The message is invalid: {where}: {error}.": "消息无效：{where}：{error}。",
    "You are not a member of this room.": "您不是这个房间的成员。",
    "Not saved. Try again later.": "没有保存，请稍后再试。",
    "Only admins may stop others' answers; Stop ends yours.": (
        "只有管理员可以停止给别人的回答；“停止”只会结束给您的回答。"
    ),
    "You have changed this too often.": "您更改得太频繁。",
    "You have changed the title {times} times within a day: try again tomorrow.": (
        "您一天内已更改标题 {times} 次：请明天再试。"
    ),
    "This is no answer of this room.": "这不是这个房间里的回答。",
    "This is no image of this room.": "这不是这个房间里的图片。",
    "This room has no such image.": "这个房间没有这张图片。",
    "The image can't be shown: {cause}.": "无法显示这张图片：{cause}。",
    "another one is being fetched for you just now: try again": (
        "正在为您取得另一张图片：请再试一次"
    ),
    "several others are being fetched just now: try again": "正在取得其他几张图片：请再试一次",
    "it can't be fetched": "无法取得",
    "the server answered {status}": "服务器答复 {status}",
}

_FORMS: Final = {
    "room must be the name of a room": "room 必须是房间的名称",
    "{name} must be a number from 1 to {most}": "{name} 必须是 1 到 {most} 的数字",
    "Enter your API key for {server}": "请输入 {server} 的 API 密钥",
    "Enter the server's address, such as http://127.0.0.1:11434/v1": (
        "请输入服务器地址，例如 http://127.0.0.1:11434/v1"
    ),
}

_MARKS: Final = {
    "*Stopped by {name}.*": "*已由 {name} 停止。*",
    "*Stopped.*": "*已停止。*",
    "Stopped.": "已停止。",
    "*(The answer was cut off here, at the model's limit for one answer.)*": (
        "*（回答在此中断：已达到模型单次回答的上限。）*"
    ),
    "*(The answer was cut off here by the model provider's content filter.)*": (
        "*（回答在此被模型提供商的内容过滤器截断。）*"
    ),
}

_FAILURES: Final = {
    "Sorry, I couldn't answer: {why}. (Ref {error_id})": (
        "抱歉，我无法回答：{why}。（编号 {error_id}）"
    ),
    "it took too long": "用时太长",
    "something went wrong on my side": "我这边出了问题",
    "I was interrupted while I ran `,{what}`, so I don't know whether it was done, and I haven't"
    " run it again. Look at what it did before you send it once more.": (
        "运行 `,{what}` 时我被中断了，不知道它是否已经完成，所以没有再次运行。"
        "请先看看它做了什么，再决定是否重新发送。"
    ),
    "That didn't work. (Ref {error_id})": "没有成功。（编号 {error_id}）",
}

_COMMANDS: Final = {
    "I answer these commands at once, without the model:": "这些命令我会立即回答，不使用模型：",
    "- `,{command}`: {detail}": "- `,{command}`：{detail}",
    "`,help all` also lists the commands for the tape.": "`,help all` 还会列出关于磁带的命令。",
    "what I can do here": "我在这里能做什么",
    "stop the answer that I'm writing for you (`,stop all`: every one in this chat)": (
        "停止我正在给您写的回答（`,stop all`：这个聊天中的所有回答）"
    ),
    "start over: earlier messages stay on the tape, but I no longer see them": (
        "重新开始：之前的消息仍在磁带上，但我不再看到它们"
    ),
    "go back to an earlier checkpoint (`,rewind` lists them)": (
        "回到之前的检查点（`,rewind` 列出它们）"
    ),
    "erase what you wrote, after I've asked once more": "再确认一次后，抹除您写的内容",
    "a link to the console, where owners and admins see what I heard, did and spent": (
        "控制台的链接，所有者和管理员可在其中查看我听到、做过和花费了什么"
    ),
    "set a checkpoint here (`,handoff what to remember from here on`)": (
        "在这里设置检查点（`,handoff 从这里起要记住的内容`）"
    ),
    "Give a task to a helper that can search this tape; its answer comes back.": (
        "把任务交给能搜索这条磁带的助手，它会带回答案。"
    ),
    "Set a checkpoint with a summary when a task is done or the subject changes.": (
        "任务完成或话题改变时，设置带摘要的检查点。"
    ),
    "List the checkpoints of this chat.": "列出这个聊天的检查点。",
    "Gather from the tape what is worth knowing for a task, within a token budget.": (
        "在词元预算内，从磁带上收集某项任务值得知道的内容。"
    ),
    "The tape in figures: checkpoints with dates, tokens and kinds since the last one.": (
        "磁带的数字：检查点及日期，以及上一个检查点以来的词元和种类。"
    ),
    "How much this chat's tape holds, and what came since the last checkpoint.": (
        "这个聊天的磁带有多少内容，以及上一个检查点以来新增了什么。"
    ),
    "Find earlier messages of this chat by words, newest first.": (
        "按词语查找这个聊天中之前的消息，最新的在前。"
    ),
    "Fetch a public web page and return its text.": "取得公开网页并返回其文本。",
}

_REPLIES: Final = {
    "There is nothing to stop.": "没有可停止的内容。",
    "I'm starting over from here. Earlier messages stay on the tape.": (
        "我从这里重新开始。之前的消息仍在磁带上。"
    ),
    "Only admins may stop others' answers; `,stop` stops yours.": (
        "只有管理员可以停止给别人的回答；`,stop` 停止给您的回答。"
    ),
    "Only admins may reset a group: it affects everyone here.": (
        "只有管理员可以重置群组：这会影响这里的所有人。"
    ),
    "Only admins may rewind a group: it affects everyone here.": (
        "只有管理员可以让群组回到之前：这会影响这里的所有人。"
    ),
    "Use `,stop`, or `,stop all` for every answer in this chat.": (
        "请用 `,stop`；要停止这个聊天中的所有回答，请用 `,stop all`。"
    ),
    "This question is no longer open. Ask again, and I'll ask again.": (
        "这个问题已经关闭。请重新提问，我会再次询问。"
    ),
    "This question is for somebody else.": "这个问题是问别人的。",
    "This question was answered already.": "这个问题已经有人回答。",
    "Allowed: `{tool}`.": "已允许：`{tool}`。",
    "Not allowed: `{tool}` was not run.": "未允许：没有运行 `{tool}`。",
}

_ALLOW: Final = (
    "我现在想运行 `{tool}`。但我读到了别人写的或来自别处的内容（消息、网页、文件或工具的结果），"
    "因此需要{who}在 {minutes} 分钟内允许。"
)

_CARDS: Final = {
    "I'd like to run `{tool}` now. But I've read something by other people or from elsewhere (a"
    " message, a page, a file or a tool's result), so you must allow it within {minutes}"
    " minutes.": _ALLOW.replace("{who}", "您"),
    "I'd like to run `{tool}` now. But I've read something by other people or from elsewhere (a"
    " message, a page, a file or a tool's result), so an admin must allow it within {minutes}"
    " minutes.": _ALLOW.replace("{who}", "管理员"),
    "I suggest setting the checkpoint {name} here. Of what came before, I would then see only"
    " this:": "我建议在这里设置检查点 {name}。之前的内容中，我此后只会看到：",
    "I suggest setting the checkpoint {name} here. Of what came before, I would then see"
    " nothing.": "我建议在这里设置检查点 {name}。之前的内容，我此后都不会看到。",
    "Whoever began this conversation may accept it, unless others have asked in it since; an admin"
    " always may.": ("开始这个对话的人可以接受，除非之后有别人在其中提问；管理员随时可以接受。"),
    "I've set the checkpoint {name}.": "我已设置检查点 {name}。",
    "No checkpoint was set.": "没有设置检查点。",
    "Shall I erase everything that you wrote to me or where I can read along, in all chats of this"
    " platform, and my answers to you? What others wrote stays. This cannot be undone.": (
        "要抹除您在这个平台的所有聊天中写给我的、或在我能读到的地方写的一切，以及我给您的回答吗？"
        "别人写的会保留。此操作无法撤销。"
    ),
    "All right, I'm erasing it now. If I mentioned it to others, my operator can see a list of"
    " those places.": (
        "好的，我现在就抹除。如果我曾向别人提到过，我的运维者可以看到这些地方的列表。"
    ),
    "All right, nothing was erased.": "好的，没有抹除任何内容。",
    "Write `,forget me` and I'll erase what you wrote, after I've asked once more.": (
        "请写 `,forget me`，我再确认一次后就会抹除您写的内容。"
    ),
    "I've sent it to you in private.": "我已私下发给您。",
    "Allow": "允许",
    "Don't": "不允许",
    "Show me what exactly": "显示确切内容",
    "Set it": "设置",
    "No": "否",
    "Erase it": "抹除",
    "Keep it": "保留",
}

ROOM: Final = {
    **_REQUESTS,
    **_MESSAGES,
    **_FORMS,
    **_MARKS,
    **_FAILURES,
    **_COMMANDS,
    **_REPLIES,
    **_CARDS,
}
