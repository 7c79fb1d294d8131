"""What the words of a failure's story are about: a wish, the project's papers, others, the machine, the call, whatever the language.

Owns the lists of words and how a text becomes a row of concepts, sentence by sentence.  Words are in lower case; one that ends with `*`
stands for all that begin so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from crucible.patterns import late_pattern

__all__ = ["LISTS", "pairs", "sentences"]

LISTS: Mapping[str, str] = {
    "wisher": (
        "user* customer* client clients designer* reviewer* product owner* pm po finance accounting legal sales support "
        "marketing boss editor editors stakeholder* requester* tester* qa publisher* manager* management colleague* "
        "lead teacher kunde* nutzer* cliente* usuario* usuário* utilisat* auftraggeber* benutzer*"
    ),
    "order": (
        "ticket* order request* story stories spec specs brief wish wishes card acceptance criteri* requirement* "
        "checklist sheet sentence wording instruction* auftrag* aufgabe* demande* pedido* tarea* tarefa* bitte"
    ),
    "want": (
        "want* mean means meant intend* intention* expect* asked ask asks wish* hoped hoping imagin* pictur* thought "
        "think demand* mind understood understand* understand interpret* reading gemeint meinte* wollte* woll* dachte "
        "voulai* voulu pensai* parlai* quería* quer* refería* refer* pens* pedi* meaning definition define* clarif* "
        "ambigu* unclear vague つもり 意思 意味 欲し 望"
    ),
    "look": (
        "guessed memory-of heart unopened searched grepped blind blindly pulled fetched fetch stale-read read reads "
        "reading opened opening look* check* seen saw see grep* search* list listing glanc* scroll* notic* overlook* "
        "unread gelesen geschaut lu regard* leí leído mir* li lido olh* verific* assum* guess* supposed 読 確認 看 查"
    ),
    "say": (
        "伝 言 dit dicho disse gesagt wrote geschrieben écrit says say said shows show shown tells told tell lists listed "
        "names named spells writes written stands stood defines defined documents documented explains mentions sagt "
        "steht stand dice diz"
    ),
    "before": (
        "outset start started shortened trimmed dropped fell conversation opening message messages session remember* "
        "recall* repeat* twice duplicate* exist* scroll* premier primer primeira anfang zuletzt neulich antes avant "
        "earlier before already ago previous previously former last first beginning forgot* forgott* lost compact* "
        "summar* handover vorher bereits schon déjà ya já 最初 已经 既 前"
    ),
    "time": (
        "yesterday today tonight overnight morning noon midnight night hour hours monday tuesday wednesday thursday "
        "friday saturday sunday weekend week weeks month months since until lunch year years gestern heute seit nacht "
        "depuis hier aujourd'hui desde ayer hoy ontem hoje minutes 昨日 今日 以来 今朝 昨天 今天"
    ),
    "others": (
        "cloud forum* everyone everybody tracker saas worldwide region regions customers teams apolog* "
        "announced announce* announcement dashboard support account vendor* provider* partner* upstream "
        "maintainer* registry hoster* bank supplier* operator* others world anbieter* betreiber fournisseur* "
        "proveedor* provedor* fornecedor* company remote hosted 提供 上游 对方 相手 office* author* website* page "
        "university network networks partner carrier store shop marketplace library* package hosting ihr ihre "
        "ihrer leur leurs"
    ),
    "outage": (
        "down outage* incident* status maintenance unavailable degraded offline unreachable overload* "
        "throttl* quota* limit* capacity 429 500 502 503 504 529 wartung störung panne mantenimiento "
        "manutenção caído caiu incidencia incidente backlog revoked expired renew* expir* ausfall internal "
        "unavailab* gone"
    ),
    "release": (
        "release* released published yanked unpublished withdrawn retired sunset shut deprecat* renamed moved deleted "
        "discontinued unpinned pinned pin lock*"
    ),
    "again": (
        "again rerun re retry retried repeat* anew another second third green passed passes pass fine works "
        "worked went nochmal erneut relanc* encore otra vez novo 再 もう earlier-run rest thereafter afterwards "
        "later"
    ),
    "chance": (
        "heisenbug nondeterministic attempt attempts tries runs loose differs ordering flaky flak* sometimes random* "
        "intermit* race* racy once timing sporad* occasional* chance jitter luck seed manchmal parfois veces vezes 偶 "
        "たまに"
    ),
    "machine": (
        "runner emulator simulator watcher* watchers worker workers kernel's dmesg pids ports sockets adapter "
        "bus thermal overheat* sandbox dockerd desktop memory ram disk cpu gpu kernel laptop machine box vm "
        "container* daemon process pid socket port cable usb driver cache temp tmp fd inode* swap power "
        "battery clock card heat temperature hardware speicher platte rechner mémoire disque memoria disco "
        "memória máquina 内存 磁盘 メモリ ディスク マシン ssd ulimit heap oom"
    ),
    "left": (
        "leftover stale orphan* still dead zombie cancel* killed kill killing crash* died hung froze stuck damaged "
        "corrupt* suspend* sleep* slept woke interrupted aborted wiped restart* reboot* freed deleted cleaned locked "
        "busy"
    ),
    "learn": (
        "reckon* surpris* unexpected* silently documented-restriction know knew known unknown learn* learnt aware "
        "unaware news habit* idea reckoned heard tutorial* example* style new unfamiliar wusste kannte savais savoir "
        "sabía sabia conoc* conhec* 知 知道"
    ),
    "rule": (
        "rule rules must needs need has have convention* forbid* forbidden allow* only always never requires required "
        "require wants per by default instead removed version variant regel muss doit debe deve 必须 規約 ルール"
    ),
    "nowhere": (
        "somewhere anywhere orally verbally folklore wiki unwritten implicit everybody-knows nowhere undocumented head "
        "heads newcomer* seniors documented sorry doc"
    ),
    "call": (
        "blank blanks equals behind swapped order wrong-way misspelt misspelled spelling positional trailing leading "
        "brace braces bracket dollar wildcard glob expanded expand seconds milliseconds unit tool call parameter schema "
        "required field attach attached detach detached nohup flag flags option options argument* quote* quotes quoting "
        "quoted escape* syntax slash* colon parameter* regex pattern* shell bash zsh sh powershell tab tabs spaces "
        "heredoc delimiter string array background foreground terminal interactive prompt* keyboard editor stdin pager "
        "typed typo literal placeholder operand switch hunk patch old_string new_string usage anführungszeichen "
        "comillas guillemets aspas 引号 引用符 オプション 参数"
    ),
    "not": (
        "not no never without nothing nobody neither nor none n't didn't don't doesn't hadn't isn't wasn't haven't "
        "hasn't cannot can't nicht kein* ohne nie pas non jamais sans não nunca sem sin ningún 没 不 ない ません"
    ),
    "i": ("i i'm i'd i've my me ich mir je j'ai yo eu 我 私"),
    "you": ("you you've your sie du vous votre usted você 您 你"),
    "we": ("we our us we're wir uns unser* nous notre nuestro nosso nós 我们"),
    "change": (
        "changed change changes switched replaced rewritten rewrote edited saved pushed merged updated "
        "modified touched reformatted geändert changé cambi* mud* 変 改 redesign* relaunch* rebuilt redone "
        "committed commit commits broke breaks broken published publish"
    ),
    "decide": (
        "decided agreed settled agreement decision decisions adr convened geeinigt beschlossen entschieden "
        "vereinbart décidé convenu acordado acordamos decidimos decidido combinamos 決 约 settle settling chose "
        "chosen session's"
    ),
    "place": (
        "directory folder cwd branch worktree root workspace namespace context cluster environment venv conda path "
        "checkout group section package subfolder verzeichnis ordner dossier répertoire directorio carpeta diretório "
        "pasta 目录 ディレクトリ"
    ),
    "helper": ("subagent* helper delegat* delegated handover handoff briefed agents"),
    "meanwhile": (
        "generated generator codegen formatter prettier hook colleague teammate somebody someone meanwhile meantime "
        "parallel"
    ),
    "theirs": ("their theirs they them"),
    "sense": (
        "word words term sense literally both either other opposite contradict* conflict* exclude* undefined "
        "two neither each same reviewers versus"
    ),
    "undo": ("undo revert restore rollback back zurück remettez undone redo"),
    "platform": (
        "react vue angular rails django spring swift kotlin rust python javascript typescript godot unity pandas numpy "
        "sklearn pytorch postgres postgresql mysql sqlite kubernetes terraform compiler framework library language "
        "linter browser browsers engine lint api"
    ),
}
"""A concept's words."""

