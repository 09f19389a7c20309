-- What many attempts have in common stands once in series; an attempt refers to
-- it. Texts are what costs most when rows are stored, and these repeat.
CREATE TABLE series (
    id                INTEGER NOT NULL,
    org_id            VARCHAR NOT NULL,
    workspace_id      VARCHAR NOT NULL,
    key_id            VARCHAR NOT NULL,
    key_name          VARCHAR NOT NULL,
    user_id           VARCHAR NOT NULL,
    config_id         VARCHAR NOT NULL,
    target_path       VARCHAR NOT NULL,
    provider          VARCHAR NOT NULL,
    provider_id       VARCHAR NOT NULL,
    model             VARCHAR NOT NULL,
    reply_model       VARCHAR NOT NULL,
    endpoint          VARCHAR NOT NULL,
    span_name         VARCHAR NOT NULL,
    method            VARCHAR NOT NULL,
    path              VARCHAR NOT NULL,
    upstream_url      VARCHAR NOT NULL,
    outcome           VARCHAR NOT NULL,
    cache_status      VARCHAR NOT NULL,
    remote            VARCHAR NOT NULL,
    request_type      VARCHAR NOT NULL,
    request_encoding  VARCHAR NOT NULL,
    response_type     VARCHAR NOT NULL,
    response_encoding VARCHAR NOT NULL,
    stream            BOOLEAN NOT NULL,
    continued         BOOLEAN NOT NULL,
    usage_reported    BOOLEAN NOT NULL,
    request_cut       BOOLEAN NOT NULL,
    response_cut      BOOLEAN NOT NULL
);
-- Ids that are no UUID are kept as one made of them; their text is in extra.
-- Lengths and sizes are bytes, times nanoseconds.
CREATE TABLE attempts (
    id                 UUID NOT NULL,
    started            TIMESTAMP NOT NULL,
    series             INTEGER NOT NULL,
    request_id         UUID NOT NULL,
    trace_id           UUID NOT NULL,
    number             INTEGER NOT NULL,
    duration_ns        BIGINT NOT NULL,
    first_byte_ns      BIGINT NOT NULL,
    status             INTEGER NOT NULL,
    upstream           INTEGER NOT NULL,
    retries            INTEGER NOT NULL,
    input_tokens       BIGINT NOT NULL,
    output_tokens      BIGINT NOT NULL,
    total_tokens       BIGINT NOT NULL,
    cached_tokens      BIGINT NOT NULL,
    cache_write_tokens BIGINT NOT NULL,
    reasoning_tokens   BIGINT NOT NULL,
    bytes_in           BIGINT NOT NULL,
    bytes_out          BIGINT NOT NULL,
    request_size       BIGINT NOT NULL,
    response_size      BIGINT NOT NULL,
    body_file          UINTEGER NOT NULL,
    body_block         BIGINT NOT NULL,
    body_at            UINTEGER NOT NULL,
    request_length     UINTEGER NOT NULL,
    response_length    UINTEGER NOT NULL,
    metadata           VARCHAR NOT NULL,
    extra              VARCHAR NOT NULL
);
-- One row: how far the journal and the bodies are in these tables.
CREATE TABLE progress (
    next_seq  UBIGINT NOT NULL,
    body_file UINTEGER NOT NULL,
    body_size BIGINT NOT NULL
);
INSERT INTO progress VALUES (0, 0, 0);
