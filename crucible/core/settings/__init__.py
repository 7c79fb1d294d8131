"""Settings of the user and of a vault, and the record of what the user trusts."""
