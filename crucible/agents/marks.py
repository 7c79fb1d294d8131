"""The two marks on an agent's session that `cru` itself started.

Such a session is nobody's work: no hook captures it and no import takes it in.  It imports nothing, since hooks look
here before anything else.
"""

__all__ = ["OWN_ENVIRONMENT", "OWN_MARK"]

OWN_MARK = "<!-- cru:own-session -->"
"""Stands in the first prompt: of all that we can set, only the prompt is in the client's log."""

OWN_ENVIRONMENT = "CRUCIBLE_OWN_SESSION"
"""Set, to anything, in the environment: hooks inherit it from the client."""
