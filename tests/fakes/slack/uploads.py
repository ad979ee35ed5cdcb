"""What people upload to the fake Slack, and what a mail or a shared message becomes there.

https://docs.slack.dev/reference/objects/file-object/ says what a file has.
"""

from __future__ import annotations

from typing import Final

from tests.fakes.base.http import JsonObject
from tests.fakes.slack.town import Town
from tests.fakes.slack.world import Channel, File, Message, User

PREVIEW: Final = 500
"""Maximum characters of a text file that Slack gives with the file."""


class Uploads(Town):
    """Keep files, and make of messages what others share."""

    def file(
        self, name: str, data: bytes, mimetype: str, user: User, *, stub: bool = False
    ) -> File:
        """Have someone upload a file; of a `stub` Slack gives no more than its id."""
        made = File(self.world.new_id("F"), name, mimetype, data, team_id=user.team_id)
        address = f"{self.base}/files-pri/{user.team_id}-{made.id}"
        made.json = {
            "id": made.id,
            "created": int(self.unix()),
            "timestamp": int(self.unix()),
            "name": name,
            "title": name,
            "mimetype": mimetype,
            "filetype": name.rpartition(".")[2],
            "pretty_type": name.rpartition(".")[2].upper(),
            "user": user.id,
            "user_team": user.team_id,
            "editable": False,
            "size": len(data),
            "mode": "hosted",
            "is_external": False,
            "is_public": True,
            "url_private": f"{address}/{name}",
            "url_private_download": f"{address}/download/{name}",
            "permalink": f"{self.base}/files/{user.id}/{made.id}/{name}",
            "has_rich_preview": False,
            "file_access": "check_file_info" if stub else "visible",
        }
        self.world.files[made.id] = made
        return made

    def snippet(self, name: str, text: str, user: User) -> File:
        """Have someone make a snippet; Slack says how it begins with the file."""
        made = self.file(name, text.encode(), "text/plain", user)
        preview = text[:PREVIEW]
        made.json |= {
            "mode": "snippet",
            "editable": True,
            "preview": preview,
            "preview_is_truncated": preview != text,
            "lines": len(text.splitlines()),
            "lines_more": len(text.splitlines()) - len(preview.splitlines()),
        }
        return made

    def mail(self, subject: str, text: str, sender: str, user: User) -> File:
        """Have a mail come to a channel's address; `sender` is a name, and `user` is Slackbot."""
        address = f"{sender.lower()}@mail.invalid"
        made = self.file(subject, f"<p>{text}</p>".encode(), "text/html", user)
        made.json |= {
            "mode": "email",
            "filetype": "email",
            "subject": subject,
            "plain_text": text,
            "preview_plain_text": text[:PREVIEW],
            "from": [{"address": address, "name": sender, "original": f"{sender} <{address}>"}],
            "to": [{"address": "room@works.invalid", "name": "", "original": "room@works.invalid"}],
            "cc": [],
            "headers": {
                "date": "Fri, 27 Nov 2026 09:30:00 +0100",
                "message_id": "<1@mail.invalid>",
            },
            "attachments": [],
        }
        return made

    def shared(self, message: Message, author: User) -> JsonObject:
        """Return the attachment that a message becomes where it is shared."""
        return {
            "is_share": True,
            "is_msg_unfurl": True,
            "from_url": f"{self.base}/archives/{message.channel_id}/p{message.ts.replace('.', '')}",
            "channel_id": message.channel_id,
            "author_id": author.id,
            "author_name": author.real_name,
            "ts": message.ts,
            "text": message.text,
            "message_blocks": [
                {
                    "team": author.team_id,
                    "channel": message.channel_id,
                    "ts": message.ts,
                    "message": {"blocks": message.blocks},
                }
            ],
            "files": list(message.json.get("files", [])),
            "mrkdwn_in": ["text"],
            "fallback": f"[{message.ts}] {author.name}: {message.text[:100]}",
            "footer": "Slack Conversation",
        }

    def _shared(self, file: File, channel: Channel) -> JsonObject:
        file.channels.append(channel.id)
        if file.json["file_access"] == "visible":
            return file.json
        told = {name: file.json[name] for name in ("id", "file_access")}
        return told | {"mode": "file_access"}
