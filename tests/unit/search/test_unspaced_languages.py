"""Questions in Chinese, Japanese, Korean and Thai, whose words are not separated by blanks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from crucible.core.settings.settings import VaultSettings
from crucible.search.recall import Question, Recall
from crucible.search.team.vault_rows import VaultDocuments
from crucible.search.team_servers import open_pusher, open_team
from samples.postgres_server import Team
from tests.unit.search.vaults import NOW, recall, session_of, vault_of

SAID = {
    "zh-cache": ("缓存什么时候失效？", "缓存在每天午夜失效，因为配额按天计算。"),
    "zh-retry": ("上传失败后怎么办？", "上传失败后重试三次，每次等待时间加倍。"),
    "zh-queue": ("我们用哪个消息队列？", "决定使用Redis作为消息队列，不用Kafka，因为运维更简单。"),
    "ja-cache": ("キャッシュはいつ消えますか。", "キャッシュは真夜中に消えます。割り当てが一日単位だからです。"),
    "ja-retry": ("アップロードに失敗したら？", "アップロードに失敗したら三回まで再試行します。"),
    "ja-login": ("ログイン画面が遅い理由は？", "画像を圧縮していないため、ログイン画面の表示が遅くなっていました。"),
    "ko-cache": ("캐시는 언제 만료되나요?", "할당량이 하루 단위이므로 캐시는 자정에 만료됩니다."),
    "ko-retry": ("업로드가 실패하면 어떻게 하나요?", "업로드가 실패하면 세 번까지 다시 시도합니다."),
    "ko-test": ("테스트가 왜 느린가요?", "데이터베이스를 매번 새로 만들기 때문에 테스트가 느립니다."),
    "th-cache": ("แคชหมดอายุเมื่อไร", "แคชหมดอายุตอนเที่ยงคืน เพราะโควตาเป็นรายวัน"),
}

ASKED = [
    ("午夜的时候什么会失效", "zh-cache"),
    ("失败以后要重试几次？", "zh-retry"),
    ("为什么不用 Kafka 做队列", "zh-queue"),
    ("真夜中に何が消えるのか", "ja-cache"),
    ("再試行は何回しますか", "ja-retry"),
    ("表示が遅い原因", "ja-login"),
    ("자정에 무엇이 만료돼요?", "ko-cache"),
    ("실패하면 몇 번 시도해요?", "ko-retry"),
    ("느린 테스트의 이유", "ko-test"),
    ("อะไรหมดอายุตอนเที่ยงคืน", "th-cache"),
]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    sessions = [session_of(name, *said, title=name) for name, said in SAID.items()]
    return vault_of(tmp_path_factory.mktemp("east") / "v", *sessions)


@pytest.fixture
def server(root: Path, team: Team) -> Iterator[Recall]:
    pusher = open_pusher(team.address(), "vault")
    assert pusher.push(VaultDocuments(root, VaultSettings())).new == len(SAID)
    pusher.close()
    opened = open_team(team.address())
    yield opened
    opened.close()


def _first(engine: Recall, text: str) -> tuple[str, str]:
    answer = engine.ask(Question(text), NOW)
    return answer.sessions[0].session, answer.hits[0].event.session


@pytest.mark.parametrize(("text", "session"), ASKED)
def test_a_question_finds_its_session(root: Path, text: str, session: str) -> None:
    assert _first(recall(root), text) == (session, session)


def test_a_server_finds_the_same_sessions(server: Recall) -> None:
    assert [_first(server, text) for text, _ in ASKED] == [(session, session) for _, session in ASKED]


def test_a_pair_of_letters_does_not_match_the_letters_elsewhere(root: Path) -> None:
    assert {hit.event.session for hit in recall(root).ask(Question("队列"), NOW).hits} == {"zh-queue"}
    assert recall(root).ask(Question("列队"), NOW).hits == ()


def test_phrases_and_exclusions_work_between_letters(root: Path) -> None:
    engine = recall(root)
    assert {hit.event.session for hit in engine.ask(Question('"消息队列"'), NOW).hits} == {"zh-queue"}
    excluded = engine.ask(Question('失败 失效 -"每天午夜"'), NOW)
    assert "缓存在每天午夜失效，因为配额按天计算。" not in {hit.event.text for hit in excluded.hits}


def test_a_single_letter_is_a_word(root: Path) -> None:
    assert {hit.event.session for hit in recall(root).ask(Question("倍"), NOW).hits} == {"zh-retry"}
