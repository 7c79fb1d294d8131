"""Ordinary talk of a session of half 4, which says nothing worth keeping; slots as in `filler_words`."""

from __future__ import annotations

__all__ = ["ACKS", "AFTER", "BEFORE", "CHANGES", "ENDS", "FOLLOW_UPS", "GOALS", "INTROS", "LANGUAGES", "LOOKS", "NOTED", "OPENERS", "USER_AFTER", "USER_BEFORE"]  # fmt: skip

LANGUAGES = {"en": 80, "de": 8, "fr": 7, "es": 5}

GOALS = {
    "en": (
        "<func> should accept a list too.", "Can you get <test> to run without network?", "We need paging in <mod>.", "Please bring <src> up to our style guide.", "I'd like to see <field> in the overview.", "Extract the part about <field> from <mod>.", "users complain that <mod> forgets their settings", "Pull the hard-coded values out of <src>.",
        "Give <func> better names for its arguments.", "help me tidy up <mod> before the freeze", "Implement the second half of <mod>, the first is merged.", "Let <mod> read its input from a pipe.", "Take over <mod> from Jonas, his notes are in the file.", "Add <field> to the report.", "make <func> cancellable",
    ),
    "de": ("<func> soll auch eine Liste annehmen.", "Wir brauchen Blättern in <mod>.", "Zieh die festen Werte aus <src> heraus.", "<field> fehlt in der Übersicht.", "<mod> vergisst Einstellungen, schau bitte nach", "Übernimm <mod> von Jonas.", "Bring <src> in Form.", "Mach <func> abbrechbar."),
    "fr": ("<func> doit aussi accepter une liste.", "Il faut une pagination dans <mod>.", "Sors les valeurs en dur de <src>.", "<field> manque dans la vue d'ensemble.", "<mod> oublie les réglages, regarde ça", "Reprends <mod> de Jonas.", "Mets <src> au propre.", "Rends <func> annulable."),
    "es": ("<func> debería aceptar también una lista.", "Hace falta paginación en <mod>.", "Saca los valores fijos de <src>.", "Falta <field> en el resumen.", "<mod> olvida los ajustes, míralo", "Retoma <mod>, lo dejó Jonas.", "Deja <src> presentable.", "Haz que <func> se pueda cancelar."),
}  # fmt: skip
FOLLOW_UPS = {
    "en": (
        "nice. and the tests?", "Please continue with the rest of <mod>.", "what about <field>?", "go on", "Show me <func> once more, please.", "ok. commit message suggestions?", "Could you shorten that function a bit?", "Now the type hints.", "The README mentions <mod>, please update it.", "is that all?", "Then the same in <test>.", "keep going, I'm reading along", "Can <func> move further up?",
    ),
    "de": ("schön. und die Tests?", "Mach bitte mit dem Rest von <mod> weiter.", "was ist mit <field>?", "weiter", "Zeig mir <func> noch einmal.", "ist das alles?", "Dann dasselbe in <test>.", "Jetzt die Typen."),
    "fr": ("bien. et les tests ?", "Poursuis avec le reste de <mod>.", "et <field> ?", "vas-y", "Montre-moi encore <func>.", "c'est tout ?", "Puis la même chose dans <test>.", "Maintenant les types."),
    "es": ("bien. ¿y las pruebas?", "Sigue con el resto de <mod>.", "¿y <field>?", "adelante", "Enséñame otra vez <func>.", "¿eso es todo?", "Luego lo mismo en <test>.", "Ahora los tipos."),
}  # fmt: skip
LOOKS = {
    "en": ("Reading <src> from the top.", "Let me check where <field> comes from.", "A look at <test>.", "Searching for <func>.", "What does <mod> export?", "I'll scan the neighbours of <func>.", "Checking the working tree.", "Let me view the rest.", "", ""),
    "de": ("Ich sehe in <src> nach.", "Woher kommt <field>?", "Was steht in <test>?", "Suche nach <func>.", "Was exportiert <mod>?", ""),
    "fr": ("Je regarde <src>.", "D'où vient <field> ?", "Puis <test>, pour voir.", "Recherche de <func>.", "Qu'exporte <mod> ?", ""),
    "es": ("Miro <src>.", "¿De dónde viene <field>?", "A ver <test>.", "Busco <func>.", "¿Qué exporta <mod>?", ""),
}  # fmt: skip
CHANGES = {
    "en": ("An edit in <src>.", "The loop body next.", "Passing <field> through.", "A small edit in <func>.", "Filling in the branch.", "Then the return value.", "Putting it in.", "Another spot in <mod>.", "", ""),
    "de": ("Ich ändere <src>.", "Nun der Schleifenrumpf.", "<field> wird durchgereicht.", "Noch eine Stelle in <mod>.", "Jetzt der Rückgabewert.", ""),
    "fr": ("Je modifie <src>.", "Le corps de la boucle.", "Je fais passer <field>.", "Un autre endroit dans <mod>.", "Puis la valeur de retour.", ""),
    "es": ("Edito <src>.", "El cuerpo del bucle.", "Paso <field> hacia dentro.", "Otro sitio en <mod>.", "Luego el valor de retorno.", ""),
}  # fmt: skip
ENDS = {
    "en": ("All of that is in <src> now.", "That's it for <func>.", "Over to you.", "Let me know if you want more.", "The change is in place.", "That covers your request.", "No more to do in <mod>.", ""),
    "de": ("Das war <func>.", "Alles steht jetzt in <src>.", "Die Änderung ist drin.", ""),
    "fr": ("Voilà pour <func>.", "Tout est dans <src>.", "La modification est en place.", ""),
    "es": ("Eso es todo en <func>.", "Todo está en <src>.", "El cambio ya está puesto.", ""),
}  # fmt: skip
BEFORE = {
    "en": ("I have <src> open now.", "There are <n> places that touch <field>.", "<mod> is bigger than it looks.", "I've read the ticket and the code.", "Quick update.", "<func> is short.", "The tests for <mod> are readable.", "I got through the first <n> lines."),
    "de": ("<src> liegt jetzt vor mir.", "<field> kommt an <n> Stellen vor.", "Ein kurzer Zwischenbericht.", "<func> ist kurz."),
    "fr": ("J'ai <src> sous les yeux.", "<field> apparaît à <n> endroits.", "Petit point d'étape.", "<func> est courte."),
    "es": ("Tengo <src> delante.", "<field> aparece en <n> sitios.", "Breve resumen.", "<func> es corta."),
}  # fmt: skip
AFTER = {
    "en": ("Next up: <test>.", "I'll carry on from here.", "Now to <src>.", "More in a minute.", "I'm continuing with <func>.", "The edit follows.", "That leaves the docs."),
    "de": ("Als Nächstes <test>.", "Ich mache von hier aus weiter.", "Die Änderung folgt."),
    "fr": ("Ensuite, <test>.", "Je continue à partir d'ici.", "La modification suit."),
    "es": ("A continuación, <test>.", "Sigo desde aquí.", "El cambio viene ahora."),
}  # fmt: skip
OPENERS = {
    "en": ("Great. ", "Fine — ", "Let's see: ", "Perfect. ", "Good question. ", "Sure: ", "Understood. ", "OK. "),
    "de": ("Schön. ", "Mal sehen: ", "In Ordnung. ", "Klar: "),
    "fr": ("Très bien. ", "Voyons : ", "Parfait. ", "Entendu : "),
    "es": ("Muy bien. ", "Veamos: ", "Perfecto. ", "Claro: "),
}  # fmt: skip
INTROS = {
    "en": ("Status:", "Quick rundown:", "Here's the state of it:", "In short:", "Progress:"),
    "de": ("Zwischenstand:", "In Kürze:", "Fortschritt:"),
    "fr": ("État :", "En bref :", "Avancement :"),
    "es": ("Estado:", "En breve:", "Avance:"),
}  # fmt: skip
USER_BEFORE = {
    "en": ("I read through <src>.", "Nice progress.", "Saw your message.", "Just had a call with the team.", "One thing before you continue.", "The diff for <mod> is readable, thanks."),
    "de": ("Ich habe <src> durchgesehen.", "Sieht gut aus.", "Gerade mit dem Team telefoniert.", "Eine Sache noch."),
    "fr": ("J'ai parcouru <src>.", "Bel avancement.", "Je sors d'un appel avec l'équipe.", "Une chose encore."),
    "es": ("He repasado <src>.", "Buen avance.", "Acabo de hablar con el equipo.", "Una cosa más."),
}  # fmt: skip
USER_AFTER = {
    "en": ("After that, <test>.", "Ping me when it's up.", "And could you look at <func> again?", "No rush.", "One commit each, please."),
    "de": ("Danach <test>, bitte.", "Melde dich, wenn es steht.", "Kein Stress."),
    "fr": ("Après cela, <test>.", "Préviens-moi quand c'est prêt.", "Prends ton temps."),
    "es": ("Después, <test>.", "Avísame cuando esté.", "Sin prisa."),
}  # fmt: skip
ACKS = {
    "en": ("Will do.", "Clear, thanks.", "Okay, implementing.", "Got it.", "Sounds good."),
    "de": ("Mach ich.", "Klar, danke.", "Gut, ich setze es um."),
    "fr": ("C'est noté.", "Clair, merci.", "Entendu, je le fais."),
    "es": ("Hecho.", "Claro, gracias.", "De acuerdo, lo hago."),
}
NOTED = {
    "en": ("Okay.", "Sure.", "Will keep that in mind.", "Fair enough."),
    "de": ("In Ordnung.", "Gut."),
    "fr": ("Entendu.", "Bien."),
    "es": ("Vale.", "Bien."),
}
