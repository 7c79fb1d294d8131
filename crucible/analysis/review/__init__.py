"""Ask the user's agent what mattered in a session, and keep the claims that pass a check against its record."""
