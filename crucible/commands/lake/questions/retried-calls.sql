-- How often agents repeat a failed call with the same arguments, and how often that helps.
SELECT
    tool,
    count(*) FILTER (outcome = 'failed') AS failed,
    count(retry_of) AS retried,
    count(retry_of) FILTER (outcome = 'ok') AS then_ok,
    round(100.0 * count(retry_of) FILTER (outcome = 'ok') / nullif(count(retry_of), 0), 1) AS then_ok_percent
FROM calls
GROUP BY tool
HAVING count(*) FILTER (outcome = 'failed') > 0
ORDER BY retried DESC, failed DESC, tool
