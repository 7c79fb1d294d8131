"""What happened in a session: what each tool call did, and the findings."""
