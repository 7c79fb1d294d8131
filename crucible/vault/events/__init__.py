"""A session's whole events, kept as JSON lines beside the notes, and the spool that hooks write to."""
