"""Architecture decision records of half 2: folders and wording; slots as in `words_adrs`."""

from __future__ import annotations

__all__ = ["ANNOUNCEMENTS", "BODIES", "FOLDERS", "SHELL"]

FOLDERS = {
    "en": (
        "documentation/adr/<n4>-<slug>.md", "docs/adr/ADR-<n4>-<slug>.md", "docs/src/adr/<n3>-<slug>.md", "engineering/adr/<date>-<slug>.md", "docs/architecture/adr-<n3>-<slug>.md", "apps/<mod>/adr/<n4>-<slug>.md", "docs/development/adr/<n4>-<slug>.mdx", "handbook/architecture/decisions/<n4>-<slug>.md",
        "docs/ADRs/<n3>-<slug>.md", "project/decisions/ADR-<n4>-<slug>.md", "docs/technical/architecture-decision-records/<n4>-<slug>.adoc", "docs/adr/accepted/<n4>-<slug>.md", "libs/<mod>/docs/decisions/<n4>-<slug>.md", "docs/arch/adr/<n4>_<slug>.md", "docs/content/adr/adr<n4>-<slug>.md",
    ),
    "de": ("dokumentation/adr/<n4>-<slug>.md", "docs/adr/ADR-<n3>-<slug>.md", "projekt/architektur/adr/<n4>-<slug>.md"),
    "fr": ("documentation/adr/<n4>-<slug>.md", "docs/adr/ADR-<n3>-<slug>.md", "docs/technique/adr/<n4>-<slug>.md"),
    "es": ("documentacion/adr/<n4>-<slug>.md", "docs/adr/<n3>-<slug>.md", "docs/arquitectura/adr/<n4>-<slug>.md"),
}  # fmt: skip

ANNOUNCEMENTS = {
    "en": (
        "", "", "rec #<n1>: <what>", "Putting pen to paper on <what> before I forget why.", "New joiners keep asking about <what>, so the folder gets a page on it.", "The review board wants context, options and outcome for <what> in one place. Here goes.", "ADR for <what>, Nygard style, short.", "I leave a paper trail about <what>.",
        "adr/<n1> <what> -> file", "For the audit it is good to have <what> in written form with number <n1>.", "Status quo, forces, outcome: <what> in thirty lines.", "Let the next maintainer know how <what> came about.", "Filing <what> under architecture.", "This will become ADR number <n1>, about <what>.",
    ),
    "de": ("", "Das schreibe ich für später auf: <what>.", "Die Akte über <what> bekommt Nummer <n1>.", "ADR <n1>, damit es nachlesbar bleibt."),
    "fr": ("", "Je rédige la fiche numéro <n1>.", "Un ADR de plus, au sujet de ceci : <what>.", "Il faut que cela reste écrit : <what>."),
    "es": ("", "Dejo por escrito <what> en un ADR.", "Ficha número <n1>, sobre <what>."),
}  # fmt: skip

BODIES = (
    "# ADR-<n4> <title>\n\n| Status | Date |\n| --- | --- |\n| accepted | <date> |\n\n## Forces\n\n<why>.\n\n## Outcome\n\n<a>. Alternative looked at: <b>.",
    "= <n1>. <a>\n:revdate: <date>\n\n== Background\n\n<what> came up in planning.\n\n== Resolution\n\n<a>, as <why>.\n",
    "# <what>\n\n- Deciders: platform group\n- Date: <date>\n\n## Problem\n\n<b> or <a>?\n\n## Result\n\nWe take <a>.\n\n### Good\n\n- <why>",
)

SHELL = (
    ("printf '# %s\\n\\nStatus: accepted\\n' '<title>' > '<path>'", ""),
    ("adr-tools/bin/adr new '<title>' && mv adr-draft.md '<path>'", "<path>"),
    ("tee '<path>' <<'ADR' >/dev/null\n# <title>\n\nStatus: proposed\nADR", ""),
    ("perl -pi -e 's/^status: proposed/status: accepted/' '<path>'", ""),
)
