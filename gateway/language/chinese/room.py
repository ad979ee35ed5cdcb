"""What the room page is refused, and what any request is, in Chinese."""

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

ROOM: Final = {**_REQUESTS, **_MESSAGES, **_FORMS}
