"""What matters in a session, detected by the structure of its events: decisions, corrections, failures, outcomes, open ends."""
