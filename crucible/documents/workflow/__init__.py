"""What a workflow note means."""
