"""`cru mcp`: recall, knowledge and sessions as tools that an agent calls over the Model Context Protocol.

Answers quote the vault as data: redacted again, in a fence, after a line that marks it as data.
"""
