"""`cru mcp`: recall, knowledge and sessions as tools that an agent calls over the Model Context Protocol.

Answers quote the vault as data: in a fence, after a line that says so, and scanned for secrets again.
"""
