"""Follow a vault and keep its index up to date."""
