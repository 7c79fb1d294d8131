"""Zed: its profile, and the conversion of its agent threads to events."""
