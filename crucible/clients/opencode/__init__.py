"""OpenCode's sessions: where its rows are kept, their order, and what they mean."""
