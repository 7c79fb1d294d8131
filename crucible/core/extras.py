"""The command that adds an optional part of Crucible to this installation."""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

from crucible.core.command_lines import hook_command_line

DISTRIBUTION = "crucible-vault"
"""The name that pip, pipx and uv know; the package to import is `crucible`."""


def install_command(extra: str) -> str:
    """Return the command that adds an extra, for the tool that installed Crucible: pipx, uv or pip.

    Without an extra, it is the command that installs Crucible itself.
    """
    wanted, is_editable = _requirement(extra)
    return hook_command_line([*_installer(Path(sys.prefix)), *(["--editable"] if is_editable else []), wanted])


def is_temporary() -> bool:
    """Return whether `uvx` runs Crucible: its environment is in uv's cache, and may be gone tomorrow."""
    return any(part.startswith("archive-v") for part in Path(sys.prefix).parts)


def _installer(environment: Path) -> list[str]:
    if (environment / "pipx_metadata.json").exists():
        return ["pipx", "install", "--force"]
    if (environment / "uv-receipt.toml").exists() or is_temporary():
        return ["uv", "tool", "install", "--force"]
    python = Path(sys.executable).as_posix()
    if find_spec("pip"):
        return [python, "-m", "pip", "install"]
    return ["uv", "pip", "install", "--python", python]


def _requirement(extra: str) -> tuple[str, bool]:
    """Return what to install: the name, a path or a repository.  Also return whether it is an editable folder."""
    # Late: these are slow to import, and only error messages need them.
    import json  # noqa: PLC0415
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415
    from urllib.parse import urlsplit  # noqa: PLC0415
    from urllib.request import url2pathname  # noqa: PLC0415

    try:
        origin = json.loads(distribution(DISTRIBUTION).read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    url, extras = origin.get("url", ""), f"[{extra}]" if extra else ""
    if "vcs_info" in origin:
        return f"{DISTRIBUTION}{extras} @ {origin['vcs_info'].get('vcs', 'git')}+{url}", False
    if urlsplit(url).scheme != "file":
        return DISTRIBUTION + extras, False
    path = Path(url2pathname(urlsplit(url).path)).as_posix()
    return path + extras, bool(origin.get("dir_info", {}).get("editable"))
