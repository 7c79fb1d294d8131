"""Tasks of sessions and clients: their state, their annotations, and the context for the agent that takes up a task."""
