"""The `cru` command."""
