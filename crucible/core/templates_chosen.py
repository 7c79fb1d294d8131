"""Choose the template for a text: the vault's own in `.crucible/templates/` if the user accepted it, else the built-in one.

What a vault's template may do is `crucible.core.templates`'; what it is given and must print is the caller's.
"""

from __future__ import annotations

from collections.abc import Collection

from crucible.core.errors import VaultError
from crucible.core.settings.settings import VaultSettings
from crucible.core.templates import OwnTemplate, VaultTemplate


def load_template(
    settings: VaultSettings, name: str, *, names: Collection[str], required: Collection[str]
) -> OwnTemplate | VaultTemplate:
    """The template `name` for a vault with these settings.  Raises `VaultError` if it is broken."""
    own = next((one for one in settings.templates if one.name == name), None)
    if own is None:
        return OwnTemplate(name)
    try:
        text = own.data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise VaultError(f"{own.path}: it is not UTF-8", "save it as UTF-8, or move it away") from error
    return VaultTemplate(text, own.path, names=names, required=required)
