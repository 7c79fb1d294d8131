"""OpenCode: its profile, and the conversion of the sessions in its database or files to events."""
