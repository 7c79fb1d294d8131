-- Which corrections users repeat in several sessions. Their text is in lakes exported with --contents.
SELECT
    topic,
    count(DISTINCT session) AS sessions,
    count(DISTINCT project) AS projects,
    count(*) AS corrections,
    min(month) AS first_month,
    max(month) AS last_month,
    min(text) AS example
FROM findings
WHERE kind = 'correction' AND topic IS NOT NULL
GROUP BY topic
HAVING count(DISTINCT session) > 1
ORDER BY sessions DESC, corrections DESC, topic
