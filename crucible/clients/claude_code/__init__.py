"""Claude Code: its profile, its hook settings, and the conversion of its transcripts to events."""
