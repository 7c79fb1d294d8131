"""Start the process that updates recall's index after notes were written, so that the next query need not wait."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from crucible.core.background import start_in_background
from crucible.core.settings.settings import RecallSettings

BACKEND_VARIABLE, EMBEDDED = "CRUCIBLE_RECALL_BACKEND", ("", "embedded")
"""The environment variable that overrides the backend, and the names of the vault's own index."""


def update_later(root: str, recall: RecallSettings, environment: Mapping[str, str]) -> None:
    """Start the update, unless the settings disable it, a server answers, or this is a CI job (`CI` is set)."""
    is_own = (environment.get(BACKEND_VARIABLE) or recall.backend) in EMBEDDED
    if recall.background and is_own and not environment.get("CI"):
        with suppress(OSError):  # the next query updates the index
            start_in_background("crucible.memory.recall_update", root)
