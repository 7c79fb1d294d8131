-- Which share of the prompts' tokens comes from the cache, by month and model.
SELECT
    month,
    model,
    sum(cache_read) AS cached,
    sum(input + cache_write + cache_write_1h) AS uncached,
    round(100.0 * sum(cache_read) / nullif(sum(cache_read + input + cache_write + cache_write_1h), 0), 1) AS cached_percent
FROM costs
WHERE input IS NOT NULL
GROUP BY month, model
ORDER BY month DESC, uncached DESC, model
