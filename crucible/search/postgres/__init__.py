"""Search on a team's PostgreSQL server, to which vaults push their notes.

Start with `open_postgres` and `open_pusher` in `team_recall`.  Ranking is shared with `embedded`.
"""
