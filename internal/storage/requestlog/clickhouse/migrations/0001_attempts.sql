-- One row for each attempt of any node. The same attempt stored again is the same row: it
-- has the same key. version is 0, or the microsecond of the last correction of its cost.
-- A day is a partition: retention drops whole ones, and of past days there is one part, so
-- that reading FINAL costs nothing. What a custom log or a span dates before 2020 is in one.
CREATE TABLE IF NOT EXISTS attempts (
    org_id             LowCardinality(String),
    workspace_id       LowCardinality(String),
    started            DateTime64(6, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    id                 String CODEC(ZSTD(1)),
    version            UInt64 CODEC(ZSTD(1)),
    arrived            DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') CODEC(DoubleDelta, ZSTD(1)),
    node               LowCardinality(String),
    request_id         String CODEC(ZSTD(1)),
    trace_id           String CODEC(ZSTD(1)),
    span_id            String CODEC(ZSTD(1)),
    number             Int32 CODEC(T64, ZSTD(1)),
    duration_ns        Int64 CODEC(T64, ZSTD(1)),
    first_byte_ns      Int64 CODEC(T64, ZSTD(1)),
    status             Int32 CODEC(T64, ZSTD(1)),
    upstream           Int32 CODEC(T64, ZSTD(1)),
    retries            Int32 CODEC(T64, ZSTD(1)),
    key_id             LowCardinality(String),
    key_name           LowCardinality(String),
    user_id            LowCardinality(String),
    config_id          LowCardinality(String),
    target_path        LowCardinality(String),
    provider           LowCardinality(String),
    provider_id        LowCardinality(String),
    model              LowCardinality(String),
    reply_model        LowCardinality(String),
    endpoint           LowCardinality(String),
    prompt_slug        LowCardinality(String),
    span_name          String CODEC(ZSTD(1)),
    method             LowCardinality(String),
    path               String CODEC(ZSTD(1)),
    upstream_url       String CODEC(ZSTD(1)),
    outcome            LowCardinality(String),
    cache_status       LowCardinality(String),
    remote             String CODEC(ZSTD(1)),
    request_type       LowCardinality(String),
    request_encoding   LowCardinality(String),
    response_type      LowCardinality(String),
    response_encoding  LowCardinality(String),
    stream             Bool,
    continued          Bool,
    usage_reported     Bool,
    request_cut        Bool,
    response_cut       Bool,
    input_tokens       Int64 CODEC(T64, ZSTD(1)),
    output_tokens      Int64 CODEC(T64, ZSTD(1)),
    total_tokens       Int64 CODEC(T64, ZSTD(1)),
    cached_tokens      Int64 CODEC(T64, ZSTD(1)),
    cache_write_tokens Int64 CODEC(T64, ZSTD(1)),
    reasoning_tokens   Int64 CODEC(T64, ZSTD(1)),
    bytes_in           Int64 CODEC(T64, ZSTD(1)),
    bytes_out          Int64 CODEC(T64, ZSTD(1)),
    request_size       Int64 CODEC(T64, ZSTD(1)),
    response_size      Int64 CODEC(T64, ZSTD(1)),
    cost_nano          Nullable(Int64) CODEC(T64, ZSTD(1)),
    saved_nano         Int64 CODEC(T64, ZSTD(1)),
    bound_nano         Int64 CODEC(T64, ZSTD(1)),
    spend_state        LowCardinality(String),
    unpriced           LowCardinality(String),
    price_version      LowCardinality(String),
    cost_terms         String CODEC(ZSTD(1)),
    bill_basis         String CODEC(ZSTD(1)),
    charged_at         Nullable(DateTime64(6, 'UTC')) CODEC(Delta, ZSTD(1)),
    charged_nano       Int64 CODEC(T64, ZSTD(1)),
    charged            String CODEC(ZSTD(1)),
    body_key           String CODEC(ZSTD(1)),
    body_file          UInt32 CODEC(T64, ZSTD(1)),
    body_block         Int64 CODEC(Delta, ZSTD(1)),
    body_at            UInt32 CODEC(Delta, ZSTD(1)),
    request_length     UInt32 CODEC(T64, ZSTD(1)),
    response_length    UInt32 CODEC(T64, ZSTD(1)),
    blank              Bool,
    end_user           String CODEC(ZSTD(1)),
    metadata           Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    extra              String CODEC(ZSTD(1)),
    INDEX by_id id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_trace trace_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_request request_id TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_arrival arrived TYPE minmax GRANULARITY 1
) ENGINE = ReplacingMergeTree(version)
PARTITION BY if(started < toDateTime64('2020-01-01 00:00:00', 6, 'UTC'), 0, toYYYYMMDD(started))
PRIMARY KEY (org_id, workspace_id, started)
ORDER BY (org_id, workspace_id, started, id)
SETTINGS ttl_only_drop_parts = 1, min_age_to_force_merge_seconds = 3600, min_age_to_force_merge_on_partition_only = 1;
-- What an attempt cost before and behind each correction.
CREATE TABLE IF NOT EXISTS corrections (
    id              String,
    started         DateTime64(6, 'UTC'),
    operation       String,
    corrected       DateTime64(6, 'UTC'),
    corrected_by    String,
    cost_before     Int64,
    unpriced_before String,
    version_before  String,
    terms_before    String,
    cost_after      Int64,
    unpriced_after  String,
    version_after   String,
    terms_after     String
) ENGINE = ReplacingMergeTree
PARTITION BY if(started < toDateTime64('2020-01-01 00:00:00', 6, 'UTC'), 0, toYYYYMM(started))
ORDER BY (id, corrected, operation)
SETTINGS ttl_only_drop_parts = 1;
-- How far journals and the feedback are in these tables: a row for each node, and "feedback".
-- While a batch is on its way its row is open, since when the server got to know of it.
CREATE TABLE IF NOT EXISTS progress (
    name      String,
    version   UInt64,
    next_seq  UInt64,
    body_file UInt32,
    body_size Int64,
    open      Bool,
    since     DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC')
) ENGINE = ReplacingMergeTree(version)
ORDER BY name;
-- Feedback on traces. version is the place in the change feed at which it was read; what
-- was taken back stays as a row that is gone, so that an older copy does not bring it back.
CREATE TABLE IF NOT EXISTS feedback (
    id           String,
    version      UInt64,
    gone         Bool,
    org_id       LowCardinality(String),
    workspace_id LowCardinality(String),
    trace_id     String,
    value        Int32,
    weight       Float64,
    given        DateTime64(6, 'UTC')
) ENGINE = ReplacingMergeTree(version)
ORDER BY id;
