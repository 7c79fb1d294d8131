"""The user's and the vault's settings, and what the user trusts."""
