from __future__ import annotations

import subprocess
import sys
import time
from base64 import b64encode
from itertools import pairwise
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import crucible.core.secrets.scanner
from crucible.core.errors import SecretsError
from crucible.core.secrets import Finding, Scanner
from crucible.core.secrets.visible_text import Visible
from crucible.core.settings.settings import SecretSettings
from tests.cases import for_each
from tests.unit.core.secrets.made import HEX, chance

SCANNER = Scanner(SecretSettings())
UPPER = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"


def _jwt(*, signed: bool = True) -> str:
    head, body = (
        b64encode(text).rstrip(b"=").decode() for text in (b'{"alg":"HS256","typ":"JWT"}', b'{"sub":"1234","a":1}')
    )
    return f"{head}.{body}.{chance(43) if signed else ''}"


TOKENS = {
    "aws-access-key-id": "AKIA" + chance(16, UPPER),
    "anthropic-key": "sk-ant-api03-" + chance(93) + "AA",
    "openai-key": "sk-proj-" + chance(100),
    "github-token": "ghp_" + chance(36),
    "gitlab-token": "glpat-" + chance(20),
    "slack-token": "xoxb-1" + chance(40),
    "stripe-key": "sk_live_" + chance(24),
    "sendgrid-key": "SG." + chance(22) + "." + chance(43),
    "npm-token": "npm_" + chance(36),
    "pypi-token": "pypi-AgEIcHlwaS5vcmc" + chance(80),
    "gcp-api-key": "AIza" + chance(35),
    "digitalocean-token": "dop_v1_" + chance(64, HEX),
    "huggingface-token": "hf_" + chance(34),
    "databricks-token": "dapi" + chance(32, HEX),
    "telegram-token": "7123456789:AA" + chance(33),
    "vault-token": "hvs." + chance(95),
    "supabase-key": "sb_secret_" + chance(31),
    "shopify-token": "shpat_" + chance(32, HEX),
    "age-secret-key": "AGE-SECRET-KEY-1" + "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L" * 2,
    "jwt": _jwt(),
}


@for_each("rule", TOKENS)
@for_each("around", ["{}", "see {}.", '"{}"', "word{}", "a={}&b=1", "x\\n{}\\n", "(`{}`)", "é {} →"])
def test_a_token_is_found_in_any_position(rule: str, around: str) -> None:
    token = TOKENS[rule]
    text = around.format(token)
    clean, counts = SCANNER.redact(text)
    assert token not in clean
    assert counts == {rule: 1}
    assert clean.startswith(around.split("{}", maxsplit=1)[0])


def test_a_jwt_without_a_signature_is_one_too() -> None:
    assert SCANNER.redact(f"t {_jwt(signed=False)} x")[1] == {"jwt": 1}


def test_only_the_secret_goes() -> None:
    token = TOKENS["github-token"]
    assert SCANNER.redact(f'GH_TOKEN="{token}" # mine')[0] == 'GH_TOKEN="[REDACTED:github-token]" # mine'
    assert SCANNER.redact(f"https://bob:{token}@h.io/x")[0] == "https://bob:[REDACTED:github-token]@h.io/x"


def test_findings_stand_in_order_and_apart() -> None:
    text = " ".join(f'key_{n} = "{token}"' for n, token in enumerate(TOKENS.values()))
    found = SCANNER.find(text)
    assert len(found) == len(TOKENS)
    assert all(a.end <= b.start for a, b in pairwise(found))
    assert [text[f.start : f.end] for f in found] == list(TOKENS.values())


# --- private keys --------------------------------------------------------------------------------------------------

