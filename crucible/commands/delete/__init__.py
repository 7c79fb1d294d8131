"""Move sessions to the vault's trash, and restore them; an interrupted run can be finished."""
