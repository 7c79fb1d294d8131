"""Tokens that are a fixed prefix and a random body: `fc-<32 hex digits>`, `napi_<64 letters and digits>`.

A table of data: name, prefixes, alphabet and length of the body.  Tokens of several parts are in `providers`.
"""

from __future__ import annotations

import re
import string
from collections import defaultdict
from collections.abc import Iterator

from crucible.core.patterns import late_pattern
from crucible.core.secrets.randomness import changes
from crucible.core.secrets.rule import START, SecretRule
from crucible.core.secrets.secret_values import is_varied

_NO_HEX = "(?![0-9a-f]{20,}(?![A-Za-z0-9]))"
"""More letters than hexadecimal digits never come out as those alone: what does is a hash, `token-<sha1>`."""

_ALPHABETS = {
    "hex": "[0-9a-f]",
    "HEX": "[0-9a-fA-F]",
    "lower": "[a-z0-9]",
    "upper": "[A-Z0-9]",
    "mixed": "[A-Za-z0-9]",
    "url": "[A-Za-z0-9_-]",
    "base64": "[A-Za-z0-9+/]",
    "dots": "[A-Za-z0-9.]",
    "dotted": "[A-Za-z0-9._=-]",
    "any": "[A-Za-z0-9._+/=-]",
}

LONG = 20
"""A run of this many letters and digits is rarely a word."""

_PREFIXES = """
adafruit-key | aio_ | mixed 28
adyen-key | AQEyhm AQEhhm AQErhm AQEthm | base64 80-400
aiven-password | AVNS_ | url 19
alchemy-key | alcht_ | url 30-34
anyscale-key | esecret_ aph0_ | mixed 22-80
appveyor-token | appveyor-v2. | mixed 20
axiom-token | xaat- xapt- | uuid
bannerbear-key | bb_pr_ bb_ma_ | hex 30
brave-search-key | BSA | url 28
browserbase-key | bb_live_ | url 20-40
checkly-key | cu_ | hex 32
chromatic-token | chpt_ | mixed 12-40
chroma-key | ck- | mixed 40-48
clickhouse-key | 4b1d | mixed 38
closecrm-key | api_ | dots 45
cockroach-key | CCDB1_ | url 22-80
confluent-secret | cflt | base64 60
coze-token | czu_ czs_ cztei_ pat_ | mixed 40-90
cursor-key | crsr_ | hex 64
daytona-key | dtn_ | HEX 48-80
dash0-token | auth_ | mixed 32
databricks-secret | dose | hex 32
dependency-track-key | odt_ | mixed 32-50
dfuse-key | web_ server_ | lower 32
dify-key | app- dataset- | mixed 24
dnsimple-token | dnsimple_a_ dnsimple_u_ dnsimple_o_ | mixed 24-40
doppler-token | dp.said. | mixed 40-44
dub-key | dub_ | mixed 24
e2b-key | e2b_ | hex 32-64
elastic-cloud-key | essp_ essa_ | url 40-200
endorlabs-key | endr+ | url 16
fauna-key | fnAE fnAD fnAF fnAC | url 36
finage-key | API_KEY | upper 32
firecrawl-key | fc- | hex 32
firebase-server-key | :APA91b | url 120-180
fleetbase-key | flb_live_ flb_test_ | mixed 20
flexport-token | shltm_ | url 40
fullstory-key | na1. eu1. | base64 100
gitbook-token | gb_api_ | mixed 30-60
helicone-key | sk-helicone- pk-helicone- | url 20-60
honeycomb-key | hcaik_ hcalk_ hcbik_ hcxik_ hcamk_ hcaic_ hcalc_ hcblk_ | lower 26-64
instagram-token | IGQV IGQW IGAA | url 60-400
intercom-token | dG9rO | base64 40-80
jina-key | jina_ | url 40-80
jetbrains-token | perm: perm- | dotted 40-200
kong-token | kpat_ spat_ | mixed 30-60
klaviyo-key | pk_ | hex 34
letta-key | sk-let- | base64 40-140
liveblocks-key | sk_prod_ sk_dev_ | url 50-80
lob-key | live_ test_ live_pub_ test_pub_ | hex 31-35
llamacloud-key | llx- | mixed 48
locationiq-key | pk. | mixed 32
logfire-token | pylf_v1_us_ pylf_v1_eu_ pylf_v2_us_ pylf_v2_eu_ | mixed 40-60
mailersend-key | mlsn. | hex 64
mandrill-key | md- | url 22
mem0-key | m0- | mixed 40
midtrans-key | Mid-server- | url 24
mintlify-key | mint_dsc_ mint_ | mixed 22-40
modal-token | as- ak- | mixed 22
mollie-key | live_ test_ | mixed 30
mongodb-atlas-secret | mdb_sa_sk_ | url 40
neon-key | napi_ | lower 64
nightfall-key | NF- | mixed 32
nomic-key | nk- | url 43
nostr-key | nsec1 | lower 58
nylas-key | nyk_v0_ | mixed 48-80
omise-key | skey_test_ skey_live_ skey_ | lower 19
onfido-token | api_live. api_sandbox. api_live_us. api_live_ca. | url 10-80
openpipe-key | opk_ | hex 40-48
paddle-key | pdl_live_apikey_ pdl_sdbx_apikey_ pdl_live_ pdl_sdbx_ | url 40-80
pagarme-key | ak_live_ ak_test_ | mixed 30
pinterest-token | pina_ pinr | mixed 40-90
plane-key | plane_api_ | hex 32
polar-token | polar_oat_ polar_pat_ polar_whs_ polar_rt_ polar_at_ polar_cs_ | mixed 30-50
portainer-token | ptr_ | base64 40-60
promptlayer-key | pl_ | hex 32
pubnub-key | pub-c- sec-c- | url 36-60
ramp-secret | ramp_sec_ | mixed 48
retool-token | retool_01 retool_ | lower 24-40
rootly-key | rootly_ | hex 64
runpod-key | rpa_ | upper 36-60
runway-key | key_ | hex 128
salad-key | salad_cloud_ | url 14-240
salesforce-key | 3MVG9 | any 80-250
salesforce-refresh-token | 5AEP861 | any 80-250
scaleway-key | SCW | upper 17
scalingo-token | tk-us- | url 48
scrapfly-key | scp-live- scp-test- | hex 32
segment-token | sgp_ | mixed 64
settlemint-token | sm_pat_ sm_aat_ sm_sat_ | mixed 16
socket-token | sktsec_ | url 36-80
spectral-key | spu- | lower 32
statsig-key | secret- console- | mixed 40-46
steel-key | ste- | mixed 80-110
stytch-secret | secret-live- secret-test- project-live-secret- | url 30-50
supernotes-key | supernotes_sk- | mixed 40
tally-token | tly- | mixed 32-64
teamwork-token | tkn.v1_ | mixed 60-80
tigris-secret | tsec_ | url 40-80
tolgee-key | tgpat_ tgpak_ | lower 40-60
trello-token | ATTA | HEX 64-72
trigger-dev-key | tr_dev_ tr_prod_ tr_stg_ tr_preview_ tr_pat_ | mixed 20-48
trufflehog-secret | thog-secret- | hex 32
twelvelabs-key | tlk_ | upper 26-50
ubidots-token | BBFF- BBUS- A1E- BBAU- | mixed 30
unkey-key | unkey_ | mixed 20-40
valtown-token | vtwn_ | mixed 26-40
vantage-token | vntg_tkn_ | hex 32-40
vk-token | vk1.a. | url 80-250
voyage-key | pa- | url 43
wakatime-key | waka_ | uuid
windsurf-key | sk-ws-01- sk-ws- | url 30-120
xata-key | xau_ | mixed 40-60
xprv | xprv | mixed 107
youcom-key | ydc-sk- | url 20-80
"""


