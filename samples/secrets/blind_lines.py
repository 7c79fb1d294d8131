"""The blind half's ordinary lines: 2,500 made, 2,500 read from installed packages when the tests run.

None of them holds a secret: hashes, identifiers, images, locks, code that talks about passwords, placeholders.
"""

from __future__ import annotations

import random
import re
import sysconfig
from collections.abc import Iterator
from pathlib import Path

from samples.secrets.blind_cases import made

_MADE = """
commit <h40>
index <h7>..<h7> 100644
<h40>	refs/heads/fix-token-refresh
sha256:<h64>  dist/<l6>-<d1>.<d2>.tar.gz
      "integrity": "sha512-<b86>==",
      "resolved": "https://registry.example.org/<l6>/-/<l6>-<d1>.<d1>.<d1>.tgz#<h40>",
    resolution: {integrity: sha512-<b86>==}
github.com/<l6>/<l5> v1.<d1>.<d1> h1:<b43>=
checksum = "<h64>"
    {file = "<l6>-<d1>.<d1>-py3-none-any.whl", hash = "sha256:<h64>"},
    --hash=sha256:<h64> \\
<l6>/<l5>.py,sha256=<w43>,<d4>
image: ghcr.io/acme/<l6>@sha256:<h64>
oid sha256:<h64>
/nix/store/<L32>-<l6>-1.<d1>
X-Request-Id: <uuid>
request_id=<uuid> status=200 took=<d2>ms
{"sessionId": "<uuid>", "parentUuid": "<uuid>", "type": "user"}
"tool_use_id": "toolu_01<a22>"
{"id": "msg_01<a22>", "role": "assistant", "usage": {"input_tokens": <d5>, "output_tokens": <d3>}}
{"type": "function_call", "call_id": "call_<a24>", "name": "shell"}
{"id": "chatcmpl-<a29>", "object": "chat.completion"}
{"request_id": "req_011C<a20>"}
{"type": "thinking", "thinking": "", "signature": "<b300>"}
{"type": "reasoning", "encrypted_content": "gAAAAAB<w300>"}
data:image/png;base64,iVBORw0KGgo<b300>
<img src="data:image/jpeg;base64,/9j/4AAQSkZJRg<b200>" alt="">
@font-face{font-family:x;src:url(data:font/woff2;base64,d09GMgAB<b200>)}
//# sourceMappingURL=data:application/json;base64,eyJ2ZXJzaW9uIjozLCJzb3VyY2VzIjpb<b200>
"mappings": "AAAA,SAASA,<a3>,GAAG<a4>;<a5>,<a4>,CAAC,<a5>;AACA",
ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<b43> ann@laptop
ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAB<b300> ann@laptop
256 SHA256:<b43> ann@laptop (ED25519)
github.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI<b43>
MIIB<b60>
traceparent: 00-<h32>-<h16>-01
{"traceId": "<h32>", "spanId": "<h16>"}
<script src="/assets/main.<h20>.js" integrity="sha384-<b64>"></script>
Content-Security-Policy: script-src 'sha256-<b43>='
ETag: W/"<h32>"
If-None-Match: "<h40>"
arn:aws:iam::<d12>:role/deploy-<l6>
Created instance i-0<h16> in subnet-0<h16>
pod/api-<h10>-<L5> 1/1 Running 0 4d
ObjectId('<h24>')
CONTAINER ID <h12> postgres:16 "docker-entrypoint.s…"
customer: 'cus_<a14>', price: 'price_1<a23>'
HKEY_CLASSES_ROOT\\CLSID\\{<uuid>}
inet6 fe80::<h4>:<h4>:<h4>:<h4> prefixlen 64
MD5 (<l6>.iso) = <h32>
restored cache from key: node-modules-Linux-<h64>
cache-key: v2-pip-<h40>
Merge: <h7> <h7>
[main <h7>] Rotate the session token
terraform: random_id.suffix: Creation complete after 0s [id=<w8>]
!function(e,t){for(var n=<d4>,r="<l8>",o=0;o<n;o++)t[r+o]=e(o,"<h6>")}(window,{});
.css-<L7>{color:#<h6>;background:#<h6>}
0x<h40>
   0x0000555<h9> <+<d2>>:	call 0x555<h9> <malloc@plt>
<h8>: <h4> <h4> <h4> <h4> <h4> <h4> <h4> <h4>  ................
Bearer realm="https://auth.example.org/token",service="registry"
WWW-Authenticate: Basic realm="Restricted"
-H "Authorization: Bearer $TOKEN"
curl -u "$USER:$PASSWORD" https://api.example.org
headers: { Authorization: `Bearer ${token}` }
password = os.environ["DB_PASSWORD"]
password: ${DB_PASSWORD}
  password: "{{ vault_db_password }}"
token: ${{ secrets.GITHUB_TOKEN }}
API_KEY=your-api-key-here
OPENAI_API_KEY=sk-...
ANTHROPIC_API_KEY=<your-key>
password=********
"password": "[REDACTED]"
GITHUB_TOKEN=***
SECRET_KEY=
DB_PASSWORD=changeme
api_key = None
def check_password(self, password: str, salt: bytes) -> bool:
if (!token) throw new Error("token missing");
const token = await getToken(req, { secret: process.env.SECRET });
password_hash = bcrypt.hashpw(password.encode(), bcrypt.gensalt(12))
<input type="password" name="password" autocomplete="current-password" required>
      valueFrom: {secretKeyRef: {name: app-<l6>, key: db-password}}
  secretName: <l6>-tls
max_tokens=4096, stop_token="<l5>", pad_token_id=<d5>
tokenizer = AutoTokenizer.from_pretrained("bert-base-uncased")
{"token_type": "bearer", "expires_in": 3600}
postgres://${DB_USER}:${DB_PASS}@${DB_HOST}/app
postgresql://localhost:5432/<l6>
redis://localhost:6379/0
git@github.com:acme/<l6>.git
PRIMARY KEY (id), FOREIGN KEY (token_id) REFERENCES tokens (id)
id = Column(Integer, primary_key=True, sort_key="<l6>")
for key, value in secrets.items(): print(key)
tests/test_password_reset.py::test_token_<l6>_expires PASSED [ <d2>%]
The password must hold at least 12 characters.
I'll store the token in the keychain instead of <l6>.json.
- `password`: the account's password (string, required)
| password | string | the user's password |
AuthenticationError: password authentication failed for user "<l6>"
key: "<l6>-<l5>", label: "Secret santa"
passwordField.setText(user.getPassword());
export PATH="/home/ann/.local/bin:$PATH"
/home/ann/work/<l6>/node_modules/.pnpm/<l6>@<d1>.<d1>.<d1>_<L26>/node_modules/<l6>/index.js
https://example.org/watch?v=<w11>&list=PL<w32>
https://www.figma.com/file/<a22>/Login-page?node-id=<d2>%3A<d3>
https://docs.google.com/document/d/<w44>/edit
<d4>-<d2>-<d2>T12:00:00Z INFO auth token refreshed for user_id=<d6>
"nextPageToken": null, "pageToken": ""
csrf_token = generate_csrf_token()
author = {Smith, J.}, doi = {10.<d4>/<l6>.<d6>},
drwxr-xr-x  2 ann ann 4096 Nov  2 10:11 .secrets.d
"""

