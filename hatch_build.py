"""Metadata that depends on the repository's address: the package's links, and absolute links in its README.

The address is the clone's remote `origin`, so a fork's packages link to the fork.  Without one, links to files become
plain text: a package's page cannot resolve them.
"""

import re
import subprocess
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_REMOTE = re.compile(r"(?:\w+://)?(?:[^/@\s]+@)?(git(?:hub|lab)\.com)[:/]([\w.-]+(?:/[\w.-]+?)+?)(?:\.git)?/?")
_LINK = re.compile(r"^```.*?^```$|(!?)\[((?:[^][]|\[[^][]*\])*)\]\((?![a-z]+:|#)([^)\s]+)\)", re.MULTILINE | re.DOTALL)


class RepositoryMetadata(MetadataHookInterface):
    """Set `readme` and `urls`.  A source distribution keeps them, so a wheel built from one is the same."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Add our fields to the project's metadata."""
        address = address_of(_origin(self.root))
        readme = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": with_absolute_links(readme, address)}
        metadata["urls"] = urls_of(address) if address else {}


def address_of(remote: str) -> str:
    """Return the web address of a repository, without any credentials; "" for a host whose pages we do not know."""
    found = _REMOTE.fullmatch(remote)
    return f"https://{found[1]}/{found[2]}" if found else ""


def urls_of(address: str) -> dict[str, str]:
    """Return the links of a package's page."""
    return {
        "Source": address,
        "Documentation": f"{address}/blob/HEAD/docs/README.md",
        "Changelog": f"{address}/blob/HEAD/CHANGELOG.md",
        "Issues": f"{address}/issues",
    }


def with_absolute_links(text: str, address: str) -> str:
    """Return Markdown whose links to files lead to the repository; without an address, only their text is left."""

    def changed(found: re.Match[str]) -> str:
        mark, label, target = found.groups()
        if target is None:  # a code block
            return found[0]
        if address:
            return f"{mark}[{label}]({address}/{'raw' if mark else 'blob'}/HEAD/{target})"
        return "" if mark else label

    return _LINK.sub(changed, text)


def _origin(root: str) -> str:
    try:
        done = subprocess.run(
            ["git", "remote", "get-url", "origin"], cwd=root, capture_output=True, text=True, check=False
        )
    except OSError:
        return ""
    return done.stdout.strip()
