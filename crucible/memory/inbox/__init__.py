"""Pending items that wait for the user, over all sessions."""