_TALK = re.compile(r"passw|secret|token|api.?key|auth|credential|[0-9a-f]{32}|[A-Za-z0-9+/_-]{40}|://", re.IGNORECASE)
_ENDINGS = {
    ".py",
    ".pyi",
    ".json",
    ".js",
    ".css",
    ".html",
    ".md",
    ".rst",
    ".txt",
    ".toml",
    ".yml",
    ".cfg",
    "",
}


def _made(count: int) -> Iterator[str]:
    """Patterns in turn; those that are always the same line only once."""
    rng = random.Random("blind lines")
    patterns = _MADE.strip("\n").split("\n")
    varied = [pattern for pattern in patterns if made(rng, pattern) != pattern]
    fixed = [pattern for pattern in patterns if pattern not in varied]
    yield from fixed
    for at in range(count - len(fixed)):
        yield made(rng, varied[at % len(varied)])


def _read() -> Iterator[str]:
    """Every distinct line of the installed packages, but for our own."""
    folder = Path(sysconfig.get_path("purelib"))
    seen: set[str] = set()
    for path in sorted(folder.rglob("*")):
        if path.suffix not in _ENDINGS or path.parts[len(folder.parts)].startswith("crucible") or not path.is_file():
            continue
        lines = path.read_text(encoding="utf-8", errors="ignore").splitlines()[:400]
        yield from (line for line in lines if len(line) > 12 and not (line in seen or seen.add(line)))  # type: ignore[func-returns-value]


def blind_lines() -> list[str]:
    """5,000 lines; of those read, 1,500 look or talk like secrets and 1,000 are any."""
    rng, every = random.Random("blind harvest"), list(_read())
    talking = [line for line in every if _TALK.search(line)]
    return [
        *_made(2500),
        *rng.sample(talking, min(1500, len(talking))),
        *rng.sample(every, min(1000, len(every))),
    ]
