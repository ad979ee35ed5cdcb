"""`tapeway access` and `tapeway pair`: who may talk to the agent."""
