-- Results of guardrails that arrived after the record of their attempt. entry sorts by time.
CREATE TABLE late_hooks (
    id      UUID NOT NULL,
    entry   UUID NOT NULL,
    org_id  VARCHAR NOT NULL,
    started TIMESTAMP NOT NULL,
    hooks   VARCHAR NOT NULL
);
