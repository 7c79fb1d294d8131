"""The kinds of secrets that both halves have: formats as their providers publish them, or as their clients write them.

Owns formats only.  Values differ in the two halves since their seeds do.
"""

from __future__ import annotations

import base64
import json
import string
import zlib
from random import Random

from samples.secrets.building import Kind, fill

_B62 = string.digits + string.ascii_uppercase + string.ascii_lowercase


def _github(rng: Random) -> str:
    """Thirty random characters and their checksum."""
    body, check, digits = fill("{b:30}", rng), "", 0
    digits = zlib.crc32(body.encode())
    for _ in range(6):
        digits, one = divmod(digits, 62)
        check = _B62[one] + check
    return rng.choice(("ghp_", "gho_", "ghu_", "ghs_", "ghr_")) + body + check


def encoded(rng: Random, size: int) -> str:
    """Random bytes in base64."""
    return base64.b64encode(rng.randbytes(size)).decode()


def _url_encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def jwt(rng: Random) -> str:
    """Signed by HMAC, RSA or an elliptic curve, with claims as servers make them."""
    algorithm, size = rng.choice((("HS256", 32), ("RS256", 256), ("ES256", 64)))
    head: dict[str, object] = {"alg": algorithm, "typ": "JWT"}
    if rng.random() < 0.4:
        head["kid"] = fill("{h:16}", rng)
    claims = {
        "sub": fill("{d:10}", rng),
        "iat": rng.randint(1_700_000_000, 1_800_000_000),
        "scope": "read write",
    }
    parts = [json.dumps(part, separators=(",", ":")).encode() for part in (head, claims)]
    return ".".join([*map(_url_encoded, parts), _url_encoded(rng.randbytes(size))])


def pem(label: str, rng: Random, size: int, width: int = 64) -> str:
    """A private key's block; each line of its body is to go."""
    head = {"OPENSSH ": b"openssh-key-v1\0\0\0\0\4none", "RSA ": b"\x30\x82\x04\xa4\x02\x01\0"}.get(
        label, b"\x30\x82\x01"
    )
    body = base64.b64encode(head + rng.randbytes(size)).decode()
    lines = [f"‹{body[at : at + width]}›" for at in range(0, len(body), width)]
    if len(lines[-1]) < 20:  # too short to tell from anything
        lines.pop()
    return "\n".join([f"-----BEGIN {label}PRIVATE KEY-----", *lines, f"-----END {label}PRIVATE KEY-----"])


def _any_pem(rng: Random) -> str:
    label, size, width = rng.choice(
        (
            ("RSA ", 1180, 64),
            ("", 1200, 64),
            ("EC ", 112, 64),
            ("OPENSSH ", 380, 70),
            ("ENCRYPTED ", 1250, 64),
            ("DSA ", 440, 64),
        )
    )
    return pem(label, rng, size, width)


def _one_line_pem(rng: Random) -> str:
    return _any_pem(rng).replace("\n", "\\n") + "\\n"


def _pgp(rng: Random) -> str:
    body = base64.b64encode(b"\x95\x03\xbe" + rng.randbytes(1300)).decode()
    lines = [f"‹{body[at : at + 64]}›" for at in range(0, len(body) - 32, 64)]
    head = [
        "-----BEGIN PGP PRIVATE KEY BLOCK-----",
        *(["Version: GnuPG v2"] if rng.random() < 0.3 else []),
        "",
    ]
    return "\n".join([*head, *lines, fill("={s:4}", rng), "-----END PGP PRIVATE KEY BLOCK-----"])


def _service_account(rng: Random) -> str:
    account = {
        "type": "service_account",
        "project_id": fill("{L:6}-prod-{d:6}", rng),
        "private_key_id": fill("{h:40}", rng),
        "private_key": pem("", rng, 1200) + "\n",
        "client_email": fill("svc@{L:6}-prod.iam.gserviceaccount.com", rng),
        "client_id": fill("1{d:20}", rng),
        "token_uri": "https://oauth2.googleapis.com/token",
    }
    return json.dumps(account, ensure_ascii=False, indent=rng.choice((None, 2, 4)))


