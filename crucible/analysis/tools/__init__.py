"""What a session did, act by act, whichever client's tools it was done with."""
