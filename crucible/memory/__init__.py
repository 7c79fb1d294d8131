"""What is kept across sessions: knowledge, histories, tasks, bookmarks, memory lines and briefs.

- `knowledge.add_item.add_item` adds a knowledge item
- `history.history_update.make_history` writes a session's history note
- `tasks.overview.overview` lists the tasks of all sessions
- `bookmarks.make_bookmark.make_bookmark` records where a session stopped
- `summary.brief_updates.update_brief` summarizes a session's earlier phases

    make_bookmark(vault, session, StopReason.PAUSED, now=now, redact=redact, note="next: the parser")

This package does not depend on the command line, hooks or clients' log formats.
"""
