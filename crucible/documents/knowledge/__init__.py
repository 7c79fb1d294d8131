"""What a knowledge item is, and its note."""
