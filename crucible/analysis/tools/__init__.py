"""What a session's tool calls did, the same for every client."""
