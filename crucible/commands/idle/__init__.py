"""Pause active sessions that have been quiet for the idle time."""