_NEAR = 4
"""So many concepts further two still belong together."""

_SHORTEST, _LONGEST = 3, 9
"""Letters that a beginning of a word has."""

_IDEOGRAPH = late_pattern("[\u3040-\u30ff\u4e00-\u9fa5]")
_TOKEN = late_pattern(
    r"(?P<url>https?://\S+)"
    r"|(?P<file>(?:[\w@.~-]{1,80}/)+[\w.*-]+|[\w-]{1,80}\.(?:go|tsx?|py|rs|java|rb|md|json|ya?ml|toml|jsx?|cc?|h|cpp|php|kt|swift|exs?|cs|sql|sh|txt|xml"
    r"|gradle|vue|lock|env\w*|gd|godot|pdf|csv|tfvars|cfg|ini|scss|css)\b|\.(?:env|nvmrc|python-version|tool-versions|gitmodules)\b)"
    r"|(?P<option>(?<![\w-])--?[a-z][\w-]*)|(?P<word>[^\W\d_](?:[^\W_]|')*)|(?P<number>\d+)|(?P<end>[.!?;:\n])"
)
_PAPER = late_pattern(
    r"readme|contributing|makefile|dockerfile|claude|agents|changelog|schema|config|docs?$|adr|notes?$|runbook|docstring|header|interface|fixtures?$|comment$"
    r"|history|log$|dotenv"
)
_BY_HEART = late_pattern(
    r"\b(?:from|out of) (?:my |the )?memory\b|aus dem (?:kopf|gedächtnis)|de mémoire\b|de memoria\b|de memória\b"
)


