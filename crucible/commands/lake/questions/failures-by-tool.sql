-- How often calls of each tool fail.
SELECT
    tool,
    count(*) AS calls,
    count(*) FILTER (outcome = 'failed') AS failed,
    round(100.0 * count(*) FILTER (outcome = 'failed') / count(*), 1) AS failed_percent,
    count(*) FILTER (outcome = 'rejected') AS rejected,
    round(median(duration_ms)) AS median_ms
FROM calls
GROUP BY tool
ORDER BY failed DESC, calls DESC, tool
