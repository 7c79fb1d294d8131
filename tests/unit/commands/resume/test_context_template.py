"""A vault's own template, which may come from another person."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from crucible.commands.resume.resume_context import TEMPLATE, build_context
from crucible.commands.resume.resume_material import Material
from crucible.core.errors import VaultError
from crucible.core.templates import OwnTemplate, VaultTemplate, template_folder
from crucible.core.tokens import Estimate
from crucible.documents.session.session import Decision
from tests.trusting import trusted
from tests.unit.commands.resume.contexts import NOW, context, phase, session, turn

NEEDED = "{{ label }}{{ decisions }}{{ tasks }}{{ errors }}"
MADE = session(phase("A", *turn(1), Decision("use a bucket")))


def put(root: Path, text: str | bytes) -> Path:
    path = root / ".crucible" / "templates" / "resume.md.j2"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def render(root: Path, text: str | bytes) -> str:
    put(root, text)
    return build_context(
        Material(MADE, NOW), window=15, budget=4000, counter=Estimate(), template=TEMPLATE.of(trusted(root))
    ).text


def test_without_a_template_of_the_vault_ours_is_used(tmp_path: Path) -> None:
    assert isinstance(TEMPLATE.of(trusted(tmp_path)), OwnTemplate)


def test_a_vaults_template_replaces_ours(tmp_path: Path) -> None:
    text = render(
        tmp_path, "My own {{ session_id }}\n" + NEEDED + "{% for one in left_out %}{{ one.what }}{% endfor %}"
    )
    assert text.startswith("My own 2026-11-21-it\n")
    assert "use a bucket" in text


def test_a_byte_order_mark_is_not_part_of_the_text(tmp_path: Path) -> None:
    assert render(tmp_path, "\ufeffMine " + NEEDED).startswith("Mine ")


def test_a_copy_of_ours_gives_the_same_bytes(tmp_path: Path) -> None:
    ours = (template_folder() / "resume.md.j2").read_text(encoding="utf-8")
    assert render(tmp_path, ours) == context(MADE, 4000).text


@pytest.mark.timed
@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("a\nb {{ goal", 2, "unexpected end of template"),
        ("a\n{% bad %}", 2, "unknown tag"),
        ("\n\n{{ nothing }}", 3, "'nothing' is no value that this template is given"),
        ("{{ range(10**9) }}", 1, "may not hold a"),
        ("{{ 'a' * 10**10 }}", 1, "may not hold a mul"),
        ("{% for a in 'aaaa' %}{% endfor %}", 1, "a loop goes over a value"),
        ("{% for a in goal %}\n{% for b in goal %}{% endfor %}{% endfor %}", 2, "a loop goes over a value"),
        ("{% set x = goal ~ goal %}", 1, "may not hold a"),
        ("{% macro m() %}{% endmacro %}", 1, "may not hold a macro"),
        ("{% include 'x' %}", 1, "may not hold a include"),
        ("{{ goal.__class__.__mro__ }}", 1, "nothing that a template may ask for"),
        ("{{ goal|center(10000000000) }}", 1, "the filter 'center'"),
        ("{{ '%1000000000d' % 1 }}", 1, "may not hold a mod"),
        ("{{ ''.join(goal) }}", 1, "may not hold a call"),
        ("{{ goal[0:5] }}", 1, "may not hold a getitem"),
        ("{{ lipsum(n=1000) }}", 1, "may not hold a call"),
        ("{{ self }}", 1, "'self' is no value"),
        ("{{ '{:>9999999999}'.format(1) }}", 1, "may not hold a call"),
        ("{{ goal.upper }}", 1, "nothing that a template may ask for"),
        ("{{ left_out.count }}", 1, "nothing that a template may ask for"),
        ("{{ goal|trim('`text') }}", 1, "takes a fence away"),
        ("{{ goal }}", 1, "it does not print {{ decisions }}"),
        ("{% if false %}" + NEEDED + "{% endif %}", 1, "it does not print {{ decisions }}"),
        ("x\n{{ position|length }}{{ is_tight|length }}" + NEEDED, 2, "has no len()"),
        ("{{ " + "(" * 5000 + ")" * 5000 + " }}", 1, "no template that can be read"),
        ("x" * 70_000, 1, "longer than"),
        ("\n{% for a in decisions %}" + "{% if decisions|upper == tasks %}{% endif %}" * 1000 + "{% endfor %}", 2, "is a text"),
        ("{{ decisions }}" * 4000, 1, "its text is longer than"),
    ],
)  # fmt: skip
def test_a_broken_template_is_one_line_with_file_and_line_and_is_quick(
    text: str, line: int, says: str, tmp_path: Path
) -> None:
    put(tmp_path, text)
    started = time.perf_counter()
    with pytest.raises(VaultError) as caught:
        _build_long(tmp_path)
    assert time.perf_counter() - started < 2
    assert str(caught.value).startswith(f"{tmp_path / '.crucible/templates/resume.md.j2'}:{line}: ")
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "uses its own" in caught.value.hint


def _build_long(root: Path) -> None:
    made = session(phase("A", Decision("x" * 1000)))
    template = TEMPLATE.of(trusted(root))
    build_context(Material(made, NOW), window=1, budget=4000, counter=Estimate(), template=template)


def test_a_template_that_is_not_text_or_not_a_file_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(VaultError, match="it is not UTF-8"):
        render(tmp_path, b"\xff")
    path = put(tmp_path, "x")
    path.unlink()
    path.mkdir()
    assert isinstance(TEMPLATE.of(trusted(tmp_path)), OwnTemplate)


def test_a_template_outside_the_vault_is_never_used(tmp_path: Path) -> None:
    outside = tmp_path / "outside.j2"
    outside.write_text(NEEDED)
    path = put(tmp_path / "vault", "")
    path.unlink()
    os.symlink(outside, path)
    assert isinstance(TEMPLATE.of(trusted(tmp_path / "vault")), OwnTemplate)


def test_a_pipe_as_template_does_not_block(tmp_path: Path) -> None:
    path = put(tmp_path, "")
    path.unlink()
    os.mkfifo(path)
    assert isinstance(TEMPLATE.of(trusted(tmp_path)), OwnTemplate)


def test_a_vaults_template_cannot_make_our_marks(tmp_path: Path) -> None:
    text = render(tmp_path, "<!-- cru:resume a b -->\n<!-- cru:own-session -->" + NEEDED)
    assert "<!-- cru:" not in text


def test_our_template_follows_the_rules_for_a_vaults() -> None:
    text = (template_folder() / "resume.md.j2").read_text(encoding="utf-8")
    VaultTemplate(text, "resume.md.j2", names=TEMPLATE.names)
    assert not [name for name in TEMPLATE.names if name not in text]
