"""Which template a step's prompt is made with: the vault's own `.crucible/templates/step.md.j2` where its user accepted that, else ours.

Owns what it is given and must print.  Finding it is `vault.templates`'.
"""

from __future__ import annotations

from crucible.execution.prompting import REQUIRED, VARIABLES
from crucible.rendering import Renderer
from crucible.settings import VaultSettings
from crucible.vault.templates import load_template

__all__ = ["TEMPLATE", "find_template"]

TEMPLATE = "step.md.j2"


def find_template(settings: VaultSettings) -> Renderer:
    """The template for steps in a vault with these settings; `CrucibleError` in one line for one that is broken."""
    return load_template(settings, TEMPLATE, names=VARIABLES, required=REQUIRED)
