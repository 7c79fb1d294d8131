"""Secrets recognised by structure: tokens of unknown providers, encoded ones, commands, truncated keys, names of files."""

from __future__ import annotations

from base64 import b64encode, urlsafe_b64encode

import pytest

from crucible.core.secrets import Scanner
from crucible.core.secrets.command_passwords import command_forms
from crucible.core.secrets.providers import prefix_rules, provider_rules, read_prefixes, service_rules
from tests.cases import for_each
from tests.paths import ROOT
from tests.unit.core.secrets.made import HEX, LETTERS, chance

SCANNER = Scanner()
SMALL = "abcdefghijklmnopqrstuvwxyz0123456789"
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
AROUND = [
    "use {} for the staging one.", "export X9={}", '{{"v": "{}"}}', "v: {}", "10:00:01 INFO took {} ok", '+  v = "{}"',
    "backup-{}.txt", "report_{}_final.pdf", '"cmd": "echo \\"{}\\"\\n"',
]  # fmt: skip

TOKENS = {
    "firecrawl-key": "fc-" + chance(32, HEX),
    "e2b-key": "e2b_" + chance(40, HEX),
    "jina-key": "jina_" + chance(60),
    "cursor-key": "crsr_" + chance(64, HEX),
    "neon-key": "napi_" + chance(64, SMALL),
    "honeycomb-key": "hcaik_01" + chance(56, SMALL),
    "dotted-token": f"st.{chance(24, HEX)}.{chance(32, HEX)}.{chance(32, HEX, 2)}",
    "vendor-token": "nobodyknows_" + chance(40),
    "github-token": "ghp_" + chance(36),
    "airtable-token": "pat" + chance(14) + "." + chance(64, HEX),
    "twilio-key": "SK" + chance(32, HEX),
    "discord-token": "MTIzNDU2Nzg5MDEyMzQ1Njc4" + "." + chance(6) + "." + chance(27),
}


@for_each("rule", TOKENS)
@for_each("around", AROUND)
def test_a_token_with_a_form_of_its_own_is_found_in_any_context(rule: str, around: str) -> None:
    clean, counts = SCANNER.redact(around.format(TOKENS[rule]))
    assert TOKENS[rule][8:-4] not in clean
    assert counts == {rule: 1}


@pytest.mark.parametrize(
    "token",
    ["acme_tok_" + chance(32, HEX), "acme_live_" + chance(26), "acme-" + chance(40), "acme_" + chance(40, SMALL), "ACME_" + chance(36)],
)  # fmt: skip
def test_a_prefix_and_a_long_random_body_are_a_token_of_any_provider(token: str) -> None:
    assert SCANNER.redact(f"see {token}, please")[1] == {"vendor-token": 1}


LOOKALIKES = [
    "msg_01" + chance(22), "toolu_01" + chance(22), "cus_" + chance(14), "pi_3" + chance(23), "evt_1" + chance(23), "chatcmpl-" + chance(29),
    "req_" + chance(32, HEX), "resp_" + chance(50, HEX), "build-" + chance(40, HEX), "image-" + chance(64, HEX), "live-" + chance(40, HEX),
    "cache-key-" + chance(64, HEX), "sha256-" + b64encode(chance(32).encode()).decode(), f"api-{chance(10, HEX)}-x2x9z", "index-BxK3f9a2.js",
    "job_01J" + chance(23, UPPER), "user_2" + chance(26), "pk_live_" + chance(24), "v1_" + chance(24), "x_0x" + chance(40, HEX),
    "TestStateStore_RemoveAll_RemovesEverySingleOne12",
    "MyStackHandlerFunction" + chance(12, UPPER), "net additions of 12, user additions = 33 minus that", "use wandb login to authenticate",
    "cargo login reads from stdin", "docker run -p 8080:80 -u 1000:1000 img", b64encode(b"hello world, a text without any secret").decode(),
    b"hello world, a text without any secret".hex(), "module_github_com_acme_service_v2", "4d" * 40,
]  # fmt: skip


@for_each("text", LOOKALIKES)
def test_what_only_looks_like_a_token_stays(text: str) -> None:
    assert SCANNER.redact(text) == (text, {})


# --- wrapped -----------------------------------------------------------------------------------------------------

KEY = f"-----BEGIN PRIVATE KEY-----\n{chance(64)}\n{chance(64, seed=2)}\n-----END PRIVATE KEY-----\n"
INNER = [
    "ghp_" + chance(36),
    "x=1\nTOKEN=ghp_" + chance(36) + "\n",
    "AKIA" + chance(16, UPPER),
    "glpat-" + chance(20),
    KEY,
]


