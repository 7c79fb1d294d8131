"""Knowledge items: add, list, check, change and recall the notes of `knowledge/`."""
