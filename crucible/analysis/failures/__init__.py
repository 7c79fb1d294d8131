"""Why something failed: failure reports and their categories."""
