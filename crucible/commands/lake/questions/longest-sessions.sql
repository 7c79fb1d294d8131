-- The sessions that took longest.
SELECT
    coalesce(id, session) AS session,
    coalesce(project_name, project) AS project,
    agent,
    status,
    round(duration_s / 3600.0, 1) AS hours,
    tool_calls AS calls,
    events
FROM sessions
ORDER BY duration_s DESC NULLS LAST, session
LIMIT 20