def _azure_storage(rng: Random) -> str:
    key = encoded(rng, 64)
    name = fill("{a:6-20}", rng)
    return f"DefaultEndpointsProtocol=https;AccountName={name};AccountKey=‹{key}›;EndpointSuffix=core.windows.net"


def _azure_sas(rng: Random) -> str:
    signed = encoded(rng, 32).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D")
    account = fill("{a:8-16}", rng)
    middle = "sv=2022-11-02&ss=b&srt=sco&sp=rwdlacx&se=2027-01-01T00:00:00Z&st=2026-01-01T00:00:00Z&spr=https"
    return f"https://{account}.blob.core.windows.net/backups/db.bak?{middle}&sig=‹{signed}›"


def _basic(rng: Random) -> str:
    plain = fill("svc-{L:5}:{b:14-22}", rng)
    return f"Authorization: Basic ‹{base64.b64encode(plain.encode()).decode()}›"


def _pypi(rng: Random) -> str:
    return "pypi-" + "AgEIcHlwaS5vcmc" + _url_encoded(rng.randbytes(rng.randint(105, 130)))


def _discord(rng: Random) -> str:
    return _url_encoded(fill("{n:1}{d:17}", rng).encode()) + fill(".G{u:5}.{u:38}", rng)


def _sentry(rng: Random) -> str:
    claims = {
        "iat": 1_790_000_000.5,
        "url": "https://sentry.io",
        "region_url": "https://us.sentry.io",
        "org": fill("{L:8}", rng),
    }
    return f"sntrys_{base64.b64encode(json.dumps(claims).encode()).decode()}_{fill('{s:43}', rng)}"


_PASSWORDS = (
    "%W{d:2}{b:8}!",
    "{l:1}{b:11}",
    "{l:1}{b:7}@{b:6}",
    "{l:1}{b:6}#{b:4}${b:4}",
    "%W-%W-{d:4}",
    "%w{d:3}!%W",
    "{l:1}{b:19-31}",
    "{h:32}",
    "{l:1}{b:9}&{b:4}^{b:3}",
    "P%w_{d:4}*{b:3}",
)

