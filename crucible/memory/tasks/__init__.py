"""The tasks that sessions and clients know of: which are at work, ready or waiting, and what is known for each."""
