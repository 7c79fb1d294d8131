"""Cline CLI: its profile, and the conversion of its logs to events."""
