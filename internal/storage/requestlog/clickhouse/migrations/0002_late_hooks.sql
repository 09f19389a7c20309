-- Results of guardrails that arrived after the record of their attempt. entry sorts by time.
-- The same results stored again are the same row.
CREATE TABLE IF NOT EXISTS late_hooks (
    id      String,
    entry   String,
    org_id  LowCardinality(String),
    started DateTime64(6, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    hooks   String CODEC(ZSTD(1))
) ENGINE = ReplacingMergeTree
PARTITION BY if(started < toDateTime64('2020-01-01 00:00:00', 6, 'UTC'), 0, toYYYYMM(started))
ORDER BY (id, entry)
SETTINGS ttl_only_drop_parts = 1;
