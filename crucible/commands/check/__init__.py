"""Check a vault for problems in session notes, and for secrets in stored or staged files."""
