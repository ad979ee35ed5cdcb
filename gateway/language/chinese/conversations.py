"""Why a message belongs to its conversation, in Chinese."""

# ruff: noqa: RUF001
from __future__ import annotations

from typing import Final

CONVERSATIONS: Final = {
    "The whole chat is one conversation": "整个聊天是一个对话",
    "It starts a new conversation": "它开始了一个新对话",
    "It is the first message of its thread on the tape": "它是其话题在磁带上的第一条消息",
    "It belongs to a conversation whose beginning is no longer on the tape": (
        "它属于一个开头已不在磁带上的对话"
    ),
    "It starts a conversation with what it replies to, which is not on the tape": (
        "它与它所回复的内容开始了一个对话，而后者不在磁带上"
    ),
    "It belongs to the conversation that began at {began} with “{text}”": (
        "它属于 {began} 以“{text}”开始的对话"
    ),
    "It belongs to the conversation that began at {began} with a message that is not shown": (
        "它属于 {began} 以一条不予显示的消息开始的对话"
    ),
    ", because there was nothing before it that it could continue": (
        "，因为在它之前没有可以接续的内容"
    ),
    ", because nothing in it points to an earlier message": "，因为其中没有任何内容指向更早的消息",
    ", because nobody had written for {minutes} minute|"
    ", because nobody had written for {minutes} minutes": ("，因为已有 {minutes} 分钟没有人写消息"),
    ", because it fits none of the earlier ones well enough:"
    " by the linker's estimate, it is a new one with {chance} %": (
        "，因为它与先前的对话都不够吻合：链接器估计它是新对话的可能性为 {chance} %"
    ),
    ", because it would otherwise have waited for the answer to somebody else's question": (
        "，否则它得等待别人的问题得到回答"
    ),
    ", because it asks the agent for something that no earlier one is about": (
        "，因为它请助手做的事与先前的对话都无关"
    ),
    ", because its author goes on from the answer {parent}": "，因为其作者接着回答{parent}往下说",
    ", because it returns to {parent}, with which it has rare words in common": (
        "，因为它又说起了{parent}，两者有相同的罕见词"
    ),
    ", because the linker failed on it": "，因为链接器处理它时出错",
    "; why was not recorded": "；原因没有记录",
    ", because it was written in that thread": "，因为它写在该话题中",
    ", because it is a reply to {parent}": "，因为它回复了{parent}",
    ", because it is a part of the album of {parent}": "，因为它是{parent}的相册的一部分",
    ", because its author had just asked a question there": "，因为其作者刚在那里提了问题",
    ", because it is addressed to the author of {parent}": "，因为它是写给{parent}的作者的",
    ", because its author wrote {parent} shortly before": "，因为其作者不久前写了{parent}",
    ", because {parent} was addressed to its author": "，因为{parent}是写给其作者的",
    ", because it is a short remark that follows {parent}": "，因为它是接在{parent}之后的简短插话",
    ", because fewer than three people were writing, and nobody had paused for long": (
        "，因为写消息的不到三个人，而且没有长时间的停顿"
    ),
    ", because by its words, author and time it most likely continues {parent}: {chance} %"
    " by the linker's estimate": (
        "，因为从用词、作者和时间看，它最可能接续{parent}：链接器估计可能性为 {chance} %"
    ),
    "In this room, conversations are recognized in {share} of 100 replies": (
        "在这个聊天室里，每 100 条回复中有 {share} 条能识别出所属的对话"
    ),
    ", so views show its last messages": "，因此视图改为显示最近的消息",
    ", {entries} of them in case its conversation was not recognized": (
        "，其中{entries}是为防认错对话而附上的"
    ),
    ", and shows the room's last messages, because conversations are not recognized well there": (
        "，并显示聊天室最近的消息，因为那里的对话识别得不够准"
    ),
    "that message": "那条消息",
    "the agent's answer “{text}”": "助手的回答“{text}”",
    "“{text}” by {name}": " {name} 的“{text}”",
    "a message that is not shown": "一条不予显示的消息",
    "an earlier message": "一条更早的消息",
}
