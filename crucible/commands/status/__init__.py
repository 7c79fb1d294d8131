"""What the status page shows about a project: its last sessions, what is paused and why, and what waits for the user."""
