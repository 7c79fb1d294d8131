"""What is wrong with the session notes of a vault, each note by itself and all of them together."""
