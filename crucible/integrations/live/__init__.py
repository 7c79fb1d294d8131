"""Follow clients' logs while they grow, and bring notes up to date after each turn.

`LogChanges` reports the logs that changed, `ClientWatch` decides when to import them, and a process of its own
(`live_import`) imports them at low priority, so that `cru watch` stays small.
"""
