-- A judged row carries what feedback says of its trace, and stands here once for each value of that:
-- how many feedbacks have the score and what they weigh together, and the same of all feedback on
-- the trace. One of these is the lead, by which rows are counted. A row that is alone is the only one
-- of its trace. Traces whose feedback changed wait in pending_traces until their rows say it: at
-- first, all of them.
DROP TABLE heard;
CREATE TABLE heard (
    started         TIMESTAMP NOT NULL,
    series          INTEGER NOT NULL,
    trace_id        UUID NOT NULL,
    status          INTEGER NOT NULL,
    retries         INTEGER NOT NULL,
    bytes_in        BIGINT NOT NULL,
    metadata        VARCHAR NOT NULL,
    extra           VARCHAR NOT NULL,
    end_user        VARCHAR,
    prompt_slug     VARCHAR,
    score           INTEGER NOT NULL,
    score_feedbacks BIGINT NOT NULL,
    score_weighted  DOUBLE NOT NULL,
    feedbacks       BIGINT NOT NULL,
    weighted        DOUBLE NOT NULL,
    lead            BOOLEAN NOT NULL,
    alone           BOOLEAN NOT NULL
);
DROP TABLE IF EXISTS judged_traces;
DELETE FROM pending_traces;
INSERT INTO pending_traces SELECT DISTINCT trace_id FROM feedback;
