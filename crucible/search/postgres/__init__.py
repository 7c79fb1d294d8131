"""The tables of a team's PostgreSQL server, for `team`."""
