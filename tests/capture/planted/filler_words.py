"""Ordinary talk of a session, which says nothing worth keeping; in three languages.

Owns the wording; slots are those of `stacks.Names`.
"""

from __future__ import annotations

__all__ = ["ACKS", "AFTER", "BEFORE", "CHANGES", "ENDS", "FOLLOW_UPS", "GOALS", "INTROS", "LANGUAGES", "LOOKS", "NOTED", "OPENERS", "USER_AFTER", "USER_BEFORE"]  # fmt: skip

LANGUAGES = {"en": 84, "de": 9, "fr": 7}
"""In how many of a hundred sessions each is spoken."""

GOALS = {
    "en": (
        "Add a filter by <field> to <mod>.", "Please clean up <src>.", "I need <func> to handle empty input.", "Write tests for <mod>, there are none.", "<mod> is slow with many rows, can you look into it?", "Split <src> into two files.", "Make <field> configurable.", "let's continue with <mod>, the next thing is <func>",
        "Port <func> from the old repository.", "Prepare <mod> for the next release.", "Document <mod>.", "Customers want to export <mod> as CSV.", "Review <src> and tell me what you think.", "Upgrade the dependencies of <mod>.",
    ),
    "de": ("Ergänze in <mod> einen Filter nach <field>.", "Bitte räume <src> auf.", "Schreibe Tests für <mod>.", "<mod> ist langsam, sieh dir das an."),
    "fr": ("Ajoute un filtre par <field> dans <mod>.", "Nettoie <src>, s'il te plaît.", "Écris des tests pour <mod>.", "<mod> est lent, peux-tu regarder ?"),
}  # fmt: skip
FOLLOW_UPS = {
    "en": (
        "Thanks. Now the same for the other callers of <func>.", "Great, please go on.", "And the docs?", "continue", "Next: <test>.", "Can you show me what changed?", "Add a line to the changelog.", "What is left?", "ok, next file", "Now please do the part with <field>.", "looks good", "Could you also add types?",
    ),
    "de": ("Danke, weiter.", "Jetzt bitte die übrigen Aufrufer von <func>.", "Was fehlt noch?", "Und die Doku?"),
    "fr": ("Merci, continue.", "Et la doc ?", "Maintenant les autres appels de <func>.", "Que reste-t-il ?"),
}  # fmt: skip
LOOKS = {
    "en": ("I'll read <src>.", "Who calls <func>?", "First the tests.", "Let me see the file.", "Looking at <mod>.", "The callers next.", "Opening <test>.", "What does git say?", ""),
    "de": ("Ich lese <src>.", "Wer ruft <func> auf?", "Zuerst die Tests.", ""),
    "fr": ("Je lis <src>.", "Qui appelle <func> ?", "D'abord les tests.", ""),
}  # fmt: skip
CHANGES = {
    "en": ("Now <func>.", "Writing the loop.", "Adding <field>.", "The signature first.", "Two lines in <src>.", "Next part.", "And its docstring.", "", ""),
    "de": ("Jetzt <func>.", "Zwei Zeilen in <src>.", "Es folgt <field>.", ""),
    "fr": ("Maintenant <func>.", "Deux lignes dans <src>.", "J'ajoute <field>.", ""),
}  # fmt: skip
ENDS = {
    "en": ("Done; <func> is in <src>.", "That part is finished.", "Ready for review.", "This is complete as asked.", "Finished here.", "<mod> is done.", ""),
    "de": ("Fertig.", "Dieser Teil ist erledigt.", ""),
    "fr": ("C'est fait.", "Cette partie est terminée.", ""),
}  # fmt: skip
BEFORE = {
    "en": ("I read <src> and its callers.", "The file has <n> lines.", "<func> has two callers.", "Looking at the tests gave me this.", "I went through <mod> once.", "Some context first."),
    "de": ("Ich habe <src> gelesen.", "Die Datei hat <n> Zeilen.", "Kurz zum Stand."),
    "fr": ("J'ai lu <src>.", "Le fichier fait <n> lignes.", "Un mot sur l'état."),
}  # fmt: skip
"""What may stand before a sentence in its paragraph."""
AFTER = {
    "en": ("Writing it now.", "<test> comes next.", "I'll go on with <src>.", "On to the code.", "The rest is typing."),
    "de": ("Ich schreibe es jetzt.", "Weiter mit <src>.", "Der Rest ist Tipparbeit."),
    "fr": ("Je l'écris maintenant.", "La suite dans <src>.", "Le reste n'est que de la frappe."),
}  # fmt: skip
OPENERS = {
    "en": ("Right. ", "Okay — ", "So, ", "Alright: ", "Hm. ", "Well, ", "Now then: "),
    "de": ("Gut. ", "Also: ", "Na dann: "),
    "fr": ("Bon. ", "Alors : ", "Eh bien, "),
}  # fmt: skip
"""How a talkative agent begins."""
INTROS = {
    "en": ("Where things stand:", "Summary of this part:", "Short notes:", "So far:"),
    "de": ("Zum Stand:", "Kurz notiert:"),
    "fr": ("Où nous en sommes :", "Notes :"),
}
"""What stands above a list."""
USER_BEFORE = {
    "en": ("Thanks for <src>.", "I had a look at the change in <mod>.", "Two things.", "Looks fine so far.", "Back from the meeting."),
    "de": ("Danke für <src>.", "Ich habe mir <mod> angesehen.", "Zwei Dinge."),
    "fr": ("Merci pour <src>.", "J'ai regardé <mod>.", "Deux choses."),
}  # fmt: skip
USER_AFTER = {
    "en": ("Then please go on with <test>.", "And tell me when you are through.", "Also, <func> could do with a docstring.", "Keep the diff small."),
    "de": ("Danach bitte <test>.", "Sag Bescheid, wenn du fertig bist."),
    "fr": ("Ensuite <test>, s'il te plaît.", "Dis-moi quand c'est fini."),
}  # fmt: skip
"""What a user says besides."""
ACKS = {
    "en": ("Good, doing that.", "Understood.", "Thanks, going on.", "On it."),
    "de": ("Gut, mache ich.", "Verstanden."),
    "fr": ("Bien, je m'y mets.", "Compris."),
}
"""What an agent says to a user who settled something."""
NOTED = {"en": ("Noted.", "All right.", "Thanks."), "de": ("Alles klar.",), "fr": ("D'accord.",)}
"""What it says to one who did not."""