@for_each("inner", INNER)
@for_each(
    "wrap",
    [
        lambda text: b64encode(text).decode(),
        lambda text: urlsafe_b64encode(text).decode().rstrip("="),
        lambda text: text.hex(),
        lambda text: text.hex().upper(),
        lambda text: b64encode(b64encode(text)).decode(),
    ],
)
@for_each("around", AROUND)
def test_a_wrapped_token_is_found(inner: str, wrap: object, around: str) -> None:
    wrapped = wrap(inner.encode())  # type: ignore[operator]
    clean, counts = SCANNER.redact(around.format(wrapped))
    assert counts
    assert wrapped[len(wrapped) // 2 : -8] not in clean


def test_base64_in_lines_is_read_as_one() -> None:
    text = "a plain line of text\n" * 5 + f"TOKEN=ghp_{chance(36)}\nmore\n"
    wrapped = b64encode(text.encode()).decode()
    lines = "\n".join(wrapped[at : at + 76] for at in range(0, len(wrapped), 76))
    clean, counts = SCANNER.redact(f"$ base64 .env\n{lines}\n")
    assert counts == {"github-token": 1}
    assert clean.startswith(f"$ base64 .env\n{lines[:76]}")


# --- keys ----------------------------------------------------------------------------------------------------------

LINES = [chance(64, seed=at) for at in range(4)] + [chance(30) + "=="]


@pytest.mark.parametrize("line", ["\n", "\\n", "\r\n", "\n+", "\n    "])
def test_the_end_of_a_private_key_is_known_without_its_beginning(line: str) -> None:
    tail = line.join([*LINES, "-----END RSA PRIVATE KEY-----"])
    clean = SCANNER.redact(f"{tail}\nand so on\n")[0]
    assert clean == "[REDACTED:private-key]\nand so on\n"


def test_the_end_of_a_certificate_or_of_prose_is_no_key() -> None:
    for text in (
        "\n".join([*LINES, "-----END CERTIFICATE-----"]),
        "a key ends with\n-----END PRIVATE KEY-----\n",
    ):
        assert SCANNER.redact(text) == (text, {})


def test_a_key_of_putty_goes() -> None:
    text = "PuTTY-User-Key-File-3: ssh-rsa\nPrivate-Lines: 5\n" + "\n".join(LINES) + "\nPrivate-MAC: 12\n"
    clean, counts = SCANNER.redact(text)
    assert counts == {"private-key": 1}
    assert not any(line in clean for line in LINES)


# --- commands ------------------------------------------------------------------------------------------------------

COMMANDS = """
rabbitmqctl add_user bob {}
rabbitmqctl -n rabbit@host change_password bob {}
mc alias set prod https://minio.corp:9000 svc {}
echo -n {} | cryptsetup luksOpen /dev/sdb1 data -
echo "bob:{}" | chpasswd
ipmitool -I lanplus -H 10.0.0.3 -U ADMIN -P {} chassis status
snmpwalk -v3 -l authPriv -u mon -a SHA -A {} 10.0.0.1
bw login bob@corp.io {}
htpasswd -nbB bob {}
mysql -u root -p{} shop
mysqladmin -u root password {}
curl -sSu bob:{} https://corp.io/x
openssl rsa -in k.pem -passin pass:{} -out o.pem
smbclient //srv/share -U bob%{}
kubectl create secret generic db --from-literal=pw={}
vault kv put secret/app one={}
7z a -p{} out.7z docs
sqlplus scott/{}@orcl
lftp -u bob,{} sftp://h
gh secret set NPM_X --body {}
poetry config http-basic.acme bob {}
sudo -S apt update <<< "{}"
""".strip().split("\n")


@for_each("command", COMMANDS)
@for_each("password", ["ELobYGWdlaID", "Maple4711!", "letmein7", '"two words 7!"'])
@for_each("around", ["{}", "$ {}\n", "Run `{}` once.", "  - run: {}\n", "-{}\n", "cd x\\n{}\\nls"])
def test_the_password_of_a_command_goes(command: str, password: str, around: str) -> None:
    if '"' in password and ('"' in command or "/" in command or "echo" in command or "pass:" in command):
        return  # quoted otherwise
    clean, counts = SCANNER.redact(around.format(command.format(password)))
    assert counts
    assert password.strip('"') not in clean
    assert clean.startswith(around.format(command.split("{}", maxsplit=1)[0].rstrip('"')).rstrip("\n` once.")[:12])


def test_services_are_recognised_by_their_calls_and_headers() -> None:
    sid, secret = "AC" + chance(32, HEX), chance(32, HEX, 2)
    assert SCANNER.redact(f'client = Client("{sid}", "{secret}")')[1] == {"twilio-token": 1}
    assert SCANNER.redact(f"authorization: {secret}")[1] == {"authorization-token": 1}
    assert SCANNER.redact(f"wandb login {chance(40, HEX)}")[1] == {"wandb-key": 1}
    assert SCANNER.redact("codecov -t 1b2c3d4e-1111-4222-8333-abcdefabcdef")[1] == {"command-password": 1}


def test_a_password_in_four_groups_is_one_where_its_context_says_so() -> None:
    assert SCANNER.redact("the app password is qbcd efgh ijzl mnop.")[1] == {"app-password": 1}
    text = "this will make sure that they work"
    assert SCANNER.redact(text) == (text, {})


# --- the tables ------------------------------------------------------------------------------------------------------


def _sample(body: str) -> str:
    alphabet, _, length = body.partition(" ")
    letters = {"hex": HEX, "HEX": HEX, "lower": SMALL, "upper": UPPER}.get(alphabet, LETTERS + "0123456789")
    return "1b2c3d4e-1111-4222-8333-abcdefabcdef" if alphabet == "uuid" else chance(int(length.split("-")[0]), letters)


@for_each("around", AROUND)
def test_every_prefix_of_the_table_is_found(around: str) -> None:
    for name, prefix, body in read_prefixes():
        token = prefix + _sample(body)
        clean, counts = SCANNER.redact(around.format(token))
        assert token[len(token) // 2 : -2] not in clean, (name, prefix)
        assert counts, name


def test_the_docs_say_how_many_services_the_tables_know() -> None:
    names = {rule.name for rule in (*provider_rules(), *prefix_rules(), *service_rules())}
    names |= {name for name, _, _ in read_prefixes()}
    commands = {form.literals[0] for form in command_forms() if len(form.literals) == 1}
    docs = (ROOT / "docs" / "redaction.md").read_text(encoding="utf-8")
    assert f"some {len(names) // 10 * 10} services" in docs
    assert f"some {len(commands) // 10 * 10} commands" in docs
