"""The one seam that every event passes before anything of it is written, to a note or to the flight recorder.

Owns the type of that seam and the redactor that takes nothing out.  What a secret looks like comes later, and from
settings; no writer may take an event that has not been through a `Redactor`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from crucible.transcript.events import Event

__all__ = ["Redactor", "keep_all"]

Redactor: TypeAlias = Callable[[Event], Event]
"""An event in, the event without its secrets out: the same type, the same place, only texts changed."""


def keep_all(event: Event) -> Event:
    """Take nothing out."""
    return event
