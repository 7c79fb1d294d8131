-- Which share of tokens and costs subagents have, by month.
SELECT
    costs.month,
    sum(tokens) AS tokens,
    round(100.0 * sum(tokens) FILTER (parent IS NOT NULL) / nullif(sum(tokens), 0), 1) AS subagents_percent,
    round(sum(usd_micros) / 1e6, 2) AS usd,
    round(sum(usd_micros) FILTER (parent IS NOT NULL) / 1e6, 2) AS subagents_usd
FROM costs
JOIN (SELECT session, parent FROM sessions) AS owners USING (session)
GROUP BY costs.month
ORDER BY costs.month DESC
