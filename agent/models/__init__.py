"""The models: OpenAI-compatible servers, the offline model, and wrappers around them."""
