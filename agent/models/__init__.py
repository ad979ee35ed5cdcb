"""Models: OpenAI-compatible servers, an offline model, and wrappers that retry or fall back."""
