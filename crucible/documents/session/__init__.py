"""Session notes: read them into frozen values, render new ones, edit them, and merge transcripts into them."""
