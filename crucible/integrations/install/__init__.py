"""Our entries in other programs' settings."""
