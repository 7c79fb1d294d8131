"""What waits for a human, over all sessions."""
