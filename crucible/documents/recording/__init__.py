"""Fold the events of a transcript into a draft of a session, and turn the draft into the note's `Session`."""
