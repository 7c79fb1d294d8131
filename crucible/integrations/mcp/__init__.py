"""`cru mcp`: recall, knowledge and sessions as tools that an agent calls over the Model Context Protocol.

Every text of the vault is data in an answer: fenced, under a line that says so, and scanned for secrets again.
"""
