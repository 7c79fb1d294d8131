"""Bookmarks, which record where a session stopped, and the tickets that prove that `cru` resumed a session."""
