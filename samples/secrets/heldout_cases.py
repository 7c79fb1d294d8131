"""The half that is held out: 500 other contexts, and fifteen kinds more.

Whoever writes or mends rules never opens this file and never prints a text of it; figures by kind are all that is told.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Iterator
from random import Random

from samples.secrets.building import Case, Contexts, Kind, Wrap, build_cases
from samples.secrets.kinds import KINDS, encoded

COUNT = 500
"""Contexts of each kind."""


def _session_token(rng: Random) -> str:
    return "IQoJb3JpZ2luX2Vj" + encoded(rng, rng.randint(300, 520))


def _account_key(rng: Random) -> str:
    return encoded(rng, 64)


def _registry_login(rng: Random) -> str:
    """What docker keeps of a login: name and password in base64."""
    plain = f"ci-{rng.randint(10, 99)}:{encoded(rng, 18)}"
    return f'{{"auths":{{"registry.example.io":{{"auth":"‹{base64.b64encode(plain.encode()).decode()}›"}}}}}}'


_MORE_KINDS: tuple[Kind, ...] = (
    Kind("aws-session-token", "named", (_session_token,), ("AWS_SESSION_TOKEN", "SESSION_TOKEN")),
    Kind("google-access-token", "token", ("ya29.a0A{u:140-200}",)),
    Kind(
        "azure-client-secret",
        "named",
        ("{b:3}8Q~{u:34}", "{b:3}7Q~{u:31}"),
        ("AZURE_CLIENT_SECRET", "ARM_CLIENT_SECRET", "CLIENT_SECRET"),
    ),
    Kind(
        "azure-account-key",
        "named",
        (_account_key,),
        ("AZURE_STORAGE_KEY", "STORAGE_ACCOUNT_KEY", "COSMOS_PRIMARY_KEY", "AZURE_STORAGE_ACCOUNT_KEY"),
    ),
    Kind("anthropic-oauth", "token", ("sk-ant-oat01-{u:93}AA", "sk-ant-admin01-{u:93}AA")),
    Kind("stripe-webhook-secret", "token", ("whsec_{b:32}", "whsec_{s:43}=")),
    Kind("openrouter", "token", ("sk-or-v1-{h:64}",)),
    Kind("groq", "token", ("gsk_{b:52}",)),
    Kind("pulumi", "token", ("pul-{h:40}",)),
    Kind("postman", "token", ("PMAK-{h:24}-{h:34}",)),
    Kind("rubygems", "token", ("rubygems_{h:48}",)),
    Kind("doppler", "token", ("dp.pt.{b:43}",)),
    Kind("age-key", "token", ("AGE-SECRET-KEY-1{c:58}",)),
    Kind("registry-login", "line", (_registry_login,)),
    Kind(
        "command-line-password",
        "line",
        (
            "curl -u %u:‹{b:14-20}› https://%w.io/api",
            "curl --user '%u:‹{l:1}{b:8}!{b:3}›' https://%w.io/api",
            "sshpass -p ‹{b:12-18}› ssh %u@%w.io",
            "PGPASSWORD=‹{b:14}› psql -h db.%w.io -U %u",
            "mysql -u root -p‹{l:1}{b:13}› %w",
            "docker login -u %u -p ‹{b:16-24}› registry.%w.io",
            "machine api.%w.io login %u password ‹{b:16}›",
            "redis-cli -h cache.%w.io -a ‹{b:20}› ping",
        ),
    ),
)

_ASSIGNED = (
    "«ENV»=«S» make deploy",
    'declare -x «ENV»="«V»"',
    'readonly «ENV»="«V»"',
    "set -gx «ENV» «S»",
    'setx «ENV» "«V»"',
    "[Environment]::SetEnvironmentVariable('«ENV»', '«V»')",
    "env «ENV»=«S» ./run.sh --once",
    "ssh «user»@«w».io \"export «ENV»='«V»' && ./start\"",
    "heroku config:set «ENV»=«S» --app «w»",
    "fly secrets set «ENV»=«S»",
    'gh secret set «ENV» --body "«V»"',
    "helm upgrade «w» ./chart --set «camel»=«S»",
    "aws configure set «snake» «S»",
    "# «ENV»=«S»",
    "#«ENV»='«V»'",
    "«ENV» = «V»",
    "Environment=«ENV»=«V»",
    'Environment="«ENV»=«V»"',
    '    "«ENV»": "«J»",',
    '"«kebab»" : "«J»"',
    '{"name":"«ENV»","value":"«J»"}',
    '{"key": "«ENV»", "value": "«J»", "type": "plain"}',
    '{"«Pascal»":"«J»","Expiration":"2026-05-01T00:00:00Z"}',
    '[{"«snake»": "«J»"}, {"id": «n»}]',
    "{'«snake»': '«V»', 'debug': True}",
    "db:\n  user: «user»\n  «snake»: «V»\n  port: 5432",
    "production:\n  <<: *default\n  «snake»: '«V»'",
    "«snake»: !!str «V»",
    "- «kebab»: «V»",
    '      «ENV»: "«J»"',
    '[auth]\n«snake» = "«J»"  # «user»',
    '«kebab» = "«J»"',
    '«snake»: str = "«J»"',
    'self.«snake» = "«J»"',
    "self._«snake» = '«V»'",
    'app.config["«ENV»"] = "«J»"',
    '@dataclass\nclass Settings:\n    «snake»: str = "«J»"',
    'monkeypatch.setenv("«ENV»", "«J»")',
    'def login(user="«user»", «snake»="«J»"):',
    'settings = dict(«snake»="«J»")',
    'if «snake» == "«J»":',
    'export const «ENV» = "«J»" as const;',
    "this.«camel» = '«V»';",
    "module.exports = { «camel»: '«V»', port: «n» };",
    'const { «camel» = "«J»" } = options;',
    "axios.post('/login', { user: '«user»', «camel»: '«V»' })",
    'String «camel» = "«J»";',
    'builder.«camel»("«J»")',
    'std::string «snake» = "«J»";',
    '#define «ENV» "«J»"',
    'public string «Pascal» { get; set; } = "«J»";',
    'val «camel» = "«J»"',
    'let «snake» = "«J»".to_string();',
    'const «Pascal» = "«J»"',
    '«camel»: "«J»",',
    '$«camel» = "«V»";',
    "$config['«snake»'] = '«V»';",
    "«snake»: '«V»',",
    ":«snake» => '«V»'",
    "«ENV» ?= «V»",
    'resource "aws_db_instance" "«w»" {\n  «snake»   = "«J»"\n}',
    "«dotted» = «V»",
    "app.«kebab»: «V»",
    "<«camel»>«V»</«camel»>",
    '<property name="«dotted»" value="«V»"/>',
    "«ENV»\t«V»",
    "Key: «ENV», Value: «V»",
    "│ «ENV»  │ «V» │",
    "here is the «snake»: «V»",
    "**«ENV»**: `«V»`",
    "- «ENV»: `«V»`",
    "«ENV» -> «V»",
    'tool --«kebab» "«V»" sync',
    "POST /oauth/token HTTP/1.1\nHost: «w».io\nContent-Type: application/x-www-form-urlencoded\n\ngrant_type=x&«snake»=«Q»",
    "wss://stream.«w».io/feed?«camel»=«Q»",
    "-e «ENV»=«S» \\",
    "--build-arg «ENV»=«S»",
    "-D«dotted»=«S»",
    "> X-«Train»: «V»",
    "with «snake»=«V» it fails",
)

_BARE = (
    "Deploy with «V» as usual.",
    "is this one still valid? «V»",
    "old: «V»\nnew: (pending)",
    "{«V»}",
    "<«V»>",
    "**«V»**",
    "_«V»_",
    "“«V»”",
    "«V», «user», «day»",
    "«V»;",
    "«V».",
    "«V»\\n",
    '\\"«V»\\"',
    "[the key](«V»)",
    "| «user» | «V» | «day» |",
    "«user»\t«V»\t«day»",
    '"«user»","«V»","«day»"',
    "- [ ] revoke «V»",
    "### «V»",
    "/* «V» */",
    "-- «V»",
    "<!-- «V» -->",
    "panic: bad credential «V» [recovered]",
    "AssertionError: assert '«V»' == ''",
    "  at login («V»:12:3)",
    "warn «time» rejected «V» from 10.0.0.«n»",
    "printf '%s' \"«V»\" > .key",
    'echo "«V»" | docker login --password-stdin',
    "sed -i 's/XXX/«V»/' config.ini",
    "INSERT INTO settings (name, value) VALUES ('«w»', '«V»');",
    "UPDATE accounts SET note = '«V»' WHERE id = «n»;",
    'fmt.Println("«V»")',
    "return '«V»'",
    "expect(out).toContain('«V»')",
    "+ «V» (added)",
    "«w»=«V»",
    "«w»:«V»",
    "xs = ['«V»', '«w»']",
    'git commit -m "add «V»"',
    '<input type="hidden" value="«V»">',
)

_CARRIED = (
    "Authorization: token «V»",
    "Proxy-Authorization: Bearer «V»",
    '-H "x-api-key: «V»"',
    "https://oauth2:«V»@gitlab.com/«w»/«w».git",
    "https://«V»@github.com/«w»/«w»",
    "https://hooks.«w».io/in/«V»",
    "Set-Cookie: session=«V»; Path=/; HttpOnly",
    "https://«w».io/cb?code=«n»&access_token=«Q»#done",
    "const api = new Api('«V»')",
    '"authorization": "Bearer «V»"',
    "api(«V»)",
    "id=«V»&x=1",
)

_LINES = (
    "RUN «V»",
    "$ «V»",
    "«user»@«w»:~$ «V»",
    "Run this: `«V»`",
    "      run: «V»",
    "% «V»",
    "then I did\n\n    «V»\n\nand nothing came back",
    "+ «V»",
    ";; «V»",
    'bash -lc "«V»"',
    "* «V»",
    "0 3 * * * root «V»",
    "note: «V»",
    "< «V»",
)

_BLOCKS = (
    "-----\n«V»\n-----",
    "echo '«V»' > id_key && chmod 600 id_key",
    "  tls.key: |\n    «I4»",
    "key: >-\n  «I»",
    "private_key = <<-EOT\n«V»\nEOT",
    "~~~\n«V»\n~~~",
    "the file holds\n«V»\nand that is all",
    "static const char *KEY =\n«V»;",
    'ssh-add - <<< "«V»"',
    "<PrivateKey>«V»</PrivateKey>",
    "«w».pem\n=======\n«V»",
)


def _plain(text: str, rng: Random) -> str:
    return text


def _syslog(text: str, rng: Random) -> str:
    head = (
        f"Mar {rng.randint(1, 28):2} 04:{rng.randint(10, 59)}:11 web-{rng.randint(1, 9)} api[{rng.randint(99, 30000)}]:"
    )
    return "\n".join(f"{head} {line}" for line in text.split("\n"))


def _container_log(text: str, rng: Random) -> str:
    return "\n".join(f"api-{rng.randint(1, 3)}  | {line}" for line in text.split("\n"))


def _changed(text: str, rng: Random) -> str:
    was = "\n".join(f"-{line}" for line in text.split("\n"))
    return f"--- a/deploy/prod.yaml\n+++ b/deploy/prod.yaml\n@@ -{rng.randint(1, 90)},3 +12,3 @@\n services:\n{was}\n+# gone\n"


def _unchanged(text: str, rng: Random) -> str:
    return "@@ -1,4 +1,5 @@\n" + "\n".join(f" {line}" for line in text.split("\n")) + "\n+debug: true"


def _row(text: str, rng: Random) -> str:
    block = {"type": "text", "text": text}
    row = {
        "uuid": f"{rng.getrandbits(64):016x}",
        "message": {"role": "user", "content": [block]},
        "cwd": "/srv/app",
    }
    return json.dumps(row, ensure_ascii=False, separators=(",", ":"))


def _deep(text: str, rng: Random) -> str:
    for key in ("stdout", "output", "payload"):
        text = json.dumps({key: text, "exit_code": 0}, ensure_ascii=False, separators=(",", ":"))
    return text


def _edited(text: str, rng: Random) -> str:
    return json.dumps(
        {"file_path": "/srv/app/x", "old_string": "TODO", "new_string": text}, ensure_ascii=False, indent=2
    )


def _arrow_numbered(text: str, rng: Random) -> str:
    start = rng.randint(1, 300)
    return "\n".join(f"{n:5}→{line}" for n, line in enumerate(text.split("\n"), start))


def _searched(text: str, rng: Random) -> str:
    return "\n".join(f"{n}-{line}" for n, line in enumerate(text.split("\n"), rng.randint(1, 99)))


def _tagged(text: str, rng: Random) -> str:
    return f"<local-command-stdout>{text}</local-command-stdout>"


def _escaped_html(text: str, rng: Random) -> str:
    return f"<pre>{html.escape(text, quote=False)}</pre>"


def _listed(text: str, rng: Random) -> str:
    return "- step one\n" + "\n".join(f"  {line}" for line in text.split("\n")) + "\n- step two"


def _windows(text: str, rng: Random) -> str:
    return f"rem {rng.randint(1, 9)}\r\n" + text.replace("\n", "\r\n") + "\r\n"


def _colored(text: str, rng: Random) -> str:
    return f"\x1b[32m{text}\x1b[0m"


def _commented(text: str, rng: Random) -> str:
    return "\n".join(f"# {line}" for line in text.split("\n"))


def _in_callout(text: str, rng: Random) -> str:
    return "> [!user] 12:01\n" + "\n".join(f"> {line}" for line in text.split("\n"))


_WRAPS: tuple[Wrap, ...] = (
    _plain,
    _syslog,
    _container_log,
    _changed,
    _unchanged,
    _row,
    _deep,
    _edited,
    _arrow_numbered,
    _searched,
    _tagged,
    _escaped_html,
    _listed,
    _windows,
    _colored,
    _commented,
    _in_callout,
)

_CONTEXTS = Contexts(
    {
        # In base64 only what is named as a secret: nobody decodes every word.
        "named": (*_ASSIGNED, "apiVersion: v1\nkind: Secret\ndata:\n  «kebab»: «B»"),
        "token": (*_ASSIGNED, *_BARE, *_CARRIED),
        "url": (*_ASSIGNED, *_BARE),
        "line": _LINES,
        "block": _BLOCKS,
    },
    _WRAPS,
    ("KEY", "DATA", "PROD_VALUE", "ENDPOINT", "BOT_TOKEN", "OPTION", "SETTING_A", "ACCESS_KEY", "CRED"),
)


def heldout_cases(step: int = 1) -> Iterator[Case]:
    """Every case of this half; with a `step`, every so-manieth of each kind."""
    return build_cases((*KINDS, *_MORE_KINDS), _CONTEXTS, "held out", COUNT, step)
