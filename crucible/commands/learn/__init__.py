"""Extract learning cases from sessions, review them and export them as training data."""
