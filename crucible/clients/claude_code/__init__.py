"""Claude Code: its profile, its hook settings, and its transcripts as events."""
