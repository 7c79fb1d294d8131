-- How sessions end, by project: their status, failed calls, and errors.
SELECT
    coalesce(max(project_name), project) AS project,
    status,
    count(*) AS sessions,
    round(100.0 * count(*) / sum(count(*)) OVER (PARTITION BY sessions.project), 1) AS percent,
    round(avg(failures), 1) AS failed_calls,
    round(avg(errors), 1) AS errors,
    round(avg(duration_s) / 60, 1) AS minutes
FROM sessions
WHERE parent IS NULL
GROUP BY sessions.project, status
ORDER BY project, sessions DESC, status
