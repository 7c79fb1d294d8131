"""What is kept across sessions: knowledge, histories, tasks, bookmarks, memory lines and briefs.

Main names: `knowledge.add_item.add_item` adds a knowledge item, `history.history_update.make_history` writes a
session's history note, `tasks.overview.overview` lists tasks of all sessions, `bookmarks.make_bookmark.make_bookmark`
records where a session stopped, and `summary.brief_text.update_brief` summarises its earlier phases.

    make_bookmark(vault, session, StopReason.PAUSED, now=now, redact=redact, note="next: the parser")

It knows no command line, no hooks and no client's formats.
"""
