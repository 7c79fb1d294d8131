"""What a session note means: read it, edit it, record events into it."""
