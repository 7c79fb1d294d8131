"""The `cru` command: each command parses its options, calls one package below, and shows the result.

One module holds a command or a group of commands.  Main names: `main` turns errors into exit codes; `COMMANDS` is the
table of commands, whose modules are imported when they are called; `open_vault` opens the vault of the options;
`query_index` queries its index; `write_rows` writes tables, JSON, TOON and paths.

    crucible.cli.main.main(["session", "list", "--format", "json"])

Only this package knows click.  It must not decide what a session means, nor edit notes.
"""
