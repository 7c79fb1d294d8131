"""Check a vault: problems of session notes, and secrets in what is kept or about to be committed."""