KINDS: tuple[Kind, ...] = (
    Kind("aws-access-key-id", "token", ("AKIA{3:16}", "ASIA{3:16}")),
    Kind(
        "aws-secret-access-key",
        "named",
        ("{s:40}",),
        ("AWS_SECRET_ACCESS_KEY", "AWS_SECRET_KEY", "SECRET_ACCESS_KEY"),
    ),
    Kind("gcp-service-account", "block", (_service_account,)),
    Kind("google-api-key", "token", ("AIza" + "Sy{u:33}", "AIza{u:35}")),
    Kind("google-oauth-secret", "token", ("GOCSPX-{u:28}",)),
    Kind("azure-storage-key", "url", (_azure_storage,)),
    Kind("azure-sas", "url", (_azure_sas,)),
    Kind(
        "openai",
        "token",
        ("sk-{b:20}T3BlbkFJ{b:20}", "sk-proj-{u:74}T3BlbkFJ{u:74}", "sk-svcacct-{u:58}T3BlbkFJ{u:58}"),
    ),
    Kind("anthropic", "token", ("sk-ant-api03-{u:93}AA",)),
    Kind("github-token", "token", (_github,)),
    Kind("github-fine-grained", "token", ("github_pat_{b:22}_{b:59}",)),
    Kind(
        "gitlab-token",
        "token",
        ("glpat-{u:20}", "glpat-{u:27}.0{h:1}.{a:9}", "glrt-{u:20}", "gldt-{u:20}", "glptt-{h:40}"),
    ),
    Kind(
        "slack-token",
        "token",
        ("xoxb-{n:12}-{n:13}-{b:24}", "xoxp-{n:11}-{n:12}-{n:13}-{h:32}", "xapp-1-A{A:10}-{n:13}-{h:64}"),
    ),
    Kind("slack-webhook", "url", ("https://hooks.slack.com/services/T{A:8|10}/B{A:8|10}/‹{b:24}›",)),
    Kind(
        "stripe",
        "token",
        ("sk_live_{b:24}", "sk_live_51{b:97}", "rk_live_{b:24}", "sk_test_{b:24}", "sk_test_51{b:97}"),
    ),
    Kind("twilio-api-key", "token", ("SK{h:32}",)),
    Kind("twilio-auth-token", "named", ("{h:32}",), ("TWILIO_AUTH_TOKEN", "TWILIO_TOKEN")),
    Kind("sendgrid", "token", ("SG.{u:22}.{u:43}",)),
    Kind("mailgun", "token", ("key-{h:32}",), ("MAILGUN_API_KEY", "MAILGUN_KEY")),
    Kind("npm", "token", ("npm_{b:36}",)),
    Kind("pypi", "token", (_pypi,)),
    Kind("digitalocean", "token", ("dop_v1_{h:64}", "doo_v1_{h:64}", "dor_v1_{h:64}")),
    Kind(
        "heroku",
        "named",
        ("{h:8}-{h:4}-4{h:3}-9{h:3}-{h:12}", "HRKU-AA{u:58}"),
        ("HEROKU_API_KEY", "HEROKU_API_TOKEN"),
    ),
    Kind(
        "cloudflare",
        "named",
        ("{u:40}", "{h:37}"),
        ("CLOUDFLARE_API_TOKEN", "CF_API_TOKEN", "CLOUDFLARE_API_KEY", "CF_API_KEY"),
    ),
    Kind(
        "datadog",
        "named",
        ("{h:32}", "{h:40}"),
        ("DD_API_KEY", "DATADOG_API_KEY", "DD_APP_KEY", "DATADOG_APP_KEY"),
    ),
    Kind("new-relic", "token", ("NRAK-{A:27}", "NRJS-{h:19}", "NRII-{u:32}")),
    Kind("sentry", "token", (_sentry, "sntryu_{h:64}")),
    Kind("grafana", "token", ("glsa_{b:32}_{h:8}",)),
    Kind("hashicorp-vault", "token", ("hvs.{u:90-110}", "hvb.{u:140-160}", "hvs.CAES{u:90}")),
    Kind("terraform-cloud", "token", ("{b:14}.atlasv1.{u:67}",)),
    Kind("supabase", "token", ("sbp_{h:40}", "sb_secret_{u:22}_{b:8}")),
    Kind("vercel", "named", ("{b:24}",), ("VERCEL_TOKEN", "VERCEL_API_TOKEN")),
    Kind("netlify", "token", ("nfp_{b:36}",), ("NETLIFY_AUTH_TOKEN",)),
    Kind("linear", "token", ("lin_api_{b:40}",)),
    Kind(
        "notion",
        "token",
        ("ntn_{d:11}{b:35}", "secret_{b:43}"),
        ("NOTION_TOKEN", "NOTION_API_KEY", "NOTION_SECRET"),
    ),
    Kind("airtable", "token", ("pat{b:14}.{h:64}",)),
    Kind("atlassian", "token", ("ATATT3xFfGF0{u:171}={H:8}",)),
    Kind("discord-bot", "token", (_discord,)),
    Kind("discord-webhook", "url", ("https://discord.com/api/webhooks/{n:1}{d:17}/‹{u:68}›",)),
    Kind("telegram", "token", ("{n:1}{d:8|9}:AA{u:33}",)),
    Kind("shopify", "token", ("shpat_{h:32}", "shpss_{h:32}", "shpca_{h:32}", "shppa_{h:32}")),
    Kind("square", "token", ("EAAA{u:60}", "sq0atp-{u:22}", "sq0csp-{u:43}")),
    Kind("huggingface", "token", ("hf_{l:34}",)),
    Kind("databricks", "token", ("dapi{h:32}", "dapi{h:32}-{d:1}")),
    Kind("docker-hub", "token", ("dckr_pat_{u:27}", "dckr_oat_{u:32}")),
    Kind("private-key", "block", (_any_pem,)),
    Kind("private-key-one-line", "url", (_one_line_pem,)),
    Kind("pgp-private-key", "block", (_pgp,)),
    Kind(
        "bearer",
        "line",
        (
            "Authorization: Bearer ‹{u:32-64}›",
            "authorization: bearer ‹{h:40|64}›",
            "Authorization: token ‹{h:40}›",
        ),
    ),
    Kind("basic", "line", (_basic,)),
    Kind(
        "credential-uri",
        "url",
        (
            "https://%u:‹{b:12-24}›@git.%w.dev/%w/%w.git",
            "ftp://%u:‹{b:10-16}›@files.%w.net/in",
            "http://%u:‹%W{d:4}x{b:4}›@proxy.%w.local:3128",
        ),
    ),
    Kind(
        "database-url",
        "url",
        (
            "postgresql://%u:‹{b:16-24}›@db.%w.internal:5432/%w?sslmode=require",
            "postgres://%u:‹{b:10}-{b:5}›@10.0.4.7/%w",
            "mysql+pymysql://%u:‹{l:1}{b:11}!{b:2}›@mysql:3306/%w",
            "mongodb+srv://%u:‹{b:16}›@cluster0.{a:5}.mongodb.net/%w?retryWrites=true&w=majority",
            "redis://:‹{b:20-40}›@cache.%w.io:6379/0",
            "amqps://%u:‹{u:32}›@fly.rmq.cloudamqp.com/%u",
        ),
    ),
    Kind(
        "connection-string",
        "url",
        (
            "Server=tcp:%w.database.windows.net,1433;Database=%w;User ID=%u;Password=‹{l:1}{b:14}!›;Encrypt=true;",
            "jdbc:postgresql://db.%w.io:5432/%w?user=%u&password=‹{b:14-20}›&ssl=true",
            "host=db.%w.io port=5432 dbname=%w user=%u password=‹{b:14-20}› sslmode=require",
            "Data Source=%w;Initial Catalog=%w;Uid=%u;Pwd=‹{l:1}{b:8}#{b:4}›;",
            "Endpoint=sb://%w.servicebus.windows.net/;SharedAccessKeyName=root;SharedAccessKey=‹{s:43}=›",
        ),
    ),
    Kind(
        "password",
        "named",
        _PASSWORDS,
        (
            "PASSWORD",
            "DB_PASSWORD",
            "POSTGRES_PASSWORD",
            "ADMIN_PASSWORD",
            "SMTP_PASS",
            "MYSQL_ROOT_PASSWORD",
            "REDIS_PASSWORD",
        ),
    ),
    Kind(
        "secret",
        "named",
        ("{h:64}", "{u:43}", "{s:43}=", "{b:32}", "{b:50}"),
        (
            "SECRET_KEY",
            "JWT_SECRET",
            "CLIENT_SECRET",
            "SESSION_SECRET",
            "NEXTAUTH_SECRET",
            "WEBHOOK_SECRET",
            "ENCRYPTION_KEY",
        ),
    ),
    Kind(
        "api-key",
        "named",
        ("{h:32}", "{b:32}", "{u:40}", "{a:24}", "{h:8}-{h:4}-4{h:3}-9{h:3}-{h:12}"),
        ("API_KEY", "APIKEY", "ACCESS_TOKEN", "AUTH_TOKEN", "PAYMENTS_API_KEY", "API_TOKEN", "REFRESH_TOKEN"),
    ),
    Kind("jwt", "token", (jwt,)),
)
