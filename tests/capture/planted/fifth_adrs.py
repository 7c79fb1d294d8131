"""Architecture decision records of half 4: folders, announcements, contents and commands; slots as in `words_adrs`."""

from __future__ import annotations

__all__ = ["ANNOUNCEMENTS", "BODIES", "FOLDERS", "SHELL"]

FOLDERS = {
    "en": (
        "docs/adr/<n4>-<slug>.md", "docs/adr/<n3>-<slug>.md", "docs/adr/<n4>-<slug>.adoc", "docs/adr/<n1>-<slug>.rst", "engineering/adr/<n4>-<slug>.md", "docs/dev/adr/<n3>-<slug>.md", "docs/technical/adr/<n4>_<slug>.md", "meta/adr/<n3>-<slug>.md",
        "documentation/architecture-decision-records/<n4>-<slug>.md", "docs/architecture/ADR/ADR-<n4>-<slug>.md", "components/<mod>/adr/<n4>-<slug>.md", "handbook/adr/<date>-<slug>.md", "site/content/adr/<n4>-<slug>.mdx", "crates/<mod>/docs/adr/<n3>-<slug>.md",
        "docs/architecture-decision-log/<n4>-<slug>.md", "Documentation/Decisions/<n4>-<slug>.md", "docs/explanation/decisions/<n4>-<slug>.md", "backend/docs/adr/<n4>-<slug>.md", "docs/arch/adr-<n4>-<slug>.md", "docs/internal/ADRs/<n3>-<slug>.md",
        "teams/<mod>/decisions/ADR-<n1>-<slug>.md", "src/docs/arc42/adr/adr-<n3>-<slug>.adoc",
    ),
    "de": ("docs/adr/<n4>-<slug>.md", "docs/adr/<n3>-<slug>.adoc", "dokumentation/beschluesse/adr/<n4>-<slug>.md", "doku/architektur/entscheidungen/<n3>-<slug>.md", "handbuch/adr/<n4>-<slug>.md", "docs/technik/adr/<n3>-<slug>.md", "projekt/adr/<date>-<slug>.md", "docs/adr/<date>-<slug>.md"),
    "fr": ("docs/adr/<n4>-<slug>.md", "docs/adr/<n3>-<slug>.adoc", "documentation/archi/adr/<n4>-<slug>.md", "docs/technique/adr/<n3>-<slug>.md", "docs/conception/decisions/<n4>-<slug>.md", "guide/adr/<n3>-<slug>.md", "projet/adr/<date>-<slug>.md", "docs/adr/<date>-<slug>.md"),
    "es": ("docs/adr/<n4>-<slug>.md", "docs/adr/<n3>-<slug>.adoc", "documentos/adr/<n4>-<slug>.md", "docs/arquitectura/decisiones/<n4>-<slug>.md", "docs/tecnica/adr/<n3>-<slug>.md", "manual/adr/<n3>-<slug>.md", "proyecto/adr/<date>-<slug>.md", "docs/adr/<date>-<slug>.md"),
}  # fmt: skip

ANNOUNCEMENTS = {
    "en": (
        "", "", "", "Before any code, the reasoning about <what> gets its page.", "CONTRIBUTING asks for a record when something like <what> changes, so here it is.", "Next free number is <n1>; it goes to <what>.", "Putting the background on <what> where a newcomer will look for it.",
        "I'll capture context, options and consequences for <what> in the repo.", "ADR-<n3> covers <what>.", "Here's the ADR for <what>; short on purpose.", "A new ADR: <what>.", "I'm updating the ADR log with <what>.", "People will wonder about <what> in a year. Leaving them a page.", "Filing <what> under the architecture records.",
        "The record for <what> names <b> as the road not taken.", "Let me get <what> onto paper while it's fresh.", "That is big enough for an entry of its own, number <n1>.", "Syncing the decision record with what we have in the code now.", "The template wants a status and a date; filling those in for <what>.", "As the review asked, the record on <what>.",
        "Decision log, entry <n1>: <what>.", "Docs before merge: the page on <what> goes in with this change.",
    ),
    "de": ("", "", "Der Eintrag zum Nachlesen kommt ins Repo.", "Ich lege ADR <n1> an.", "Kontext und Folgen schreibe ich gleich auf, bevor es jemand vergisst.", "Wie im Review gewünscht, die Seite dazu.", "Nächste freie Nummer ist <n1>.", "Das gehört ins Architekturprotokoll."),
    "fr": ("", "", "J'ajoute la fiche au dépôt.", "Nouvel ADR, numéro <n1>.", "Le contexte et les conséquences vont dans un fichier à part.", "Comme demandé en revue, la page correspondante.", "Le prochain numéro libre est <n1>.", "Cela mérite une entrée au registre d'architecture."),
    "es": ("", "", "Añado la ficha al repositorio.", "Nuevo ADR, número <n1>.", "El contexto y las consecuencias van en un archivo aparte.", "Como pidió la revisión, aquí está la página.", "El siguiente número libre es <n1>.", "Esto merece una entrada en el registro de arquitectura."),
}  # fmt: skip

BODIES = (
    "# <n1>. <title>\n\nDate: <date>\n\n## Status\n\nAccepted\n\n## Context and problem\n\n<what> came up in three tickets this quarter.\n\n## Decision\n\n<a>.\n\n## Consequences\n\nNo use of <b> any more.",
    "---\nid: <n4>\ntitle: <title>\nstate: accepted\n---\n\n### Drivers\n\n- <why>\n\n### Options\n\n1. <a>\n2. <b>\n\n### Taken\n\nOption 1.",
    "= ADR <n3>: <title>\n\n[cols=2]\n|===\n|Status |Proposed\n|Date |<date>\n|===\n\nWe use <a>, since <why>.",
    "# <what>\n\n**Status:** accepted on <date>\n\n**Summary:** <a> instead of <b>.\n\n**Why:** <why>.",
)

SHELL = (
    ("tee '<path>' >/dev/null <<'MD'\n# <title>\n\nStatus: Accepted\nMD", ""),
    ("adr-tools new '<title>'", "<path>"),
    ("npx adr-log -d '<folder>' && cp '<folder>/template.md' '<path>'", "updated index"),
    ("printf '# %s\\n\\nStatus: proposed\\n' '<title>' > '<path>'", ""),
    ("sed -i -E 's/(Status: ).*/\\1accepted/' '<path>'", ""),
    ("git mv '<folder>/draft.md' '<path>'", ""),
)
