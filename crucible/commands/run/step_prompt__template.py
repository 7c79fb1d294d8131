"""The template of a step's prompt: the vault's own `.crucible/templates/step.md.j2` if the user accepted it, else the built-in one.

Owns what it is given and must print.  Finding it is `vault.templates`'.
"""

from __future__ import annotations

from crucible.commands.run.step_prompt import REQUIRED, VARIABLES
from crucible.core.rendering import Renderer
from crucible.core.settings.settings import VaultSettings
from crucible.core.templates_chosen import load_template

__all__ = ["TEMPLATE", "find_template"]

TEMPLATE = "step.md.j2"


def find_template(settings: VaultSettings) -> Renderer:
    """The template for steps in a vault with these settings.  Raises `CrucibleError` if it is broken."""
    return load_template(settings, TEMPLATE, names=VARIABLES, required=REQUIRED)
