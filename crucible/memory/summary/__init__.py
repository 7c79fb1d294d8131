"""The running brief of a session: what its earlier phases come to, in at most 300 words."""
