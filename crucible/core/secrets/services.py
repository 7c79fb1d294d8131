"""Secrets without a form of their own, told by the name of the service before them: `datadog: <32 hex digits>`.

A table of data: name, the service's names, what the secret looks like.  Where the name of the value says `key`, `token` or
`secret` too, `assignments` finds it already; the rules here give it a better name and find it where nothing says so.
"""

from __future__ import annotations

from crucible.core.secrets.rule import Rule, read_table
from crucible.core.secrets.secret_values import is_chance, is_dummy
from crucible.core.secrets.token_prefixes import is_random

_AROUND = (
    r"""[A-Za-z][\w.-]{0,60}\\{0,8}["'`]?[\])]?(?:[ \t]{1,4}(?:(?i:api|access|secret|auth|app|private|personal|account)[ _-]?){0,2}"""
    r"""(?i:key|token|secret|login|pat|sid)s?(?:[ \t](?:is|was))?[ \t]{1,4}|[ \t]{0,8}(?:(?i:api[ _-]?)?(?i:key|token|secret))?[ \t]{0,4}"""
    r"""(?:=>|:{1,2}=?|={1,2}|,|->)[ \t]{0,8})\\{0,8}["'`]?(?P<s>{})(?![A-Za-z0-9_/+=-])"""
)

_UUID = "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"

_SERVICES = r"""
abuseipdb-key | abuseipdb | [0-9a-f]{80}
algolia-key | algolia | [0-9a-f]{32}
amplitude-key | amplitude | [0-9a-f]{32}
assemblyai-key | assemblyai | [0-9a-f]{32}
azure-key | azure | (?:[0-9a-f]{32}|[A-Za-z0-9]{84}|[A-Za-z0-9+/]{86}==)
bitly-token | bitly | [0-9a-f]{40}
bugsnag-key | bugsnag | [0-9a-f]{32}
clarifai-key | clarifai | [0-9a-f]{32}
cloudflare-key | cloudflare | (?:[0-9a-f]{37}|[A-Za-z0-9_-]{40})
cloudinary-secret | cloudinary | [A-Za-z0-9_-]{27}
codecov-token | codecov | @UUID@
cohere-key | cohere | [A-Za-z0-9]{40}
coveralls-token | coveralls | [A-Za-z0-9]{33,37}
datadog-key | datadog dd_a dd-a | [0-9a-f]{32}(?:[0-9a-f]{8})?
deepgram-key | deepgram | [0-9a-f]{40}
discord-secret | discord | [A-Za-z0-9_-]{32}
elevenlabs-key | elevenlabs | [0-9a-f]{32}
etherscan-key | etherscan bscscan polygonscan | [A-Z0-9]{34}
fastly-token | fastly | [A-Za-z0-9_-]{32}
heroku-key | heroku | @UUID@
infura-key | infura | [0-9a-f]{32}
linear-secret | linear | [0-9a-f]{32}
linode-token | linode | [0-9a-f]{64}
logdna-key | logdna mezmo | [0-9a-f]{32}
loggly-token | loggly | @UUID@
mailjet-key | mailjet | [0-9a-f]{32}
mailtrap-key | mailtrap | [0-9a-f]{32}
meraki-key | meraki | [0-9a-f]{40}
mistral-key | mistral | [A-Za-z0-9]{32}
mixpanel-secret | mixpanel | [0-9a-f]{32}
okta-token | okta | [A-Za-z0-9_-]{42}
openweather-key | openweather | [0-9a-f]{32}
opsgenie-key | opsgenie | @UUID@
pagerduty-key | pagerduty | (?:[A-Za-z0-9_+-]{20}|[0-9a-f]{32})
pipedrive-token | pipedrive | [0-9a-f]{40}
plaid-secret | plaid | [0-9a-f]{30}
postmark-token | postmark | @UUID@
rapidapi-key | rapidapi | [A-Za-z0-9]{50}
rollbar-token | rollbar | [0-9a-f]{32}
sentry-token | sentry | [0-9a-f]{64}
shodan-key | shodan | [A-Za-z0-9]{32}
snyk-token | snyk | @UUID@
spotify-secret | spotify | [0-9a-f]{32}
sumologic-key | sumologic sumo_ | [A-Za-z0-9]{64}
todoist-token | todoist | [0-9a-f]{40}
trello-key | trello | (?:[0-9a-f]{64}|[0-9a-f]{32})
twilio-token | twilio | [0-9a-f]{32}
vercel-token | vercel | [A-Za-z0-9]{24}
virustotal-key | virustotal | [0-9a-f]{64}
wandb-key | wandb weights | [0-9a-f]{40}
zendesk-token | zendesk | [A-Za-z0-9]{40}
"""


def service_rules() -> list[Rule]:
    """The rules of all services."""
    return list(read_table(_SERVICES.replace("@UUID@", _UUID), _accept, _AROUND))


def _accept(value: str) -> bool:
    return (is_chance(value) or is_random(value)) and not is_dummy(value)
