"""One package per use case; these packages never import each other."""
