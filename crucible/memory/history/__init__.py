"""History: what sessions came to, each in a note of its own that outlives the details."""
