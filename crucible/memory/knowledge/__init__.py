"""What is known over sessions: typed items, and why failures happened."""
