"""Every setting of a vault is declared, and one that weakens safety is ignored until it is accepted."""

from __future__ import annotations

import os
import re
import time
from pathlib import Path

import pytest

from crucible.core.secrets.redaction import redact_of
from crucible.core.settings import trust as trusting
from crucible.core.settings.session_settings import HookSettings
from crucible.core.settings.settings import (
    EventSettings,
    SecretSettings,
    VaultSettings,
    default_config,
    load_user_settings,
    load_vault_settings,
    read_vault_settings,
)
from crucible.core.settings.toml_values import Table, keys_of
from crucible.core.settings.trust import TEMPLATES, Ask
from crucible.core.templates import OwnTemplate
from crucible.integrations.hooks import client_hook as claude_code
from crucible.vault.notes.init_vault import keep_accepted
from crucible.vault.notes.vault import Vault
from tests.paths import ROOT
from tests.trusting import trust, trusted, user_of_test

FILE = "/v/config.toml"
DOCS = ROOT / "docs"
ASKED = {"briefing.include_files", "events.after", "secrets.allow", "secrets.rules"}
TOKEN = "ghp_" + "vK3xT9mQ2bL7wR5nZ8cJ4hF6dS1gP0yA3eUo"
HOSTILE = {
    "secrets.allow": '[secrets]\nallow = [".+"]\n',
    "secrets.rules": "[secrets.rules]\neverything = '.+'\n",
    "briefing.include_files": '[briefing]\ninclude_files = [".env"]\n',
    "events.after": '[events]\nafter = "delete"\n',
}


def put(root: Path, text: str) -> None:
    (root / ".crucible" / "config.toml").write_text(text)


def put_template(root: Path, name: str, text: str = "Obey me.") -> Path:
    path = root / ".crucible" / "templates" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


# --- every setting says whether a vault may say it ------------------------------------------------------------------


@pytest.fixture
def declared() -> dict[str, set[str]]:
    """The declared keys of a vault's file: those that count at once, and those that need to be accepted."""
    keys = dict(keys_of(VaultSettings()))
    return {
        "free": {name for name, key in keys.items() if not key.trust},
        "asked": {name for name, key in keys.items() if key.trust},
    }


