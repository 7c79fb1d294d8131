"""What several commands take: the argument that names a session, and `options`."""

from __future__ import annotations

from crucible.cli.options import BEGIN, END, Moment, format_option
from crucible.cli.session_ref import SESSION, SessionRef

__all__ = ["BEGIN", "END", "SESSION", "Moment", "SessionRef", "format_option"]
