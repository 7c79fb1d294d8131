"""A session gets another id, and every link in the vault follows."""
