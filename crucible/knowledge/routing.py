"""What becomes of a failure that was attributed: kept, proposed, or passed over.

Owns the two thresholds of the user's learning plan.  Keeping and asking are their callers'.
"""

from __future__ import annotations

from enum import StrEnum

from crucible.knowledge.model import Attribution

__all__ = ["CAPTURED", "PROPOSED", "Route", "route"]

CAPTURED = 0.85
"""From this confidence on a preventable failure is kept without asking."""

PROPOSED = 0.6
"""From this confidence on a preventable failure is proposed."""


class Route(StrEnum):
    """What becomes of an attributed failure."""

    CAPTURE = "capture"
    PROPOSE = "propose"
    SKIP = "skip"


def route(attribution: Attribution) -> Route:
    """By the category's preventability and the confidence alone; a confidence that is no number is none."""
    if not attribution.preventable:
        return Route.SKIP
    if attribution.confidence >= CAPTURED:
        return Route.CAPTURE
    return Route.PROPOSE if attribution.confidence >= PROPOSED else Route.SKIP
