"""Histories: a summary note for each session, and the memory lines (decisions, lessons, todos) of all sessions."""
