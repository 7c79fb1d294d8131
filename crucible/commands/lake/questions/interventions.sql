-- How often users intervene in a session after its first prompt, by agent and project.
WITH typed AS (
    SELECT session, greatest(count(*) - 1, 0) AS later
    FROM messages
    WHERE type = 'prompted' AND kind IN ('typed', 'steering') AND subagent IS NULL
    GROUP BY session
)
SELECT
    agent,
    coalesce(max(project_name), project) AS project,
    count(*) AS sessions,
    sum(later) AS interventions,
    round(avg(later), 2) AS a_session,
    round(100.0 * count(*) FILTER (later = 0) / count(*), 1) AS untouched_percent
FROM sessions
JOIN typed USING (session)
WHERE parent IS NULL
GROUP BY agent, sessions.project
ORDER BY interventions DESC, agent, project
