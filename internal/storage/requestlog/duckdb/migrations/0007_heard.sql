-- Rows of hours in slots whose trace is one of judged_traces: what of them is needed to put
-- feedback into its buckets and groups, so that nobody looks for them among all rows. New
-- traces with feedback wait in pending_traces until their rows of those hours are here.
CREATE TABLE judged_traces (trace_id UUID NOT NULL);
CREATE TABLE pending_traces (trace_id UUID NOT NULL);
INSERT INTO pending_traces SELECT DISTINCT trace_id FROM feedback;
CREATE TABLE heard (
    started     TIMESTAMP NOT NULL,
    series      INTEGER NOT NULL,
    trace_id    UUID NOT NULL,
    status      INTEGER NOT NULL,
    retries     INTEGER NOT NULL,
    bytes_in    BIGINT NOT NULL,
    metadata    VARCHAR NOT NULL,
    extra       VARCHAR NOT NULL,
    end_user    VARCHAR,
    prompt_slug VARCHAR
);
