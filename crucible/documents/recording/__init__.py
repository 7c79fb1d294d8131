"""Fold the events of a transcript into the session that a note will hold."""
