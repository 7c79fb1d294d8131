"""What is wrong with a vault and its surroundings, and what mends it."""
