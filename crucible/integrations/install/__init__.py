"""Our entries in the settings of clients and in git's hooks."""
