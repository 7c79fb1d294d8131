"""Secrets generated during a test, since the repository must not contain any, not even false ones."""

from __future__ import annotations

import secrets
import string

_LETTERS = string.ascii_letters + string.digits


def make_secrets() -> dict[str, str]:
    """By the names that scenarios use: an access key of AWS with its secret, and a token of GitHub's."""
    upper = string.ascii_uppercase + "234567"
    return {
        "aws": "AKIA" + "".join(secrets.choice(upper) for _ in range(16)),
        "aws_secret": "".join(secrets.choice(_LETTERS + "/+") for _ in range(40)),
        "github": "ghp_" + "".join(secrets.choice(_LETTERS) for _ in range(36)),
    }
