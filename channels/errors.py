"""What can go wrong between the gateway and a platform.

ChannelError
+-- ChannelUnfit     the channel cannot run with its settings; it is not restarted
+-- ChannelDown      not connected; outgoing messages wait
+-- SendRefused      the platform will never accept this message; it is not sent again
+-- SendDelayed      not now; `retry_after` in seconds
+-- DraftGone        the draft to be edited no longer exists; send a new message
+-- SendAmbiguous    the request was written, but no answer was read
+-- InboundRefused   a person's message cannot be accepted
+-- MediaRefused     a file cannot be fetched
"""

from __future__ import annotations


class ChannelError(Exception):
    """The root of every error of this package."""


class ChannelUnfit(ChannelError):
    """The channel cannot run with its settings; the message names the remedy."""


class ChannelDown(ChannelError):
    """The channel is not connected; outgoing messages wait."""


class SendRefused(ChannelError):
    """The platform will never accept this message."""


class DraftGone(ChannelError):
    """The message to be edited no longer exists; nothing was sent."""


class SendDelayed(ChannelError):
    """The platform accepts nothing for this chat for `retry_after` seconds."""

    def __init__(self, retry_after: float) -> None:
        self.retry_after = retry_after
        super().__init__(f"the platform asks to wait for {retry_after:g} s")


class SendAmbiguous(ChannelError):
    """The request was written and no answer came back; it may have arrived."""


class InboundRefused(ChannelError):
    """A message cannot be accepted; the sentence is for its author."""


class MediaRefused(ChannelError):
    """A file cannot be shown; the sentence is for the model and the author."""
