"""What everything builds on and that knows nothing of sessions: errors, settings, files, locks, templates, secrets, tokens."""
