"""Bookmarks: where a session stopped, for resuming it; and the tickets that prove a resumption."""
