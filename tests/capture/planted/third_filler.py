"""Ordinary talk of a session of half 2, in four languages; as in `filler_words`."""

from __future__ import annotations

__all__ = ["ACKS", "AFTER", "BEFORE", "CHANGES", "ENDS", "FOLLOW_UPS", "GOALS", "INTROS", "LANGUAGES", "LOOKS", "NOTED", "OPENERS", "USER_AFTER", "USER_BEFORE"]  # fmt: skip

LANGUAGES = {"en": 81, "de": 9, "fr": 7, "es": 3}

GOALS = {
    "en": (
        "<func> needs a second parameter for <field>", "Could you extend <mod> so that <field> may be empty?", "Implement <func> as in the spec sheet.", "tidy up <test>, it is a mess", "The ticket says: support several values of <field> in <mod>.", "Let us get <mod> ready for the beta.", "help me understand <src> and then add comments", "Rework the settings screen of <mod>.", "Profile <func> and report back.", "Add logging to <mod>, please.",
    ),
    "de": ("<func> soll auch mehrere Werte für <field> annehmen.", "Mach <mod> bereit für die Beta.", "Bitte ergänze Kommentare in <src>."),
    "fr": ("<func> doit accepter plusieurs valeurs de <field>.", "Prépare <mod> pour la bêta.", "Commente <src>, s'il te plaît."),
    "es": ("<func> tiene que aceptar varios valores de <field>.", "Prepara <mod> para la beta.", "Añade comentarios a <src>, por favor."),
}  # fmt: skip
FOLLOW_UPS = {
    "en": ("nice. go ahead with the remaining part", "Please show the diff of <src>.", "now <test>", "One more: <field> in the help text.", "keep going", "And how far are we?", "Next file please, same treatment.", "perfect, then the readme"),
    "de": ("Gut so, mach weiter.", "Zeig mir bitte das Diff.", "Und jetzt <test>."),
    "fr": ("parfait, la suite", "Montre-moi le diff.", "Et maintenant <test>."),
    "es": ("perfecto, sigue", "Enséñame el diff.", "Y ahora <test>."),
}  # fmt: skip
LOOKS = {
    "en": ("reading <src>", "Where is <func> used?", "A look into <test>.", "Checking out how <mod> is laid out.", "Going through the file.", "Let me list what is there.", ""),
    "de": ("Ein Blick in <src>.", "Wo wird <func> verwendet?", ""),
    "fr": ("Un coup d'œil à <src>.", "Où sert <func> ?", ""),
    "es": ("Un vistazo a <src>.", "¿Dónde se usa <func>?", ""),
}  # fmt: skip
CHANGES = {
    "en": ("editing <src>", "Filling in <func>.", "The part with <field>.", "A small edit.", "Typing it in.", "Then the body.", ""),
    "de": ("Ich fülle <func> aus.", "Eine kleine Änderung.", ""),
    "fr": ("Je remplis <func>.", "Une petite modification.", ""),
    "es": ("Relleno <func>.", "Un pequeño cambio.", ""),
}  # fmt: skip
ENDS = {
    "en": ("That was all for <mod>.", "All done, have a look.", "done", "The requested part is in place.", "<src> is ready to be looked at.", ""),
    "de": ("Das war alles.", "Erledigt, bitte ansehen.", ""),
    "fr": ("C'était tout.", "Terminé, à relire.", ""),
    "es": ("Eso era todo.", "Listo para revisar.", ""),
}  # fmt: skip
BEFORE = {
    "en": ("Read through <src>.", "There are <n> lines in <mod>.", "Checked the callers of <func>.", "A note on the state of things.", "Been through the tests as well."),
    "de": ("<src> ist gelesen.", "<mod> hat <n> Zeilen.", "Ein Wort zum Stand."),
    "fr": ("<src> est lu.", "Il y a <n> lignes dans <mod>.", "Un point rapide."),
    "es": ("He leído <src>.", "Hay <n> líneas en <mod>.", "Un apunte rápido."),
}  # fmt: skip
AFTER = {
    "en": ("Continuing in <src>.", "Coding now.", "Then I look at <test>.", "Next is the edit itself."),
    "de": ("Es geht weiter in <src>.", "Jetzt der Code.", "Dann sehe ich mir <test> an."),
    "fr": ("Je continue dans <src>.", "Place au code.", "Puis je regarde <test>."),
    "es": ("Sigo en <src>.", "Ahora el código."),
}  # fmt: skip
OPENERS = {
    "en": ("Good. ", "Fine, ", "Ah, ", "Let's see: ", "Hmm, ", "Listen: "),
    "de": ("So. ", "Nun, ", "Schön: "),
    "fr": ("Voilà. ", "Donc, ", "Très bien : "),
    "es": ("Bien. ", "Bueno, ", "A ver: "),
}  # fmt: skip
INTROS = {
    "en": ("Status:", "In brief:", "Notes from this round:"),
    "de": ("Zwischenstand:", "In Kürze:"),
    "fr": ("Point d'étape :", "En bref :"),
    "es": ("Estado:", "En breve:"),
}  # fmt: skip
USER_BEFORE = {
    "en": ("Just read your change in <src>.", "Good progress.", "Hi again.", "A remark from my side.", "<mod> looks neat."),
    "de": ("Gut vorangekommen.", "Eine Anmerkung.", "<mod> sieht ordentlich aus."),
    "fr": ("Ça avance bien.", "Une remarque.", "<mod> est bien rangé."),
    "es": ("Vas bien.", "Un comentario.", "<mod> queda limpio."),
}  # fmt: skip
USER_AFTER = {
    "en": ("Afterwards have a look at <test>.", "Ping me at the end.", "And mind the docs of <func>.", "Small commits please."),
    "de": ("Danach sieh dir <test> an.", "Melde dich am Ende."),
    "fr": ("Après, regarde <test>.", "Préviens-moi à la fin."),
    "es": ("Después mira <test>.", "Avísame al final."),
}  # fmt: skip
ACKS = {
    "en": ("Sure, will do.", "Clear.", "Right away.", "Very well."),
    "de": ("Gern, mache ich so.", "In Ordnung."),
    "fr": ("Entendu.", "Je fais comme ça."),
    "es": ("Entendido.", "Así lo hago."),
}  # fmt: skip
NOTED = {"en": ("Okay.", "Sure.", "Got it."), "de": ("Gut.",), "fr": ("Entendu.",), "es": ("Vale.",)}
