"""What other programs start, and our entries in their settings."""
