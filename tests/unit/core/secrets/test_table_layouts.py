from __future__ import annotations

from collections.abc import Iterator

import pytest

from crucible.core.secrets import Scanner
from crucible.core.settings.settings import SecretSettings
from tests.cases import for_each
from tests.unit.core.secrets.made import VALUES, chance, filled

SCANNER = Scanner(SecretSettings())
APART = [
    "user,password\nbob,{V}",
    "id;name;password\n1;bob;{V}",
    "name\ttoken\nbob\t{K}",
    '"user","password","note"\n"bob","{V}","a, b"',
    "name,value\nDB_PASSWORD,{V}\nAPI_KEY,{K}",
    " id | username | password\n----+----------+----------\n  1 | bob      | {V}\n(1 row)",
    "+----+----------+\n| id | password |\n+----+----------+\n|  1 | {V} |\n+----+----------+",
    "| user | api key |\n|------|---------|\n| bob | `{K}` |",
    "| User | Password |\n| :--- | :--- |\n| ann | changeme |\n| bob | {V} |",
    '"| id | token |\\\\n|----|----|\\\\n| 1 | {K} |"',
    "\\u2502 id \\u2502 password \\u2502\n\\u2502 1 \\u2502 {V} \\u2502",
    "\\u2502 password \\u2502 {V} \\u2502",
    "┃ id ┃ secret ┃\n┃ 1 ┃ {K} ┃",
    "USER     PASSWORD\nbob      {V}",
    '127.0.0.1:6379> GET app:password\n"{V}"',
    'redis> HGET users:7 api_key\n"{K}"',
    "password: |\n  {V}",
    "api_key: >\n  {K}",
    '"password": {\n  "value": "{V}"\n}',
    '"password": {\n  "type": "string",\n  "value": "{V}"\n}',
    'PASSWORD = (\n    "{V}"\n)',
    'const apiKey =\n  "{K}";',
    'api_key: str = (\n    "{K}"\n)',
    'password:\n  "{V}"',
    'client = Client(\n  api_key=\n    "{K}",\n)',
    "<key>api_key</key>\n<string>{K}</string>",
    "<key>Password</key>\n  <string>{V}</string>",
    "<name>password</name>\n<value>{V}</value>",
    "$ pass show db/password\n{V}",
    "$ cat ~/.config/app/token\n{K}",
    "$ echo $DB_PASSWORD\n{V}",
    "$ vault kv get -field=password secret/db\n{V}",
    "Enter password:\n{V}",
    "## API key\n\n{K}",
    "## API key\n\n`{K}`",
    "deploy_tokens:\n  - name\n  - {K}",
    "passwords:\n  - {V}\n  - other: 1",
    "passwords:\n  - sunny\n  - {V}",
    "api_keys:\n- short\n- {K}",
    '"access_tokens": [\n  "aaaa",\n  "{K}"\n]',
    'SECRET_KEYS = [\n    "{K}",\n]',
    "apiVersion: v1\nkind: Secret\nmetadata:\n  name: x\ndata:\n  blob: {B}",
    "apiVersion: v1\ndata:\n  blob: {B}\n  other: YQ\nkind: Secret",
    "kind: Secret\nmetadata:\n  name: x\ntype: Opaque\nstringData:\n  blob: {V}",
    '{\n  "kind": "Secret",\n  "data": {\n    "a": "",\n    "blob": "{B}"\n  }\n}',
    'expect "*assword:*"\nsend "{V}\\r"',
    'expect "password: " { send "{V}\\r" }',
    'expect "Password:"; send -- "{V}\\r"',
    "child.expect('password:')\nchild.sendline('{V}')",
]  # fmt: skip
"""A name on one line, its value on another; the holes are those of `made`."""

PREFIXES = ["", "+", "  12\t", "12: ", "2026-01-02T03:04:05Z INFO [a] ", "> ", "api-1  | "]


