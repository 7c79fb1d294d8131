"""The list of what is never kept, as others ask it."""

from __future__ import annotations

import pytest

from crucible.capture.never import Never, has_secret, is_never, never_of


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("zsh: command not found: tree", Never.ENVIRONMENT),
        ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock", Never.ENVIRONMENT),
        ("License checkout failed: no licence server", Never.ENVIRONMENT),
        ("fatal: Unable to create '.git/index.lock': File exists.", Never.TRANSIENT),
        ("503 Service Unavailable", Never.TRANSIENT),
        ("went through the second time", Never.TRANSIENT),
        ("TypeError: x is not a function", None),
        ("assert 3 == 4", None),
    ],
)
def test_a_message_is_the_environments_or_chances(text: str, reason: Never | None) -> None:
    assert never_of(text, is_message=True) is reason


@pytest.mark.parametrize(
    "text",
    ["My favourite joke: a byte walks into a bar.", "The stand-up was moved to nine.", "Alles Gute zum Geburtstag!", "On a choisi la pizza."],
)  # fmt: skip
def test_small_talk_is_a_story(text: str) -> None:
    assert never_of(text) is Never.STORY


def test_a_choice_about_timeouts_is_no_chance() -> None:
    assert not is_never("We retry on a connection reset because the proxy closes idle ones.", "Use UTC.")


def test_secrets_are_known_by_their_form_and_by_where_they_were() -> None:
    assert has_secret("token: AKIAEK9ZNSTBZANWAIDS")
    assert has_secret("postgres://app:[REDACTED:password]@db/app")
    assert has_secret("use Xk3!pQ9#vLm2$ here")
    assert not has_secret("Token buckets at the edge, SameSite=Lax, src/App.tsx, v1.2.3-beta+4, getUser(id)!")
