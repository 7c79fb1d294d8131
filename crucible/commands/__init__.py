"""One package per use case; they never import each other."""
