"""Where notes live: files, names, locks, links, queries."""