BODY = [chance(64, seed=n) for n in range(4)] + [chance(30) + "=="]
KEYS = ["RSA ", "", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED "]


def _pem(kind: str = "RSA ", line: str = "\n") -> str:
    return line.join([f"-----BEGIN {kind}PRIVATE KEY-----", *BODY, f"-----END {kind}PRIVATE KEY-----"])


@for_each("kind", KEYS)
@for_each("line", ["\n", "\\n", "\r\n", "\n+", "\n    ", "\\\\n", "\n2026-01-01T00:00:00Z INFO  "])
def test_a_private_key_is_removed_completely(kind: str, line: str) -> None:
    text = f"before\n{_pem(kind, line)}\nafter"
    assert SCANNER.redact(text) == ("before\n[REDACTED:private-key]\nafter", {"private-key": 1})


@pytest.mark.parametrize("lines", [2, 3, 5])
def test_a_private_key_that_is_cut_goes_as_far_as_it_is_there(lines: int) -> None:
    cut = "\n".join(_pem().split("\n")[:lines])
    assert SCANNER.redact(f"x\n{cut}")[0] == "x\n[REDACTED:private-key]"
    clean = SCANNER.redact(f"x\n{cut}\nand then we went home, all of us\n")[0]
    assert clean == "x\n[REDACTED:private-key]\nand then we went home, all of us\n"


def test_a_pgp_private_key_is_one_and_a_public_one_is_none() -> None:
    block = "\n".join(
        [
            "-----BEGIN PGP PRIVATE KEY BLOCK-----",
            "Version: 2",
            "",
            *BODY,
            "-----END PGP PRIVATE KEY BLOCK-----",
        ]
    )
    assert SCANNER.redact(block)[0] == "[REDACTED:private-key]"
    for kind in ("CERTIFICATE", "PUBLIC KEY", "PGP PUBLIC KEY BLOCK", "RSA PUBLIC KEY"):
        text = "\n".join([f"-----BEGIN {kind}-----", *BODY, f"-----END {kind}-----"])
        assert SCANNER.redact(text) == (text, {})


def test_words_about_a_private_key_stay() -> None:
    for text in (
        'if "-----BEGIN PRIVATE KEY-----" in text:',
        "It begins with `-----BEGIN RSA PRIVATE KEY-----`, then base64.",
        "-----BEGIN RSA PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
    ):
        assert SCANNER.redact(text) == (text, {})


# --- what is left alone -------------------------------------------------------------------------------------------

KEPT = [
    "password=${DB_PASSWORD}", "password: $PASSWORD", 'api_key = "{{ api_key }}"', "token: <token>", "PASSWORD=changeme",
    'api_key="your-api-key-here"', "secret: xxxxxxxxxxxx", "password: ********", "password=None", "token: null",
    'key = os.environ["API_KEY"]', "const token = process.env.TOKEN;", "password = get_password(user)",
    "def login(user: str, password: str) -> None:", "token: string;", 'password: "example"', "self.token = token",
    "password=password, token=token)", "max_tokens: 4096", "token_count=12345678", 'tokenizer = "cl100k_base"',
    "primary_key=True", "The password must be at least 12 characters long.", "Forgot your password? Reset it here.",
    'password_file = "/run/secrets/db_password"', "monkey: 12345678901", "author: Ada Lovelace", 'secretary = "Bob42Smith7"',
    'export API_KEY="$(pass show api)"', "Authorization: Bearer <token>", "Authorization: Bearer ${TOKEN}",
    "postgres://${USER}:${PASSWORD}@localhost/db", "postgres://user:password@localhost/db", "https://example.com:8080/a@b",
    "npm install @scope/pkg@1.2.3", "key: value", "if token == last_token:", "passed=12 failed=3", "compass: north42west",
    "-----BEGIN", "Basic authentication is required", "bearer of bad news in 2024", "session_id: ses_0123456789abcdef01",
    "docker run -p 8080:80 -u 1000:1000 img", "return password is not None and len(password) > 8",
]  # fmt: skip


@for_each("text", KEPT)
def test_what_is_no_secret_stays(text: str) -> None:
    assert SCANNER.redact(text) == (text, {})


@for_each(
    "text",
    [
        "commit " + chance(40, HEX), "sha256:" + chance(64, HEX), "md5 " + chance(32, HEX), "sha512 " + chance(128, HEX),
        f'"integrity": "sha512-{chance(86)}=="', "toolu_01" + chance(22), "msg_01" + chance(22), "call_" + chance(24),
        "req_" + chance(24), "resp_" + chance(48, HEX), "ses_" + chance(26), f"data:image/png;base64,{chance(4000)}",
        "cache_key: " + chance(64, HEX), f"id: {chance(8, HEX)}-1234-4567-89ab-{chance(12, HEX)}",
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAA" + chance(40), "/usr/lib/python3.11/site-packages/x9/Y8z7/token.py",
    ],
)  # fmt: skip
def test_hashes_ids_and_pictures_stay(text: str) -> None:
    assert SCANNER.redact(text) == (text, {})


# --- twice ------------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [*TOKENS.values(), *KEPT, "password=", '"token": "', "secret: ", "://u:", "@h ", "=", '"', "'", "\\n", "\n", " ", "Bearer ",
     "[REDACTED:jwt]", "[REDACTED:", "]", "é", chance(40, HEX), chance(20), "-----BEGIN RSA PRIVATE KEY-----\n" + BODY[0]]
)  # fmt: skip


