"""What can go wrong between us and a platform.

ChannelError
+-- ChannelUnfit     the channel cannot run as it is set up; says the remedy; not restarted
+-- ChannelDown      not connected now; what is to be sent waits
+-- SendRefused      the platform will never take this message: not tried again
+-- SendDelayed      not now; `retry_after` in seconds
+-- PlaceGone        the draft that a message replaces is not there any more: send it anew
+-- SendAmbiguous    the request was written and its answer never read
+-- InboundRefused   what came in cannot be taken; the sentence is for who sent it
+-- MediaRefused     what came with a message cannot be shown; the sentence tells why
"""

from __future__ import annotations


class ChannelError(Exception):
    """The root of every error of this package."""


class ChannelUnfit(ChannelError):
    """The channel cannot run as it is set up: the message names the remedy; a restart is no use."""


class ChannelDown(ChannelError):
    """The channel is not connected now; what is to be sent waits for it."""


class SendRefused(ChannelError):
    """The platform will never take this message."""


class PlaceGone(ChannelError):
    """The message that was to be edited is not there any more; nothing was sent."""


class SendDelayed(ChannelError):
    """The platform takes nothing for this chat now."""

    def __init__(self, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__(f"the platform asks to wait for {retry_after:g} s")


class SendAmbiguous(ChannelError):
    """The request went out and no answer came back: it may have arrived."""


class InboundRefused(ChannelError):
    """What came in cannot be taken; the message is for the person who sent it."""


class MediaRefused(ChannelError):
    """What came with a message cannot be shown; the message is for the model and the person."""
