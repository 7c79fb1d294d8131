"""What is worth keeping of a session: found, weighed, asked about and kept."""
