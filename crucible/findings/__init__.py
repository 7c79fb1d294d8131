"""What matters in a session, found by the structure of its events: decisions, corrections, failures, outcomes, open ends."""
