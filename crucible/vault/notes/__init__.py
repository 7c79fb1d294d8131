"""Note files: find, read, create, save and lock them, and resolve the links between them."""
