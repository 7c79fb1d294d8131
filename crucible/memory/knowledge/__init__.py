"""Knowledge items: add, list, check, change and recall the notes in `knowledge/`."""
