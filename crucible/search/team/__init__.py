"""Search on a team's server, to which vaults push their notes: what does not depend on the kind of server.

`postgres` and `clickhouse` implement the protocols `TeamTables` and `PushTables`; open them with `team_servers`.  Ranking
is shared with `embedded`.
"""