@given(st.lists(PIECES, max_size=12).map("".join) | st.text())
def test_what_was_redacted_has_no_secret_any_more(text: str) -> None:
    clean, _ = SCANNER.redact(text)
    assert SCANNER.find(clean) == []
    assert SCANNER.redact(clean) == (clean, {})


@given(st.lists(PIECES, max_size=12).map("".join))
def test_what_is_not_found_stays_as_it_is(text: str) -> None:
    found = SCANNER.find(text)
    clean, counts = SCANNER.redact(text)
    assert sum(counts.values()) >= len(found)
    assert bool(found) == (clean != text)


# --- settings ---------------------------------------------------------------------------------------------------


def test_a_rule_of_ones_own_takes_its_group_or_all() -> None:
    scanner = Scanner(SecretSettings(rules=(("acme", r"acme_[0-9]{4}"), ("badge", r"badge (\w+)"))))
    assert scanner.redact("acme_1234 and badge red7") == (
        "[REDACTED:acme] and badge [REDACTED:badge]",
        {"acme": 1, "badge": 1},
    )
    assert scanner.redact("acme_1234 badge é1")[0] == "[REDACTED:acme] badge [REDACTED:badge]"


def test_a_rule_of_ones_own_names_what_a_built_in_one_finds_too() -> None:
    token = TOKENS["github-token"]
    assert Scanner(SecretSettings(rules=(("ours", "ghp_\\w+"),))).redact(token)[1] == {"ours": 1}


def test_what_the_allow_list_finds_stays() -> None:
    token = TOKENS["github-token"]
    assert Scanner(SecretSettings(allow=("^ghp_",))).redact(f"token={token}") == (f"token={token}", {})
    assert Scanner(SecretSettings(allow=("^gho_",))).redact(token)[1] == {"github-token": 1}


def test_an_expression_that_does_not_compile_is_an_error_that_says_nothing_was_written() -> None:
    for settings in (SecretSettings(rules=(("a", "("),)), SecretSettings(allow=("(",))):
        with pytest.raises(SecretsError, match="nothing was written") as caught:
            Scanner(settings)
        assert caught.value.hint


@pytest.mark.parametrize("library", [None, SimpleNamespace(), SimpleNamespace(BytesAhoCorasick=0, Implementation=0)])
def test_without_its_library_nothing_is_looked_at_and_nothing_kept(
    monkeypatch: pytest.MonkeyPatch, library: object
) -> None:
    crucible.core.secrets.scanner._machine.cache_clear()
    monkeypatch.setitem(sys.modules, "ahocorasick_rs", library)
    try:
        with pytest.raises(SecretsError, match="nothing was written"):
            Scanner(SecretSettings())
    finally:
        crucible.core.secrets.scanner._machine.cache_clear()


def test_importing_the_room_is_light() -> None:
    code = "import crucible.core.secrets, sys; print('ahocorasick_rs' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"


# --- hostile ----------------------------------------------------------------------------------------------------

_MB = 1_000_000
HOSTILE = [
    "a", "=", '"', "'", "\\", "\n", " ", "://", "://a:", "a:b@", "-----BEGIN ", "-----BEGIN RSA PRIVATE KEY-----", "A" * 63 + "\n",
    "-----BEGIN RSA PRIVATE KEY-----\n" + "A" * 64 + "\n", "eyJ", "eyJ.", "eyJhbGciOi.eyJ", "sk-", "AKIA", "[REDACTED:", "[REDACTED:a]",
    ";base64,", "ghp_", "A" * 19, "s.", "Basic ", "${", "{{", "a-", "a/", "a.", "ab12", "é", "AZDO", "-us1", "%3A", "echo a | ", "thin:a/",
]  # fmt: skip
DENSE = [
    "password", "password=", 'password="', "password='", 'token":"', "key: ", "pass ", "secret is ", "auth(", "auth('a',", "curl -u ",
    "mysql -p", "0", "EAA", "xoxb-", "Bearer ", "cookie: ", "<password>", '\\"key\\": ', "key=a&", "token,'", "name: key, ", "sig=",
    '"name": "API_KEY", ', 'name="password"', "password é", "key|", "login a password ", "identified by ", "password%3D", "pass:",
    "password-stdin ", "password,token,", "| password ", "user,password\nbob,x\n", "Cookie: a=b; ", "api_keys:\n- a1b2c3d4e5\n",
    "[a]\npassword = x\n", "пароль: ", "pass: '", "password  ", "<password>", '["password"]=>\n string(3) ',
]  # fmt: skip
"""Nothing but names of secrets: each is looked at, so it takes longer, but no longer than it is long."""


