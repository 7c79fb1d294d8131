"""The `cru` command line: each command parses its options, calls one package below, and shows the result.

Each module holds a command or a group of commands.  `main` turns errors into exit codes.  `COMMANDS` lists all
commands; their modules are imported only when they are called.  `open_vault` opens the vault that the options select,
`query_index` queries its index, and `write_rows` writes tables, JSON, TOON and paths.

    crucible.cli.main.main(["session", "list", "--format", "json"])

Only this package imports click.  It must not interpret sessions or edit notes itself.
"""
