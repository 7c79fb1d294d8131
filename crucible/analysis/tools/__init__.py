"""Read tool calls and shell commands as acts, in the same form for every client."""
