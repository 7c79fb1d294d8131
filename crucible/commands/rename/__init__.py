"""Rename a session with its links, event log, bookmarks, tasks and history; an interrupted rename can be finished."""