def prefix_rules() -> list[SecretRule]:
    """The rules that are tried where their prefix stands: those whose bodies need not be a run of letters and digits."""
    return [
        SecretRule(name, (prefix.lower(),), _pattern(prefix, body), _is_token)
        for name, prefix, body in read_prefixes()
        if not _is_run(body)
    ]


def run_rules() -> dict[str, list[SecretRule]]:
    """The rules that are tried where a long run of letters and digits stands, by what of their prefix is before the run."""
    rules: dict[str, list[SecretRule]] = defaultdict(list)
    for name, prefix, body in read_prefixes():
        if _is_run(body):
            rules[prefix.rstrip(_MIXED)].append(SecretRule(name, (), _pattern(prefix, body), _is_token))
    return rules


def is_random(body: str) -> bool:
    """Letters and digits in no order; words have no digits, and longer stretches of one case."""
    digits, cases = any(map(str.isdigit, body)), _UPPER.search(body) and _LOWER.search(body)
    if not digits and not cases:
        return False
    return changes(body) >= len(body) * (0.3 if cases else 0.15)


_UPPER, _LOWER = late_pattern("[A-Z]"), late_pattern("[a-z]")
_MIXED = string.ascii_letters + string.digits


def read_prefixes() -> Iterator[tuple[str, str, str]]:
    """The table: name, prefix, and alphabet and length of the body."""
    for line in filter(None, _PREFIXES.split("\n")):
        name, prefixes, body = (part.strip() for part in line.split("|"))
        for prefix in prefixes.split():
            yield name, prefix, body


def _is_run(body: str) -> bool:
    alphabet, _, length = body.partition(" ")
    return alphabet in {"hex", "HEX", "lower", "upper", "mixed"} and int(length.split("-")[0]) >= LONG


def _pattern(prefix: str, body: str) -> re.Pattern[str]:
    # After a letter or a digit a short prefix is the end of a word, as in `score_…`.
    return late_pattern(rf"{START}{re.escape(prefix)}{_expression(body)}(?![A-Za-z0-9])")


def _expression(body: str) -> str:
    if body == "uuid":
        return "[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
    alphabet, _, length = body.partition(" ")
    of_hash = "" if alphabet.lower() == "hex" or int(length.split("-")[0]) < LONG else _NO_HEX
    return f"{of_hash}{_ALPHABETS[alphabet]}{{{length.replace('-', ',')}}}"


def _is_token(token: str) -> bool:
    return is_random(token) and is_varied(token)
