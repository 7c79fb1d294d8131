"""Event logs, which keep a session's events as JSON lines next to the notes, and the spool that hooks write to."""
