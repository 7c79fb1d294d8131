"""Pause active sessions after the idle time."""
