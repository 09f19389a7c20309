-- Sums of rows that were worked out beforehand. Time is cut into slots; a slot that stands
-- here has in the tables of its level what the rows that started in it add up to. Whoever
-- changes such a row takes the slot away in the same transaction. Levels are 0 for five
-- minutes, 1 for hours, 2 for days and 3 for weeks, which begin on Mondays; kinds says of
-- which tables the slot has its part.
CREATE TABLE slots (
    level   UTINYINT NOT NULL,
    start   TIMESTAMP NOT NULL,
    kinds   UTINYINT NOT NULL,
    rows    BIGINT NOT NULL
);
-- By one property of rows and its value. Property 0 are all rows, with an empty value.
CREATE TABLE sums_weeks (
    start          TIMESTAMP NOT NULL,
    org_id         VARCHAR NOT NULL,
    workspace_id   VARCHAR NOT NULL,
    property       UTINYINT NOT NULL,
    value          VARCHAR NOT NULL,
    requests       BIGINT NOT NULL,
    errors         BIGINT NOT NULL,
    cost           BIGINT NOT NULL,
    tokens         BIGINT NOT NULL,
    input          BIGINT NOT NULL,
    output         BIGINT NOT NULL,
    latency        BIGINT NOT NULL,
    user_requests  BIGINT NOT NULL,
    by_retry       BIGINT NOT NULL,
    by_fallback    BIGINT NOT NULL,
    simple_hits    BIGINT NOT NULL,
    semantic_hits  BIGINT NOT NULL,
    simple_saved   BIGINT NOT NULL,
    semantic_saved BIGINT NOT NULL,
    hit_latency    BIGINT NOT NULL,
    first          TIMESTAMP NOT NULL,
    last           TIMESTAMP NOT NULL
);
CREATE TABLE sums_days AS SELECT * FROM sums_weeks;
CREATE TABLE sums_hours AS SELECT * FROM sums_weeks;
CREATE TABLE sums_minutes AS SELECT * FROM sums_weeks;
-- How many rows took how long: bin n is from the n-th power of 1.01 nanoseconds on.
CREATE TABLE bins_weeks (
    start        TIMESTAMP NOT NULL,
    org_id       VARCHAR NOT NULL,
    workspace_id VARCHAR NOT NULL,
    property     UTINYINT NOT NULL,
    value        VARCHAR NOT NULL,
    bin          SMALLINT NOT NULL,
    n            BIGINT NOT NULL
);
CREATE TABLE bins_days AS SELECT * FROM bins_weeks;
CREATE TABLE bins_hours AS SELECT * FROM bins_weeks;
CREATE TABLE bins_minutes AS SELECT * FROM bins_weeks;
-- By all properties at once.
CREATE TABLE facets_weeks (
    start          TIMESTAMP NOT NULL,
    org_id         VARCHAR NOT NULL,
    workspace_id   VARCHAR NOT NULL,
    key_id         VARCHAR NOT NULL,
    user_id        VARCHAR NOT NULL,
    config_id      VARCHAR NOT NULL,
    provider       VARCHAR NOT NULL,
    provider_id    VARCHAR NOT NULL,
    model          VARCHAR NOT NULL,
    cache_status   VARCHAR NOT NULL,
    prompt_slug    VARCHAR NOT NULL,
    status         INTEGER NOT NULL,
    requests       BIGINT NOT NULL,
    errors         BIGINT NOT NULL,
    cost           BIGINT NOT NULL,
    tokens         BIGINT NOT NULL,
    input          BIGINT NOT NULL,
    output         BIGINT NOT NULL,
    latency        BIGINT NOT NULL,
    user_requests  BIGINT NOT NULL,
    by_retry       BIGINT NOT NULL,
    by_fallback    BIGINT NOT NULL,
    simple_hits    BIGINT NOT NULL,
    semantic_hits  BIGINT NOT NULL,
    simple_saved   BIGINT NOT NULL,
    semantic_saved BIGINT NOT NULL,
    hit_latency    BIGINT NOT NULL,
    first          TIMESTAMP NOT NULL,
    last           TIMESTAMP NOT NULL
);
CREATE TABLE facets_days AS SELECT * FROM facets_weeks;
-- By one pair of metadata: of a workspace, or of a whole organisation.
CREATE TABLE pairs_weeks (
    start          TIMESTAMP NOT NULL,
    org_id         VARCHAR NOT NULL,
    workspace_id   VARCHAR NOT NULL,
    whole          BOOLEAN NOT NULL,
    key            VARCHAR NOT NULL,
    value          VARCHAR NOT NULL,
    requests       BIGINT NOT NULL,
    errors         BIGINT NOT NULL,
    cost           BIGINT NOT NULL,
    tokens         BIGINT NOT NULL,
    input          BIGINT NOT NULL,
    output         BIGINT NOT NULL,
    latency        BIGINT NOT NULL,
    user_requests  BIGINT NOT NULL,
    by_retry       BIGINT NOT NULL,
    by_fallback    BIGINT NOT NULL,
    simple_hits    BIGINT NOT NULL,
    semantic_hits  BIGINT NOT NULL,
    simple_saved   BIGINT NOT NULL,
    semantic_saved BIGINT NOT NULL,
    hit_latency    BIGINT NOT NULL,
    first          TIMESTAMP NOT NULL,
    last           TIMESTAMP NOT NULL
);
CREATE TABLE pairs_days AS SELECT * FROM pairs_weeks;
