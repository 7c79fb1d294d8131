"""Goose: its profile, and the conversion of its sessions to events."""
