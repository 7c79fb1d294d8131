"""Start clients: in the user's terminal, or to answer one question."""
