"""Architecture decision records: where projects keep them, what goes into one, what an agent says when it writes one.

Owns folders and wording; slots are those of `topics`, `<slug>`, `<n4>` (0012), `<n3>` (012), `<n1>` (12) and `<date>`.
"""

from __future__ import annotations

__all__ = ["ANNOUNCEMENTS", "BODIES", "FOLDERS", "SHELL"]

FOLDERS = {
    "en": (
        "docs/adr/<n4>-<slug>.md", "docs/adr/<n4>-<slug>.md", "docs/adr/<n3>-<slug>.md", "doc/adr/<n4>-<slug>.md", "docs/architecture/decisions/<n4>-<slug>.md", "doc/architecture/decisions/<n4>-<slug>.md", "docs/decisions/<n4>-<slug>.md",
        "docs/decisions/<n3>-<slug>.md", "architecture/ADR-<n3>-<slug>.md", "ADR/<n1>-<slug>.md", "adr/<slug>.md", "docs/adr/<date>-<slug>.md", "packages/<mod>/docs/adr/<n4>-<slug>.md", "docs/design/adr_<n4>_<slug>.rst", "docs/adrs/adr-<n1>-<slug>.adoc",
        "decisions/<n4>-<slug>.md", "docs/architecture-decisions/<slug>.md", "docs/ADR-<n3>-<slug>.md", "services/<mod>/ADR/<n4>-<slug>.markdown", ".adr/<n4>-<slug>.md", "docs/architectural-decision-records/<n4>-<slug>.md", "wiki/adr/ADR <n3> <slug>.md",
    ),
    "de": ("docs/adr/<n4>-<slug>.md", "doku/adr/<n4>-<slug>.md", "docs/architektur/adr/<n3>-<slug>.md", "docs/architektur/entscheidungen/<n4>-<slug>.md"),
    "fr": ("docs/adr/<n4>-<slug>.md", "doc/adr/<n3>-<slug>.md", "docs/architecture/adr/<n4>-<slug>.md"),
}  # fmt: skip

ANNOUNCEMENTS = {
    "en": (
        "", "", "", "This deserves a record.", "I'm writing that down in the architecture log.", "A short record for <what>, so that nobody asks again.", "Documenting <what> where the others are.", "Adding number <n1> to the records.",
        "The reasoning about <what> goes into a file of its own.", "Here is the write-up on <what>, status accepted.", "Let me put <what> on record before coding.", "The maintainers keep such things in the repository, so one more entry: <what>.",
        "ADR <n1> for <what>.", "I'll add an ADR on <what>.", "Recording the choice of <a> as an ADR.", "The ADR about <what> first, then the code.", "One page on <what> for the architecture folder.", "For posterity: <what>, with context and consequences.",
        "Drafting the record; its consequences section says what <b> would have cost.", "Next entry in the log of records is about <what>.", "Architecture decision record for <what>, as the template asks.", "I wrote up <what> as a proposal for the next review.",
    ),
    "de": ("", "Dazu gehört ein ADR: <what>.", "Das halte ich in der Architekturablage fest.", "Ein kurzer Eintrag zu <what>, Status angenommen."),
    "fr": ("", "Je consigne cela dans un ADR : <what>.", "Une fiche d'architecture sur <what>.", "Je garde une trace de <what> dans le dépôt."),
}  # fmt: skip

BODIES = (
    "# <n1>. <a>\n\n## Status\n\nAccepted\n\n## Context\n\nHow to do <what>.\n\n## Decision\n\nWe will use <a>.\n\n## Consequences\n\n<why>.",
    "---\nstatus: proposed\ndate: <date>\n---\n\n# <what>\n\n## Considered options\n\n* <a>\n* <b>\n\n## Outcome\n\n<a>, because <why>.",
    "# ADR <n3>: <what>\n\nState: accepted\n\nIn the face of <what> we take <a> and neglect <b>, since <why>.",
)

SHELL = (
    ('adr new "<title>"', "<path>"),
    ("cat > '<path>' <<'END'\n# <n1>. <title>\n\nStatus: accepted\nEND", ""),
    ("mkdir -p '<folder>' && cp docs/template.md '<path>'", ""),
    ("sed -i 's/^Status: .*/Status: accepted/' '<path>'", ""),
    ("git mv '<path>.draft' '<path>'", ""),
)
"""A command that makes or changes a record, and what it prints."""
