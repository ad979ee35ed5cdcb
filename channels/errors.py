"""The errors that channels raise when something goes wrong with a platform.

ChannelError
+-- ChannelUnfit     the channel cannot run with its settings; it is not restarted
+-- ChannelDown      not connected; outgoing messages wait
|   +-- SendPostponed    nothing was sent, and it waits no longer than a question may
|       +-- NotThePlatform   something in front of the platform answered in its place
+-- SendRefused      the platform will never accept this message; it is not sent again
|   +-- Unchangeable     a new message can take the place of the draft to be edited
|   +-- TooLarge         it may accept the message in smaller parts
+-- SendDelayed      the chat accepts nothing for `retry_after` seconds
+-- DraftGone        the draft to be edited no longer exists; send a new message
+-- SendAmbiguous    the request was sent, but no answer came; it may have arrived
+-- InboundRefused   a person's message cannot be accepted
+-- MediaRefused     a file cannot be fetched
"""

from __future__ import annotations

from channels.checkup import Trouble


class ChannelError(Exception):
    """The base class of every error in this package.

    trouble  the known trouble that the error means, which then provides its sentence
    detail   what is special about this very case, without secrets
    """

    def __init__(self, *args: object, trouble: Trouble | None = None, detail: str = "") -> None:
        self.trouble = trouble
        self.detail = detail
        sentence = () if args or trouble is None else (trouble.sentence(detail),)
        super().__init__(*args, *sentence)


class ChannelUnfit(ChannelError):
    """The channel cannot run with its settings; the error message says how to fix them."""


class ChannelDown(ChannelError):
    """The channel is not connected; outgoing messages wait until it is."""


class SendPostponed(ChannelDown):
    """Nothing was sent; the message waits, but not longer than a question may."""


class NotThePlatform(SendPostponed):
    """Something in front of the platform answered in its place; the request did not reach it."""


class SendRefused(ChannelError):
    """The platform will never accept this message.

    explanation  the trouble that explains it to the person, if it is known
    closed       whether the chat takes nothing at all from the agent
    """

    def __init__(
        self,
        *args: object,
        trouble: Trouble | None = None,
        detail: str = "",
        explanation: Trouble | None = None,
        closed: bool = False,
    ) -> None:
        self.explanation = explanation
        self.closed = closed
        super().__init__(*args, trouble=trouble, detail=detail)


class Unchangeable(SendRefused):
    """The draft to be edited is there, and takes no other text; nothing was sent."""


class TooLarge(SendRefused):
    """The message is too large for the platform, or for something in front of it."""


class DraftGone(ChannelError):
    """The draft to be edited no longer exists; nothing was sent."""


class SendDelayed(ChannelError):
    """The platform accepts nothing for this chat for `retry_after` seconds."""

    def __init__(self, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__(f"the platform asks to wait for {retry_after:g} s")


class SendAmbiguous(ChannelError):
    """The request was sent but got no answer; the message may have arrived."""


class InboundRefused(ChannelError):
    """A message cannot be accepted; the error message is shown to its author."""


class MediaRefused(ChannelError):
    """A file cannot be fetched; the error message is shown to the model and the author."""