def sentences(text: str) -> list[list[str]]:
    """The concepts of each sentence of a text in lower case, in their order; words that stand for none are left out."""
    found: list[list[str]] = [[]]
    for match in _TOKEN.finditer(_BY_HEART.sub("guessed", text)):
        if match.lastgroup == "end":
            found.append([])
        else:
            found[-1].extend(_concepts(match.lastgroup or "", match[0]))
    return found


def pairs(row: list[str]) -> Iterator[tuple[str, str]]:
    """A sentence's concepts two by two, in their order, that stand near each other."""
    for place, first in enumerate(row):
        for second in row[place + 1 : place + 1 + _NEAR]:
            yield first, second


def _concepts(kind: str, token: str) -> Iterator[str]:
    if kind in {"url", "file", "option"}:
        yield kind
    elif kind == "number":
        yield _meant(token) or kind
    elif _IDEOGRAPH.search(token):
        yield from (_words()[0][found] for found in _unspaced().findall(token))
    elif _PAPER.match(token):
        yield "file"
    elif found := _meant(token):
        yield found


def _meant(word: str) -> str:
    """The concept that a word stands for, or ""."""
    whole, beginnings = _words()
    if word in whole:
        return whole[word]
    lengths = range(min(len(word), _LONGEST), _SHORTEST - 1, -1)
    return next((beginnings[word[:length]] for length in lengths if word[:length] in beginnings), "")


@cache
def _words() -> tuple[dict[str, str], dict[str, str]]:
    """Whole words, and beginnings of words, to their concepts; the list further down wins."""
    whole: dict[str, str] = {}
    beginnings: dict[str, str] = {}
    for concept, words in LISTS.items():
        for word in words.split():
            if word.endswith("*"):
                beginnings[word[:-1]] = concept
            else:
                whole[word] = concept
    return whole, beginnings


@cache
def _unspaced() -> re.Pattern[str]:
    """Words of the scripts that put no blanks between words, the longest first."""
    words = [word for word in _words()[0] if _IDEOGRAPH.search(word)]
    return late_pattern("|".join(sorted(words, key=lambda word: (-len(word), word))))
