"""OpenCode: its profile, and the sessions in its database or files as events."""
