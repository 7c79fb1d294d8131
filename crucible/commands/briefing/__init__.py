"""Build a briefing: what an agent should know before work begins, from the whole vault, within a budget of tokens.

Owns which facts are shown, their order, and what is cut first. Main names: `brief` (a briefing), `digest_of` (a dozen
lines), `find_position`, `load_profile`, `Quoter`.

    briefing = brief(vault, request, sources, quoter=quoter, counter=counter, on_error=warn)

Must not know how a briefing is delivered: a hook, a command or MCP prints it.
"""
