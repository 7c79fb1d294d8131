"""Ask the user's agent what mattered in a session, and keep what holds of its answer; one loop for all that is asked."""
