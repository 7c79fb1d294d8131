"""Derive short names for phases and sessions from prompts and replies."""

from __future__ import annotations

import re
from collections.abc import Iterator

from crucible.core.patterns import late_pattern
from crucible.core.text import TITLE_END, cut_at_word, split_sentences, stop_words
from crucible.documents.markdown.containment import normal, normal_line

UNTITLED = "Untitled"
RESUMED = "Resumed"
"""The prefix for the name of a phase in which a session was resumed."""
_LIMIT = 60
_ANSWERED = 80
_READ = 20_000
"""Maximum code points of a prompt to read for a name."""

_FENCE = late_pattern(r"^ {0,3}(`{3,}|~{3,})[^\n]*\n.*?(?:^ {0,3}\1[`~]*[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_TAG = late_pattern(r"</?[A-Za-z][\w-]*(?:\s[^<>]*)?/?>|<!--.*?-->", re.DOTALL)
_MARKS = late_pattern(r"\s*(?:\[[\w.-]{1,40}:[^\[\]\n]{0,80}\]\s*)+")
_URL = late_pattern(r"<?https?://([^\s<>)\]]+)>?")
_PLAN = late_pattern(r"\A\s*Implement the following plan:?\s*", re.IGNORECASE)

# Output of a terminal or a log, not a user's words.
_LOG = late_pattern(
    r"""^(?:
        \s*[\[(]?\d{4}-\d\d-\d\d[T ]\d | \s*\[?\d\d:\d\d:\d\d | Traceback\ \( | \s+File\ " | \s*at\ \S+\ \( |
        \s*\[?(?:INFO|DEBUG|WARN|WARNING|ERROR|FATAL|TRACE)\b[\]:\ ] | \s*[$%>]\s | \s*\w+@[\w-]+[:~] | npm\ ERR! |
        \s*[|+] | \s*(?:\^|~){2,} | \s*[-+]{3}\s | \s*@@\ | diff\ --git | \s*E\ \ + | \s*(?:\w+\.)*\w*(?:Error|Exception):\s |
        \s*[{}\[\]();]+\s*$ | \s*[-=*_#~]{3,}\s*$ | \s*import\ \w | \s*from\ \S+\ import\b
    )""",
    re.VERBOSE,
)
_LINE_MARK = late_pattern(r"^\s*(?:#{1,6}\s+|[-*+]\s+(?:\[[ xX]\]\s+)?|\d{1,3}[.)]\s+|[>❯]\s*)+")
_COURTESY = late_pattern(
    r"^(?:(?:hi|hello|hey|ok|okay|thanks|thank you|great|perfect|nice|cool|alright|so|now|and)(?: claude| there)?[,.!:]+\s+"
    r"|please,?\s+|(?:can|could|would|will) you\s+(?:please\s+)?|i(?:'d| would) like you to\s+|i (?:want|need) you to\s+"
    r"|let's\s+)+",
    re.IGNORECASE,
)


class Titles:
    """The title of a session so far, and the names of its phases.

    `best` is the user's name for the session, else the client's, else the name of the first prompt with content.
    """

    __slots__ = ("_asked", "_by_client", "_by_user", "_from_prompt", "_is_telling", "_topic")

    def __init__(self) -> None:
        self._by_user = self._from_prompt = self._by_client = self._asked = self._topic = ""
        self._is_telling = False

    @property
    def best(self) -> str:
        """The best title so far, "" for none."""
        return self._by_user or self._by_client or self._from_prompt

    def first_said(self, name: str, *, is_telling: bool = True) -> None:
        """Record a prompt's name; the first one with content becomes the title."""
        if not self._from_prompt or (is_telling and not self._is_telling):
            self._from_prompt, self._is_telling = name, is_telling

    def named(self, title: str, by_user: bool) -> None:
        """Record an explicit title.  The last one from the user and the first one from the client are kept."""
        if by_user:
            self._by_user = title or self._by_user
        else:
            self._by_client = self._by_client or title

    def replied(self, text: str) -> None:
        """Record a text of the agent, as the next prompt may answer its final question."""
        self._asked = text[-_READ:]

    def prompted(self, prompt: str) -> str:
        """Name the phase that a prompt begins.

        The name of a short answer includes the question or the previous phase's name.
        """
        asked, self._asked = self._asked, ""
        name = prompt_name(prompt) if normal(prompt) else "Picture"
        if prompt.startswith("/") and name.startswith("/"):
            self.first_said(prompt_name(prompt, 80), is_telling=" " in name)
            return name
        is_telling = has_content(name)
        self.first_said(prompt_name(prompt, 80) if normal(prompt) else name, is_telling=is_telling)
        question = "" if is_telling and not _is_short(name) else _question(asked)
        before, self._topic = self._topic, name if is_telling else self._topic
        if question:
            picked = cut_at_word(_option(asked, name) or name, _ANSWERED // 2)
            return f"{cut_at_word(question, _ANSWERED - len(picked))} {picked}"
        return f"{cut_at_word(before, _LIMIT - len(name))}: {name}" if before and not is_telling else name


_WORD = late_pattern(r"[^\W\d_][\w'’]*")
_NAMING = late_pattern(r"(?=\S*[^\W\d])\S*[\w)][./_:\-]\w|[#@]\w|[^\W\d_]\d|[a-z][A-Z]")
_NO_BLANKS = late_pattern(r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_LONG_WORD, _FEW_WORDS, _ANSWER_WORDS = 5, 3, 5


def has_content(name: str) -> bool:
    """True if a prompt's name is meaningful: enough words, or the name of something.

    `yes`, `1`, `do it` and `commit this` are not: they make sense only in context.
    """
    words = _WORD.findall(name)
    count = len(words) + len(_NO_BLANKS.findall(name)) // 2
    if count > _FEW_WORDS or (words and _NAMING.search(name)):
        return True
    return count == _FEW_WORDS and max(map(len, words)) >= _LONG_WORD


def _is_short(name: str) -> bool:
    """True if a prompt after a question looks like its answer."""
    return name.count(" ") < _ANSWER_WORDS and not name.endswith("?") and not _NAMING.search(name)


_ASKED_IN = 12
"""Maximum lines at the end of a text to search for a question, which may be followed by its options."""
_ITEM = late_pattern(r"^(?:Option\s+)?([0-9]{1,2}|[A-Za-z])[.):]\s+(?=\S)")


def _question(text: str) -> str:
    """The question at the end of a text, "" for none."""
    lines = [line for line in text.rstrip().split("\n") if line.strip()][-_ASKED_IN:]
    for line in reversed(lines):
        sentence = _plain(line)
        if sentence.endswith("?"):
            return f"{split_sentences(sentence[:-1], TITLE_END)[-1]}?".strip()
        if not _LINE_MARK.match(line):
            return ""
    return ""


def _option(text: str, answer: str) -> str:
    """The option that an answer selects by number or letter: `2. A file per user`."""
    picked = re.fullmatch(r"(?:[Oo]ption\s+)?([0-9]{1,2}|[A-Za-z])", answer.rstrip(".)"))
    for line in reversed(text.split("\n")) if picked else ():
        option = _plain(line.replace("**", ""), keep_mark=True)
        item = _ITEM.match(option)
        if item and picked and item[1].casefold() == picked[1].casefold():
            return f"{picked[1]}. {_sentence(option[item.end() :])}"
    return ""


def untagged(text: str) -> str:
    """Remove a client's prefix: `[agent:clock] Is it safe?` becomes `Is it safe?`."""
    found = _MARKS.match(text)
    rest = text[found.end() :] if found else text
    return rest if rest.strip() else text


def prompt_name(prompt: str, limit: int = _LIMIT) -> str:
    """Name a prompt by its first statement, without Markdown, in about `limit` code points; never empty."""
    text = normal(prompt[:_READ])
    plan = _PLAN.match(text)
    lines = list(_lines_with_words(text[plan.end() :] if plan else text))
    first = next((place for place, line in enumerate(lines) if not _LOG.match(line)), 0)
    name_text = _sentence(_plain(lines[first])) if lines else ""
    for line in lines[first + 1 : first + 4]:
        if has_content(name_text) or lines[first].startswith("#"):
            break
        more = _sentence(_plain(line))
        if has_content(more) and not _LOG.match(line) and not _TAG.search(line):
            # Use the line below a heading, or after a first line without content.
            name_text = f"{name_text}: {more}" if lines[first].rstrip().endswith(":") else more
    name = cut_at_word(name_text, limit)
    # The heading of a plan usually has this word.
    return f"Plan: {name}" if plan and name and not re.search(r"\bplan\b", name, re.IGNORECASE) else name or UNTITLED


def resumed_name(after: str) -> str:
    """Name a phase that continues the one named `after`; repeated prefixes are collapsed."""
    name = normal_line(after)
    while name.startswith(f"{RESUMED}: "):
        name = name.removeprefix(f"{RESUMED}: ")
    return f"{RESUMED}: {cut_at_word(name, 80)}" if name and name != RESUMED else RESUMED


def key_words(title: str, limit: int) -> str:
    """A title without its stop words, cut between words, for a file name."""
    words = re.findall(r"[\w'’]+", title)
    kept = [word for word in words if word.casefold() not in stop_words("file_names")] or words
    return cut_at_word(" ".join(kept), limit).rstrip("…") if kept else title


def _lines_with_words(text: str) -> Iterator[str]:
    """Lines that contain words; lines outside fences and tags come first."""
    for part in (_TAG.sub(" ", _FENCE.sub("\n", text)), text):
        for line in part.split("\n"):
            if re.search(r"\w", line) and not re.match(r"\s*(?:`{3,}|~{3,})", line):
                yield line


def _plain(line: str, *, keep_mark: bool = False) -> str:
    """One line without heading marks, bullets, emphasis, code marks, links and mentions."""
    line = re.sub(r"^\s*[-*+]\s+", "", line) if keep_mark else _LINE_MARK.sub("", line)
    line = re.sub(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]+)\]\]", r"\1", line)
    line = re.sub(r"!?\[([^\[\]]+)\]\([^()\s]*\)", r"\1", line)
    line = _URL.sub(lambda found: _short_url(found[1]), line)
    line = re.sub(r"(\*\*|__|~~|==)(?=\S)(.+?)(?<=\S)\1", r"\2", line)
    line = re.sub(r"(?<![\w*])\*(?=[^\s*])([^*]+?)(?<=\S)\*(?![\w*])", r"\1", line).replace("`", "")
    line = re.sub(r"(^|\s)@(?=[\w./~-])", r"\1", line)
    line = re.sub(r"^!(?=\S)", "", line.strip())
    return re.sub(r"\s+", " ", line).strip()


def _short_url(url: str) -> str:
    """The last two parts of the path, or the host: enough to recognize a link."""
    host, *path = [part for part in re.split(r"[?#]", url)[0].split("/") if part]
    return "/".join(path[-2:]) or host


def _sentence(line: str) -> str:
    """The first sentence with more than a few words, without polite phrases."""
    asked = _COURTESY.match(line)
    if asked and len(line) - asked.end() > 8:
        line = line[asked.end() :]
        line = line[:1].upper() + line[1:]
    for end in TITLE_END.finditer(line):
        if line.count(" ", 0, end.start()) >= 2 or end.group() in "。！？":
            line = line[: end.end()]
            break
    line = line.rstrip(" .,:;…。")
    return line[:-1].rstrip() if asked and line.endswith("?") else line
