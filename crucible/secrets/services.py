"""Secrets without a form of their own, told by the name of the service before them: `datadog: <32 hex digits>`.

A table of data: name, the service's names, what the secret looks like.  Where the name of the value says `key`, `token` or
`secret` too, `assignments` finds it already; the rules here give it a better name and find it where nothing says so.
"""

from __future__ import annotations

from crucible.secrets.rules import Rule, read_table
from crucible.secrets.values import is_chance, is_dummy

__all__ = ["service_rules"]

_AROUND = r"""(?i:[a-z]*)[\w.-]{0,30}\\{0,8}["'`]?[\])]?[ \t]{0,8}(?:=>|:{1,2}=?|={1,2}|,|->)[ \t]{0,8}\\{0,8}["'`]?(?P<s>{})(?![A-Za-z0-9_/+=-])"""

_SERVICES = r"""
algolia-key | algolia | [0-9a-f]{32}
azure-key | azure | (?:[0-9a-f]{32}|[A-Za-z0-9]{84}|[A-Za-z0-9+/]{86}==)
cloudflare-key | cloudflare | (?:[0-9a-f]{37}|[A-Za-z0-9_-]{40})
datadog-key | datadog dd_a dd-a | [0-9a-f]{32}(?:[0-9a-f]{8})?
deepgram-key | deepgram | [0-9a-f]{40}
discord-secret | discord | [A-Za-z0-9_-]{32}
fastly-token | fastly | [A-Za-z0-9_-]{32}
heroku-key | heroku | [0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}
linear-secret | linear | [0-9a-f]{32}
okta-token | okta | [A-Za-z0-9_-]{42}
sentry-token | sentry | [0-9a-f]{64}
twilio-token | twilio | [0-9a-f]{32}
vercel-token | vercel | [A-Za-z0-9]{24}
wandb-key | wandb | [0-9a-f]{40}
"""


def service_rules() -> list[Rule]:
    """The rules of all services."""
    return list(read_table(_SERVICES, _accept, _AROUND))


def _accept(value: str) -> bool:
    return is_chance(value) and not is_dummy(value)
