"""Capture: detect what is worth keeping of a session, ask about it, and keep it."""
