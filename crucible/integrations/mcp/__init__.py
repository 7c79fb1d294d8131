"""`cru mcp`: recall, knowledge and sessions as tools that an agent calls over the Model Context Protocol.

Owns what each tool takes and says.  Every text of the vault is data in an answer: fenced, under a line that says so, and looked
through for secrets once more.  What is searched, kept and recorded is for the rooms below.
"""
