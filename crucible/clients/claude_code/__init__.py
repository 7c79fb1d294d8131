"""The rows of Claude Code's transcripts; `transcript.claude_code` is the way in."""
