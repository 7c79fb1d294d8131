"""Ordinary talk of a session of half 3; as in `filler_words`."""

from __future__ import annotations

from tests.capture.planted.filler_words import LANGUAGES

__all__ = ["ACKS", "AFTER", "BEFORE", "CHANGES", "ENDS", "FOLLOW_UPS", "GOALS", "INTROS", "LANGUAGES", "LOOKS", "NOTED", "OPENERS", "USER_AFTER", "USER_BEFORE"]  # fmt: skip

GOALS = {
    "en": ("hey! can we get <field> into <mod> today?", "task: <func>, accept lists", "Kindly review <src> and complete what is missing.", "pair with me on <mod> for a bit", "<mod>: nicer output please", "The report from <mod> shall include <field>.", "let's give <test> some love", "add a dry-run switch to <func>", "<src> has grown too long, trim it", "Please bring <mod> in line with the style guide."),
    "de": ("Kriegen wir <field> heute in <mod> hinein?", "Aufgabe: <func> soll Listen annehmen", "Bitte <src> durchsehen und vervollständigen."),
    "fr": ("On peut mettre <field> dans <mod> aujourd'hui ?", "tâche : <func> accepte des listes", "Merci de relire <src> et de le compléter."),
}  # fmt: skip
FOLLOW_UPS = {
    "en": ("looking good, what's next?", "next: <test>", "Please proceed to the following item.", "can you run me through <src>?", "sweet, and <field>?", "status?", "more of that please", "go on with <func>"),
    "de": ("sieht gut aus, was kommt jetzt?", "weiter mit <test>", "Bitte mit dem nächsten Punkt fortfahren."),
    "fr": ("ça a l'air bien, ensuite ?", "on passe à <test>", "Merci de poursuivre avec le point suivant."),
}  # fmt: skip
LOOKS = {
    "en": ("open <src>", "Let me peek at <func>.", "The file is being inspected.", "What's in <mod>, then?", "listing", "Scanning <test> quickly.", "", ""),
    "de": ("<src> öffnen", "Mal sehen, was in <mod> steckt.", ""),
    "fr": ("ouvrir <src>", "Voyons ce qu'il y a dans <mod>.", ""),
}  # fmt: skip
CHANGES = {
    "en": ("patch <src>", "Okay, typing.", "The modification of <func> follows.", "Adding the line for <field>.", "A few strokes in <src>.", "write", "Here goes the edit.", ""),
    "de": ("<src> anpassen", "Ich trage <field> ein.", ""),
    "fr": ("adapter <src>", "J'inscris <field>.", ""),
}  # fmt: skip
ENDS = {
    "en": ("eot", "That's it from me, over to you!", "The task has been completed.", "All yours.", "finished with <src>", "You can try it now.", "", ""),
    "de": ("fertig soweit", "Das liegt jetzt bei dir.", ""),
    "fr": ("fini pour ma part", "À toi de jouer.", ""),
}  # fmt: skip
BEFORE = {
    "en": ("<src>: read.", "I had a stroll through <mod>.", "The review of <func> is complete.", "<n> matches in total.", "So, that was <test>.", "Tea's brewed, files are open.", "Inventory taken.", "Through with the callers."),
    "de": ("<src>: gelesen.", "Die Durchsicht von <func> ist abgeschlossen.", "<n> Treffer insgesamt."),
    "fr": ("<src> : lu.", "La relecture de <func> est terminée.", "<n> occurrences en tout."),
}  # fmt: skip
AFTER = {
    "en": ("then: <src>", "Off to <test> next.", "Work continues on <func>.", "On with it.", "Let me type that up.", "<mod> is up next.", "I'll carry on below.", "Proceeding."),
    "de": ("dann: <src>", "Die Arbeit an <func> geht weiter.", "Auf zu <test>."),
    "fr": ("puis : <src>", "Le travail sur <func> continue.", "En route pour <test>."),
}  # fmt: skip
OPENERS = {
    "en": ("Alrighty, ", "Hey, ", "Note: ", "Cool. ", "Yup. ", "For the log: ", "Well now, ", "Look, "),
    "de": ("Also, ", "Fürs Protokoll: ", "Prima. "),
    "fr": ("Alors, ", "Pour le journal : ", "Super. "),
}  # fmt: skip
INTROS = {
    "en": ("log:", "Where we are:", "Interim report:", "Quick recap:"),
    "de": ("Protokoll:", "Zwischenbericht:", "Wo wir stehen:"),
    "fr": ("journal :", "Rapport intermédiaire :", "Où on en est :"),
}  # fmt: skip
USER_BEFORE = {
    "en": ("hiya!", "I went over <src>.", "Thank you for the interim version.", "just had a look.", "ok cool.", "Regarding <mod>.", "me again.", "<func> reads well."),
    "de": ("Hallo nochmal!", "Danke für den Zwischenstand.", "Zu <mod>."),
    "fr": ("re !", "Merci pour cette première version.", "Concernant <mod>."),
}  # fmt: skip
USER_AFTER = {
    "en": ("then show me <test>.", "shout when you're through.", "Please keep the comments up to date.", "no rush.", "Report back afterwards.", "thanks a bunch!", "and keep <src> short.", "cheers"),
    "de": ("Zeig mir danach <test>.", "Sag Bescheid, wenn du durch bist.", "Keine Eile."),
    "fr": ("Montre-moi ensuite <test>.", "Dis-moi quand c'est prêt.", "Rien ne presse."),
}  # fmt: skip
ACKS = {
    "en": ("ack", "Sounds good!", "This will be carried out accordingly.", "On it.", "roger", "Gladly.", "You got it.", "Acknowledged."),
    "de": ("Verstanden.", "Mache ich gern!", "Wird ausgeführt."),
    "fr": ("Bien reçu.", "Avec plaisir !", "Ce sera fait."),
}  # fmt: skip
NOTED = {
    "en": ("ack.", "No worries.", "This is noted.", "Right you are."),
    "de": ("Notiert.", "Kein Problem."),
    "fr": ("Bien noté.", "Pas de souci."),
}
