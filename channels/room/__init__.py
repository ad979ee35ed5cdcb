"""The base of channels whose rooms the gateway serves itself, without a platform."""
