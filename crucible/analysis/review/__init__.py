"""Ask the user's agent what mattered in a session, and keep the claims that the session's record supports."""