def _seconds(piece: str, size: int) -> float:
    text = (piece * (size // len(piece) + 1))[:size]
    begin = time.process_time()
    SCANNER.find(text)
    return time.process_time() - begin


@pytest.mark.timed
@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hostile_megabyte_takes_less_than_a_second(piece: str) -> None:
    _seconds(piece, 1000)  # compiled now
    # A busy machine counts too, so a slow look is taken again.
    assert any(_seconds(piece, _MB // 4) < 0.4 for _ in range(3))


@pytest.mark.timed
@pytest.mark.parametrize("piece", DENSE)
def test_names_without_end_take_linear_time(piece: str) -> None:
    _seconds(piece, 1000)
    small = max(_seconds(piece, _MB // 200), 0.002)
    assert _seconds(piece, _MB // 40) < 5 * small * 4


@pytest.mark.timed
def test_a_line_of_megabytes_is_scanned_completely() -> None:
    token = TOKENS["github-token"]
    text = "var a=1;" * 300_000 + f'x="{token}"' + "f(b);" * 300_000
    begin = time.process_time()
    assert [text[f.start : f.end] for f in SCANNER.find(text)] == [token]
    assert time.process_time() - begin < 1
    assert isinstance(SCANNER.find(token)[0], Finding)


PAINTED = [
    ("\x1b[01;31m\x1b[Kghp_\x1b[m\x1b[K", "aB3dE5gH7jK9mN1pQ3sT5vW7yZ9bC1dE3fG5", ""),
    ("ghp_aB3dE5gH7jK9mN1p", "\x00", "Q3sT5vW7yZ9bC1dE3fG5"),
    ("ghp_aB3dE5gH7jK9mN1p", "\u00ad\u200b", "Q3sT5vW7yZ9bC1dE3fG5"),
    ("gh\x1b]0;title\x07p_aB3dE5gH7jK9mN1p", "\x07", "Q3sT5vW7yZ9bC1dE3fG5"),
]


@pytest.mark.parametrize("parts", PAINTED)
def test_a_secret_is_known_through_a_terminals_colours(parts: tuple[str, ...]) -> None:
    text = f"a\x1b[1m b {''.join(parts)} c\x1b[0m d"
    clean, counts = Scanner(SecretSettings()).redact(text)
    assert sum(counts.values()) == 1
    assert "aB3dE5gH" not in clean
    assert "Q3sT5vW7" not in clean
    assert clean.startswith("a\x1b[1m b ")
    assert clean.endswith(" c\x1b[0m d")


@given(st.text("ab=\x1b[m;31K\u200b\x00 \n", max_size=40))
def test_visible_text_maps_back_to_its_position(text: str) -> None:
    shown = Visible(text)
    for at, letter in enumerate(shown.text):
        start, end = shown.span(at, at + 1)
        assert text[start:end] == letter


def test_a_text_that_is_clean_under_one_name_is_a_secret_under_another() -> None:
    scanner, word = Scanner(), "horsebattery"
    for name in ("", "content", "file_path"):
        assert scanner.redact(word, name) == (word, {})
    assert scanner.redact(word, "password") == ("[REDACTED:named-secret]", {"named-secret": 1})
    assert scanner.redact(word, "content") == (word, {})


def test_the_texts_cached_as_clean_are_bounded() -> None:
    scanner = Scanner()
    for number in range(5_000):
        scanner.redact(f"line {number} " + "of words " * 200)
    assert sum(map(len, scanner.clean)) <= 2_000_000


@pytest.mark.parametrize("name", ["tokenUsage", "a_token", "author", "sessionID", "api token"])
def test_each_name_in_a_line_is_judged_by_its_own_words(name: str) -> None:
    secret = chance(24)
    assert secret not in SCANNER.redact(f'{name}: 5, api_key: "{secret}"')[0]


def test_a_number_and_an_arrow_before_a_line_hide_no_secret() -> None:
    lines = [f"{number:6}→some code" for number in range(1, 40)]
    lines[20] = f'    21→api_key = "{chance(32)}"'
    clean, counts = SCANNER.redact("\n".join(lines))
    assert clean == "\n".join([*lines[:20], '    21→api_key = "[REDACTED:named-secret]"', *lines[21:]])
    assert counts == {"named-secret": 1}
