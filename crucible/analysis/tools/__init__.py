"""Read tool calls and shell commands as acts, the same for every client."""
