"""Channels of our own: rooms without a platform, served by the gateway."""
