-- What each model costs by list price, in all and for a session.
SELECT
    model,
    round(sum(usd_micros) / 1e6, 2) AS usd,
    round(sum(usd_micros) / 1e6 / count(DISTINCT session), 4) AS usd_a_session,
    count(DISTINCT session) AS sessions,
    sum(tokens) AS tokens
FROM costs
GROUP BY model
ORDER BY usd DESC NULLS LAST, tokens DESC, model
