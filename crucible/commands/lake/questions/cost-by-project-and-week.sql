-- What each project costs a week, by list price in US dollars; unpriced tokens are counted apart.
SELECT
    strftime(date_trunc('week', costs.day), '%Y-%m-%d') AS week,
    coalesce(names.name, costs.project) AS project,
    round(sum(costs.usd_micros) / 1e6, 2) AS usd,
    sum(costs.tokens) FILTER (costs.usd_micros IS NULL) AS unpriced_tokens,
    count(DISTINCT costs.session) AS sessions
FROM costs
LEFT JOIN (SELECT project, max(project_name) AS name FROM sessions GROUP BY project) AS names USING (project)
GROUP BY ALL
ORDER BY week DESC NULLS LAST, usd DESC NULLS LAST, project
