"""Build a briefing: what an agent should know before work begins, from the entire vault, within a token budget.

The package decides which facts are shown, their order, and what is cut first. Main names: `brief` (a briefing),
`digest_of` (a dozen lines), `find_position`, `load_profile`, `Quoter`.

    briefing = brief(vault, request, sources, quoter=quoter, counter=counter, on_error=warn)

It does not deliver the briefing: a hook, a command or MCP prints it.
"""
