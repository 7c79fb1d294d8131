"""The open half: 500 contexts that whoever writes rules may read, and the kinds that both halves have.

Owns these contexts.  `README.md` says what may be looked at by whom.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from random import Random

from samples.secrets.building import Case, Contexts, Wrap, build_cases
from samples.secrets.kinds import KINDS

COUNT = 500
"""Contexts of each kind."""

_ASSIGNED = (
    "«ENV»=«S»",
    "export «ENV»=«S»",
    'export «ENV»="«V»"',
    "«ENV»='«V»' npm run start",
    "docker run -d -e «ENV»=«S» -p 8080:80 registry.«w».io/«w»:latest",
    "ENV «ENV»=«S»",
    "ENV «ENV» «S»",
    "ARG «ENV»=«S»",
    '"«snake»": "«J»"',
    '{"«camel»": "«J»", "region": "eu-west-1"}',
    '{"env":{"«ENV»":"«J»"},"command":"node","args":["server.js"]}',
    "«snake»: «V»",
    '«snake»: "«J»"',
    "«camel»: '«V»'",
    '«kebab»: "«J»"  # rotate me',
    '«snake» = "«J»"',
    "«snake»='«V»'",
    '«ENV» = "«J»"',
    'os.environ["«ENV»"] = "«J»"',
    "os.environ.setdefault('«ENV»', '«V»')",
    'client = Client(«snake»="«J»", timeout=30)',
    "connect(host='db.«w».io', «snake»='«V»')",
    "const «camel» = '«V»';",
    'const «camel» = "«J»";',
    'let «camel»: string = "«J»"',
    "process.env.«ENV» = '«V»'",
    "  «camel»: `«V»`,",
    'private static final String «ENV» = "«J»";',
    'var «camel» = "«J»"',
    '«camel» := "«J»"',
    'os.Setenv("«ENV»", "«J»")',
    "config.«snake» = '«V»'",
    "«dotted»=«V»",
    "spring.datasource.«kebab»=«V»",
    "define('«ENV»', '«V»');",
    "'«snake»' => '«V»',",
    '$env:«ENV» = "«V»"',
    "set «ENV»=«V»",
    'variable "«snake»" {\n  default = "«J»"\n}',
    '  «snake» = "«J»"\n  region = "eu-central-1"',
    "apiVersion: v1\nkind: Secret\nstringData:\n  «snake»: «V»",
    "        - name: «ENV»\n          value: «V»",
    '        - name: «ENV»\n          value: "«J»"',
    "    environment:\n      - «ENV»=«V»",
    "    environment:\n      «ENV»: «V»",
    "| «ENV» | «V» |",
    "| «ENV» | `«V»` | production |",
    "app --«kebab» «S» --verbose",
    "app --«kebab»=«S»",
    "kubectl create secret generic «w» --from-literal=«kebab»=«S»",
    "curl 'https://api.«w».io/v2/items?«snake»=«Q»&limit=10'",
    "[«w»]\n«snake» = «V»\nregion = eu-west-1",
    "the «snake» is «V»",
    "«ENV»: «V»",
    "X-«Train»: «V»",
    '<add key="«Pascal»" value="«V»" />',
)

_BARE = (
    "use «V» for staging until friday",
    "My key is «V», please keep it to yourself.",
    "I pasted it here: «V»",
    "(«V»)",
    "[«V»]",
    "`«V»`",
    '"«V»"',
    "'«V»'",
    "«V»",
    "token:«V»",
    "key=«V»;",
    "- «V»",
    "1. «V»",
    "* `«V»` (expires in 30 days)",
    "1,«user»,«V»,active",
    'expected "«V»" to equal undefined',
    "Error: request failed with «V»: 401 Unauthorized",
    "ValueError: invalid credentials: '«V»'",
    "> «V» does not work any more, see above",
    "$ echo «S» | base64",
    "print('«V»')",
    "assert settings.value == '«V»'",
    "# «V»",
    "// TODO remove: «V»",
    "<code>«V»</code>",
)

_CARRIED = (
    "Authorization: Bearer «V»",
    "curl -H 'Authorization: Bearer «V»' https://api.«w».io/v1/me",
    'headers = {"Authorization": f"Bearer «V»"}',
    "https://x-access-token:«V»@github.com/«w»/«w».git",
    "https://api.«w».io/v1/search?token=«Q»&q=shoes",
    "//registry.npmjs.org/:_authToken=«V»",
    "Cookie: theme=dark; auth=«V»; lang=en",
    "requests.get(url, headers={'X-Api-Key': '«V»'})",
    "key:«V»,next",
    "login(«V»)",
)

_LINES = (
    "«V»",
    "  «V»",
    "curl -H '«V»' https://api.«w».io/v1/me",
    'curl -s -H "«V»" "https://«w».internal/api"',
    "GET /v1/items HTTP/1.1\nHost: api.«w».io\n«V»\nAccept: */*",
    "> «V»",
    "headers: «V»",
    "http GET api.«w».io '«V»'",
    "I ran it with `«V»` and got a 403.",
    'wget --header="«V»" https://«w».io/x.tgz',
    "-H '«V»' \\",
    "[«time»] DEBUG request: «V»",
)

_BLOCKS = (
    "«V»",
    "$ cat secret.txt\n«V»\n$",
    "cat > key <<EOF\n«V»\nEOF",
    "data:\n  key: |\n  «I»",
    'KEY = """«V»"""',
    "```\n«V»\n```",
    "Here it is:\n\n«V»\n\nThanks!",
    "const key = `«V»`;",
    'PRIVATE_KEY="«V»"',
    "<key>\n«V»\n</key>",
)


def _as_it_is(text: str, rng: Random) -> str:
    return text


def _logged(text: str, rng: Random) -> str:
    stamp = f"2026-03-{rng.randint(1, 28):02}T12:{rng.randint(0, 59):02}:07.{rng.randint(100, 999)}Z"
    return "\n".join(f"{stamp} INFO  [worker-{rng.randint(1, 9)}] {line}" for line in text.split("\n"))


def _added(text: str, rng: Random) -> str:
    head = f"diff --git a/.env b/.env\nindex {rng.getrandbits(28):07x}..{rng.getrandbits(28):07x} 100644\n@@ -3,2 +3,3 @@\n DEBUG=1\n"
    return head + "\n".join(f"+{line}" for line in text.split("\n"))


def _removed(text: str, rng: Random) -> str:
    return "\n".join(f"-{line}" for line in text.split("\n")) + "\n+# moved to the vault"


def _in_json(text: str, rng: Random) -> str:
    return json.dumps({"type": "tool_result", "content": text, "is_error": False}, ensure_ascii=False)


def _in_json_in_json(text: str, rng: Random) -> str:
    inner = json.dumps({"file_path": "/app/config.js", "content": text}, ensure_ascii=False)
    return json.dumps({"name": "Write", "arguments": inner}, ensure_ascii=False)


def _numbered(text: str, rng: Random) -> str:
    start = rng.randint(1, 300)
    return "\n".join(f"{n:6}\t{line}" for n, line in enumerate(text.split("\n"), start))


def _grepped(text: str, rng: Random) -> str:
    return "\n".join(f"src/config/settings.py:{rng.randint(1, 400)}:{line}" for line in text.split("\n"))


def _fenced(text: str, rng: Random) -> str:
    return f"Here is the file:\n\n```{rng.choice(('', 'bash', 'yaml', 'js'))}\n{text}\n```\n\nLet me know."


def _quoted(text: str, rng: Random) -> str:
    return "\n".join(f"> {line}" for line in text.split("\n"))


def _indented(text: str, rng: Random) -> str:
    return "\n".join("        " + line for line in text.split("\n"))


def _traced(text: str, rng: Random) -> str:
    return f'Traceback (most recent call last):\n  File "/app/main.py", line {rng.randint(2, 900)}, in <module>\n    {text}\nKeyError: 1'


def _chatted(text: str, rng: Random) -> str:
    return f"hey, can you fix the deploy? this is what I have:\n{text}\nit worked yesterday"


_WRAPS: tuple[Wrap, ...] = (
    _as_it_is,
    _logged,
    _added,
    _removed,
    _in_json,
    _in_json_in_json,
    _numbered,
    _grepped,
    _fenced,
    _quoted,
    _indented,
    _traced,
    _chatted,
)

_CONTEXTS = Contexts(
    {
        "named": _ASSIGNED,
        "token": (*_ASSIGNED, *_BARE, *_CARRIED),
        "url": (*_ASSIGNED, *_BARE),
        "line": _LINES,
        "block": _BLOCKS,
    },
    _WRAPS,
    ("VALUE", "API_KEY", "TOKEN", "CONFIG_X", "SERVICE_URL", "MY_VAR", "CREDENTIAL", "INPUT"),
)


def open_cases(step: int = 1) -> Iterator[Case]:
    """Every case of this half; with a `step`, every so-manieth of each kind."""
    return build_cases(KINDS, _CONTEXTS, "open", COUNT, step)
