"""A team's search server on PostgreSQL."""