def _written(text: str) -> Iterator[str]:
    yield text
    if "\n" in text:
        yield text.replace("\n", "\r\n")
        for prefix in PREFIXES:
            yield "\n".join(prefix + line for line in text.split("\n"))


@for_each("notation", APART)
def test_a_value_on_another_line_goes_whatever_ends_and_begins_the_lines(notation: str) -> None:
    for values in VALUES:
        text, secrets = filled(notation, values)
        for written in _written(text):
            clean, counts = SCANNER.redact(written)
            assert not [secret for secret in secrets if secret in clean], written
            assert counts


@for_each("notation", APART)
def test_the_same_with_a_placeholder_stays(notation: str) -> None:
    for hole in ("${SECRET}", "<secret>", "changeme"):
        text, _ = filled(notation, dict.fromkeys(VALUES[0], hole))
        assert SCANNER.redact(text) == (text, {})


def test_all_items_of_a_list_and_all_rows_of_a_column_go() -> None:
    keys = [chance(30, seed=n) for n in range(9)]
    for text in (
        "api_keys:\n" + "\n".join(f"  - {key}" for key in keys),
        "access_tokens = [" + ", ".join(f"'{key}'" for key in keys) + "]",
        "id,api_key\n" + "\n".join(f"{n},{key}" for n, key in enumerate(keys)),
        "| api key | id |\n|---|---|\n" + "\n".join(f"| {key} | {n} |" for n, key in enumerate(keys)),
    ):
        clean, counts = SCANNER.redact(text)
        assert not [key for key in keys if key in clean]
        assert sum(counts.values()) == len(keys)


def test_the_columns_beside_stay() -> None:
    (values, *_) = VALUES
    text, _ = filled("user,password,mail\nbob42x,{V},b@x.io\namy17z,{V},a@x.io\n", values)
    expected = text.replace(values["{V}"], "[REDACTED:named-password]")
    assert SCANNER.redact(text)[0] == expected


@pytest.mark.parametrize("kind", ["ConfigMap", "SecretStore", "SealedSecret"])
def test_the_data_of_another_kind_of_manifest_stay(kind: str) -> None:
    (values, *_) = VALUES
    other, _ = filled("kind: Secret\ndata:\n  blob: {B}\n", values)
    text = f"kind: {kind}\ndata:\n  blob: aGVsbG8gd29ybGQ=\n---\n"
    assert SCANNER.redact(text) == (text, {})
    assert SCANNER.redact(text + other)[0].startswith(text)
    assert SCANNER.redact(text + other)[1] == {"kubernetes-secret": 1}


KEPT = [
    "tokens: 284\n  - session: 2026-11-21-add-limits-2-write-test\n  - session: x",
    "| Option | Type | password |\n|---|---|---|\n| a | b | the user's password |",
    "| name | required |\n|---|---|\n| password | yes |",
    "| Field | Type |\n|---|---|\n| token | string |",
    "id,token,count\n1,hello,3", 'const token =\n  "hello there";', "tokens:\n  - name\n  - role2",
    "keys:\n  - app-config-2\n  - user_id1", 'keys = [\n  "created_at2",\n  "sha256sum",\n]', 'tokens = ["if2", "else_3", "while"]',
    "def tokens(self):\n    return self.x1", "passwords:\n  min_length: 12", "password:\n  type: string",
    "password:\n  minLength: 12", "# Password\n\nChoose a password with 12 characters.", "# Token bucket\n\nfoo_bar2",
    "use the flag as the password for bob", "use argon2id as the password hash", "I use bcrypt as the password hasher",
    "base64 is the token encoding", "sha256 is used as the key",
    "kind: Secret\nmetadata:\n  name: db-creds-1a\n  namespace: prod-eu-1\n",
]  # fmt: skip


@for_each("text", KEPT)
def test_text_near_a_name_that_is_not_secret_stays(text: str) -> None:
    assert SCANNER.redact(text) == (text, {})
