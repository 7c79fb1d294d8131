-- How many sessions each agent had a month, without subagents.
SELECT
    month,
    agent,
    count(*) AS sessions,
    count(*) FILTER (status = 'completed') AS completed,
    sum(tool_calls) AS calls,
    round(sum(duration_s) / 3600.0, 1) AS hours
FROM sessions
WHERE parent IS NULL
GROUP BY month, agent
ORDER BY month DESC, sessions DESC, agent
