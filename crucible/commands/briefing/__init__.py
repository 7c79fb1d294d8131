"""What to know before work begins, from all that the vault holds, within a budget."""
