-- What analytics filter and group by stands in columns of its own: the end user of the
-- metadata, and what was in extra before.
ALTER TABLE attempts ADD COLUMN end_user VARCHAR DEFAULT '';
ALTER TABLE attempts ADD COLUMN span_id VARCHAR DEFAULT '';
ALTER TABLE attempts ADD COLUMN prompt_slug VARCHAR DEFAULT '';
UPDATE attempts SET end_user = coalesce(json_extract_string(metadata, '/_user'), '') WHERE contains(metadata, '"_user":');
UPDATE attempts SET span_id = coalesce(json_extract_string(extra, '/span_id'), ''), prompt_slug = coalesce(json_extract_string(extra, '/prompt_slug'), '')
WHERE contains(extra, '"span_id":') OR contains(extra, '"prompt_slug":');
-- Feedback on traces, and how far it was read from the change feed of the control plane.
-- A trace id that is no UUID is kept as one made of it, as in attempts.
CREATE TABLE feedback (
    id           UUID NOT NULL,
    org_id       VARCHAR NOT NULL,
    workspace_id VARCHAR NOT NULL,
    trace_id     UUID NOT NULL,
    value        INTEGER NOT NULL,
    weight       DOUBLE NOT NULL,
    given        TIMESTAMP NOT NULL
);
CREATE TABLE feedback_progress (next BIGINT NOT NULL);
INSERT INTO feedback_progress VALUES (0);
