"""Search on a team's server, to which vaults push their notes; the part that is the same for all kinds of servers.

`postgres` and `clickhouse` implement the protocols `TeamTables` and `PushTables`; open them with `team_servers`.  Ranking
is shared with `embedded`.
"""
