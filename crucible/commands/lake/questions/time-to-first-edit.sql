-- How long agents work before they change a file, by month and agent.
WITH edits AS (
    SELECT session, min(time) AS edited
    FROM calls
    WHERE deed IN ('edit', 'write') AND outcome = 'ok'
    GROUP BY session
), prompts AS (
    SELECT session, min(time) AS asked
    FROM messages
    WHERE type = 'prompted'
    GROUP BY session
)
SELECT
    month,
    agent,
    count(*) AS sessions,
    round(median(date_diff('second', asked, edited))) AS median_s,
    round(quantile_cont(date_diff('second', asked, edited), 0.9)) AS p90_s
FROM sessions
JOIN edits USING (session)
JOIN prompts USING (session)
WHERE edited >= asked
GROUP BY month, agent
ORDER BY month DESC, sessions DESC, agent
