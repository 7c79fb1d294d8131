"""The tables of a team's ClickHouse server, for `team`, over its HTTP interface."""
