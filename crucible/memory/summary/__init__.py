"""The brief of a session: a summary of its earlier phases in at most 300 words, stored in its note."""