def test_every_setting_says_whether_a_vault_may_say_it_by_itself(
    declared: dict[str, set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = set[str]()
    pop = Table.pop

    def noted(table: Table, dotted: str) -> object:
        read.add(dotted)
        return pop(table, dotted)

    monkeypatch.setattr(Table, "pop", noted)
    read_vault_settings(default_config(), FILE)
    earlier = {f"flight.{name}" for name in EventSettings._fields} | {
        f"capture.{name}" for name in HookSettings._fields
    }
    assert read - earlier == declared["free"] | declared["asked"] | {"recall.backend"}
    assert len(declared["free"]) > 50
    assert declared["asked"] == ASKED


def test_a_hook_that_reads_the_file_by_itself_reads_only_what_a_vault_may_say(
    declared: dict[str, set[str]],
) -> None:
    """For speed; what it asks the text for is this."""
    text = Path(claude_code.__file__).read_text(encoding="utf-8")
    keys = {"hooks.save", "hooks.interval_seconds", "resume.at_start", "briefing.at_start"}
    assert text.count('".crucible", "config.toml"') == 2
    assert keys <= declared["free"]


def test_the_docs_name_every_setting_and_who_may_say_it(declared: dict[str, set[str]]) -> None:
    page = (DOCS / "trust.md").read_text(encoding="utf-8")
    consent, _, always = page.partition("\n## What a vault may always set\n")
    rows = re.findall(r"(?m)^\| `\[([a-z_.]+)\]` \| (.+) \|$", always)
    assert {f"{table}.{key}" for table, keys in rows for key in re.findall(r"`(\w+)`", keys)} == declared["free"]
    assert all(f"| `{name}` |" in consent for name in ASKED)
    assert all(f"`{name}`" in consent for name in TEMPLATES)


def test_every_template_that_a_vault_may_have_has_to_be_accepted() -> None:
    source = ROOT / "crucible"
    named = {
        name
        for path in source.rglob("*.py")
        if "OwnTemplate(" in (text := path.read_text(encoding="utf-8"))
        for name in re.findall(r'(?m)^TEMPLATE = OwnTemplate\(\s*"(.+?)"', text)
    }
    assert named == set(TEMPLATES)


# --- a vault from a stranger ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", sorted(ASKED))
def test_what_weakens_safety_has_its_default_until_it_is_accepted(vault: Vault, key: str) -> None:
    put(vault.root, HOSTILE[key])
    found = load_vault_settings(vault.root, user_of_test())
    assert found._replace(asks=()) == VaultSettings()
    assert [(ask.name, ask.accepted) for ask in found.asks] == [(key, False)]
    assert trusted(vault.root)._replace(asks=()) != VaultSettings()


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_is_not_used_until_it_is_accepted(vault: Vault, name: str) -> None:
    put_template(vault.root, name)
    settings = load_vault_settings(vault.root, user_of_test())
    assert isinstance(OwnTemplate(name).of(settings), OwnTemplate)
    own = OwnTemplate(name).of(trusted(vault.root))
    assert own.render() == "Obey me."


def test_the_rest_of_such_a_vaults_settings_counts(vault: Vault) -> None:
    put(vault.root, '[sessions]\nfolder = "Logs"\n' + "".join(HOSTILE.values()))
    found = load_vault_settings(vault.root, user_of_test())
    assert (found.sessions, found.secrets, found.warnings) == ("Logs", SecretSettings(), ())


@pytest.mark.parametrize("allow", [".+", ".", "\\\\S", "(?s)^.*$", "[", "(?i)g", 3])
def test_no_exception_of_a_stranger_switches_redaction_off(vault: Vault, allow: object) -> None:
    shown = f"[{allow!r}]" if isinstance(allow, int) else f'["{allow}"]'
    put(vault.root, f"[secrets]\nallow = {shown}\n")
    settings = load_vault_settings(vault.root, user_of_test())
    assert redact_of(settings.secrets)(f"token {TOKEN}")[0] == "token [REDACTED:github-token]"


def test_a_strangers_rule_is_not_even_compiled(vault: Vault) -> None:
    put(vault.root, "[secrets.rules]\nslow = '(a+)+$'\nall = '.+'\n\"no name\" = '('\n")
    settings = load_vault_settings(vault.root, user_of_test())
    begun = time.perf_counter()
    assert redact_of(settings.secrets)("a" * 5000 + "!")[1] == {}
    assert time.perf_counter() - begun < 30


def test_a_change_is_ignored_until_it_is_accepted_again(vault: Vault) -> None:
    put(vault.root, '[secrets]\nallow = ["^test_"]\n')
    template = put_template(vault.root, "step.md.j2")
    user = trust(vault.root)
    put(vault.root, '# a comment\n[secrets]\nallow = [ "^test_" ]\n[resume]\nwindow = 3\n')
    assert all(ask.accepted for ask in load_vault_settings(vault.root, user).asks)
    put(vault.root, '[secrets]\nallow = ["^test_", "."]\n')
    template.write_text("Obey me!")
    found = load_vault_settings(vault.root, user)
    assert (found.secrets, found.templates) == (SecretSettings(), ())
    assert len(trusting.ignored_names(found.asks)) == 2


def test_what_was_accepted_of_one_setting_counts_for_no_other(vault: Vault) -> None:
    put(vault.root, '[briefing]\ninclude_files = ["."]\n')
    user = trust(vault.root)
    put(vault.root, '[secrets]\nallow = ["."]\n')
    assert load_vault_settings(vault.root, user).secrets == SecretSettings()
    put_template(vault.root, "step.md.j2")
    trust(vault.root)
    put_template(vault.root, "task.md.j2")
    assert [file.name for file in load_vault_settings(vault.root, user).templates] == ["step.md.j2"]


def test_what_was_accepted_of_one_vault_counts_for_no_other(vault: Vault, tmp_path: Path) -> None:
    other = tmp_path / "other"
    for root in (vault.root, other):
        (root / ".crucible").mkdir(parents=True, exist_ok=True)
        put(root, HOSTILE["secrets.allow"])
    user = trust(vault.root)
    assert load_vault_settings(vault.root, user).secrets.allow == (".+",)
    assert load_vault_settings(other, user).secrets.allow == ()


def test_the_users_own_rules_and_exceptions_always_count(vault: Vault, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text("[secrets]\nallow = ['^test_']\n[secrets.rules]\nacme = 'acme_[0-9]+'\n")
    user = load_user_settings(path, tmp_path)
    put(vault.root, HOSTILE["secrets.allow"])
    assert load_vault_settings(vault.root, user).secrets == SecretSettings((("acme", "acme_[0-9]+"),), ("^test_",))
    keep_accepted(user, str(vault.root), load_vault_settings(vault.root).asks)
    assert load_vault_settings(vault.root, user).secrets.allow == ("^test_", ".+")


# --- links and irregular files -----------------------------------------------------------------------------------------


def test_a_template_that_is_a_link_out_of_the_vault_is_never_read(vault: Vault, tmp_path: Path) -> None:
    private = tmp_path / "id_ed25519"
    private.write_text("private")
    os.symlink(private, vault.root / ".crucible" / "templates" / "step.md.j2")
    (ask,) = load_vault_settings(vault.root).asks
    assert (ask.fault, ask.digest, ask.lines) == ("it is outside the vault", "", ())
    assert trusted(vault.root).templates == ()


def test_a_linked_folder_of_templates_is_none(vault: Vault, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "step.md.j2").write_text("x")
    folder = vault.root / ".crucible" / "templates"
    folder.rmdir()
    folder.symlink_to(tmp_path / "elsewhere")
    assert trusted(vault.root).templates == ()


def test_symlinked_settings_are_accepted_by_content(vault: Vault, tmp_path: Path) -> None:
    inner = vault.root / ".crucible"
    elsewhere = inner.rename(tmp_path / "dotfiles")
    inner.symlink_to(elsewhere)
    put(vault.root, HOSTILE["secrets.allow"])
    assert load_vault_settings(vault.root, user_of_test()).secrets == SecretSettings()
    assert trusted(vault.root).secrets.allow == (".+",)
    (elsewhere / "config.toml").write_text(HOSTILE["secrets.rules"])
    assert load_vault_settings(vault.root, user_of_test()).secrets == SecretSettings()


def test_a_name_in_other_letters_is_another_file(vault: Vault) -> None:
    (vault.root / ".crucible" / "CONFIG.toml").write_text(HOSTILE["secrets.allow"])
    put_template(vault.root, "Step.md.j2")
    settings = load_vault_settings(vault.root, user_of_test())
    assert (settings.secrets, settings.templates) == (SecretSettings(), ())


@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: Path(path).write_bytes(b"x" * 300_000)])
def test_a_template_that_is_not_a_small_file_blocks_no_command(vault: Vault, make: object) -> None:
    path = vault.root / ".crucible" / "templates" / "step.md.j2"
    make(path)  # type: ignore[operator]
    (ask,) = load_vault_settings(vault.root).asks
    assert ask.fault
    assert trusted(vault.root).templates == ()


# --- the record -------------------------------------------------------------------------------------------------------


def test_the_record_is_not_looked_at_where_nothing_is_asked(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        pytest.fail("it was read")

    monkeypatch.setattr(trusting, "_lines_of", never)
    assert load_vault_settings(vault.root, user_of_test()).asks == ()


def test_a_record_in_the_vault_accepts_nothing(vault: Vault) -> None:
    put(vault.root, HOSTILE["secrets.allow"])
    user = trust(vault.root)
    mine = load_user_settings(vault.root / "mine.toml", vault.root)
    (vault.root / "trusted").write_text(Path(user.trusted).read_text())
    assert load_vault_settings(vault.root, mine).secrets == SecretSettings()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\n",
        "secrets.allow",
        " secrets.allow '%s'",
        "x secrets.allow '%s'",
        "* * *",
        "\udcff",
        "a" * 5_000_000,
    ],
)
def test_a_broken_record_accepts_nothing(vault: Vault, text: str) -> None:
    put(vault.root, HOSTILE["secrets.allow"])
    path = Path(user_of_test().trusted)
    path.parent.mkdir(parents=True)
    path.write_text(text.replace("%s", str(vault.root)), errors="surrogateescape")
    assert load_vault_settings(vault.root, user_of_test()).secrets == SecretSettings()


def test_what_is_shown_is_all_of_it_and_steers_no_terminal(vault: Vault) -> None:
    put(vault.root, '[secrets]\nallow = ["a\\u001b[2Jb", "\\u202e.+", "c\\nd"]\n')
    (ask,) = load_vault_settings(vault.root).asks
    assert isinstance(ask, Ask)
    assert all(line.isascii() and line.isprintable() for line in ask.lines)
    assert ask.lines == (r"'a\x1b[2Jb'", r"'\u202e.+'", r"'c\nd'")
