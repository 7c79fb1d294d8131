"""Search on a team's PostgreSQL server, which vaults push their notes to.

Start with `open_postgres` and `open_pusher` in `team_recall`. The ranking is that of `embedded`.
"""
