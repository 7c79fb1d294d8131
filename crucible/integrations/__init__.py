"""Integration with other programs: the hooks and MCP server that clients start, and our entries in their settings.

`hooks.client_hook` handles a hook's payload, `hooks.sync` writes notes in the background, `mcp.server` serves
agents, `install` edits settings files and git hooks, and `doctor` runs the checks for `cru doctor`.

    write_down(root)  # import all sessions whose hooks were called

This package does not use click and prints nothing except the text for a client's start.
"""
