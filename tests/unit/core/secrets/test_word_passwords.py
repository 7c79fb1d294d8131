from __future__ import annotations

import pytest

from crucible.core.secrets import Scanner
from crucible.core.settings.settings import SecretSettings
from tests.cases import for_each
from tests.unit.core.secrets.made import chance

SCANNER = Scanner(SecretSettings())
WORDED = [
    "setenv DB_PASSWORD {}",
    "ENV DB_PASSWORD {}",
    "set -gx DB_PASSWORD {}",
    "set -x MYSQL_PASSWORD {}",
    'config.set("db.password", "{}")',
    'props.put("password", "{}")',
    'os.environ.setdefault("DB_PASSWORD", "{}")',
    "INSERT INTO settings VALUES ('db_password', '{}');",
    "the password is {}",
    "The database password is {}.",
    "password was {} before",
    "password: {}",
    "PASSWORD={}",
    "password={}",
    'password = "{}"',
    'user.setPassword("{}")',
    "--password {}",
    "--password={}",
    "use {} as the password",
    "Use `{}` as the password",
    "| password | {} |",
    "user,password\nbob,{}",
    "mysql -u root -p{} x",
    "Password for bob: {}",
    "expect(config.password).toBe('{}')",
    "cy.get('#password').type('{}')",
    "[client]\nuser = root\npassword = {}",
]  # fmt: skip
WORDS = ["Copper-Kettle-Moon", "copper-kettle-moon", "QuietLakeStone", "kQzPwLrTmXbV"]


@for_each("notation", WORDED)
def test_a_password_needs_no_digit(notation: str) -> None:
    for word in WORDS:
        if "{} as the" in notation and "`" not in notation and word == "QuietLakeStone":
            continue  # what a program is called, too
        assert word not in SCANNER.redact(notation.replace("{}", word))[0]


ALONE = [
    "password: {}",
    "password={}",
    "  password: {}",
    "- password: {}",
    "user: x\npassword: {}\nhost: y",
    "12\tpassword: {}",
    "+password: {}",
    "DB_PASSWORD={}",
    "setenv DB_PASSWORD {}",
    "[client]\nuser = root\npassword = {}",
    "spring.datasource.password={}",
    "db_pass: {}",
    "password: {}  # prod",
]  # fmt: skip


@for_each("notation", ALONE)
def test_a_word_alone_on_its_line_under_a_passwords_name_is_one(notation: str) -> None:
    for word in ("horsebattery", "sunflowers"):
        assert word not in SCANNER.redact(notation.replace("{}", word))[0]


@pytest.mark.parametrize(
    "notation",
    [
        "passphrase: {}",
        'PASSPHRASE="{}"',
        "PASSPHRASE={}",
        "the passphrase is {}.",
        '"password": "{}"',
        "+password: {}",
    ],
)
def test_a_passphrase_of_words_is_removed_completely(notation: str) -> None:
    for phrase in ("copper kettle moon sparrow", "velvet anchor tulip gravel canyon otter"):
        clean, counts = SCANNER.redact(notation.replace("{}", phrase))
        assert counts == {"named-password": 1}
        assert not [word for word in phrase.split() if word in clean]


KEPT = [
    "password: please choose something longer", "The passphrase is asked for when it is needed", '"password": "must not contain spaces here"',
    "password: string",
    "password: string;",
    "password: required",
    "password = getpass()",
    "password: str",
    "password: incorrect",
    "Password: rejected",
    "password: hashed",
    "password: userPassword",
    "login({\n  user: name,\n  password: userinput\n})",
    "f(password=horses)",
    "f(\n    user=a,\n    password=userpass,\n)",
    "password = userinput",
    "password: Optional[str]",
    "The password is case-sensitive",
    "the password is well-known",
    "The password is bcrypt-hashed and salted",
    'errors.add("password", "tooShort")',
    't("password", "Password")',
    'cls("password", "form-control")',
    'input("password", "btn-primary")',
    "ADD COLUMN password varchar",
    "restored from key: Linux-node-18-3f9a8c1e2b4d5a6f7081923a4b5c6d7e8f901a2b3c4d5e6f708192a3b4c5d6e7",
    "Cache saved with key: macOS-pip-3.11-9b74c9897bac770ffc029102a200c5de",
    "Cache restored from key: v1-deps-9b74c9897bac770ffc029102a200c5de1234567890abcdef1234567890abcdef",
    "redis key: user:8f3a9c1e:profile",
    "GET user:1234:session",
    "net use",
    "net user",
    "mysql -u root -p",
    "mysql -u root -p shop",
    'send "hello"',
    '"password: %s"',
    "password=%s",
    "password=%(password)s",
    "token=user-%d",
    "Server=%s;Password=%s;",
    "expect(errors.password).toBe('required')",
    'expect(form.password).toBe("tooShort")',
    "expect(screen.password).toBeVisible()",
    "password=abc def",
    "wpa_passphrase",
    'if token == "--help2":',
    'SECRET = "app"',
    "password: {{ vault_password }}",
    "password: required\nusername: required",
    "passwd: files systemd",
    "passwd:         files systemd",
    "- name: password\n  required: true",
]  # fmt: skip


@for_each("text", KEPT)
def test_a_word_of_code_is_no_password(text: str) -> None:
    assert SCANNER.redact(text) == (text, {})


@pytest.mark.parametrize("value", ["aB%d9#kLm", "Zp%x7Lq%s2w", "q%s-Ty77%i", "Tr0ub4dor&3x"])
def test_signs_in_a_password_hide_nothing_of_it(value: str) -> None:
    for notation in (
        "Server=h;Password={};Encrypt=true",
        "my pw is password={}",
        'password: "{}"',
        "PASSWORD={}",
    ):
        assert value[-4:] not in SCANNER.redact(notation.replace("{}", value))[0]


@pytest.mark.parametrize(
    "key",
    [
        f"Linux-node-18-{chance(64, '0123456789abcdef')}", f"macOS-pip-3.11-{chance(32, '0123456789abcdef')}",
        f"v2-deps-{chance(40, '0123456789abcdef')}", "user:8f3a9c1e77aa:profile", f"build:{chance(20, '0123456789abcdef')}",
    ],
)  # fmt: skip
def test_the_key_of_a_cache_is_none(key: str) -> None:
    for notation in (
        "Cache restored from key: {}",
        "Cache saved with key: {}",
        "redis key: {}",
        "key: {}",
        'key="{}"',
    ):
        text = notation.replace("{}", key)
        assert SCANNER.redact(text) == (text, {})
