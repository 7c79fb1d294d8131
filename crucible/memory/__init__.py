"""What is kept across sessions."""
