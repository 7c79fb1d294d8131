"""Note files: finding, reading, creating, saving and locking them, and the links between them."""
