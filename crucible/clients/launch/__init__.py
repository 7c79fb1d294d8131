"""Agent programs that `cru` starts itself."""
