"""Other agents' logs as events."""
