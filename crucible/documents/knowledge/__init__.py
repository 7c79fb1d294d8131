"""Knowledge items: their values, their notes, and the rules for visibility, weight and duplicates."""
