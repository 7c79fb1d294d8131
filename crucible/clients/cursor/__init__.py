"""Cursor: its profile, and the conversion of its agent transcripts to events."""
