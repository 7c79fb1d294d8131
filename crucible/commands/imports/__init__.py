"""Transcripts into a vault: created, updated, unchanged, unreadable."""
