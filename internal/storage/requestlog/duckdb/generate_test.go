package duckdb_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"sluice/internal/storage/requestlog/duckdb"
)

// What is generated.
const (
	tenant  = "0191f3a0-0000-7000-8000-000000000001"
	biggest = "workspace-0" // has 99 of a hundred rows: a question is about one workspace
	span    = 30 * 24 * time.Hour
)

var first = time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)

// The rows are made by the database itself, in the tables that the log store keeps: 40
// models, 200 keys in 10 workspaces of which one has most, and 100,000 end users, of which the n-th has the n-th
// part of the traffic of the first; one in a hundred traces has feedback.
const (
	seriesSQL = `INSERT INTO series BY NAME SELECT id, '` + tenant + `' AS org_id, CASE WHEN key < 190 THEN '` + biggest + `' ELSE 'workspace-' || (key % 10) END AS workspace_id, 'key-' || key AS key_id, 'key-' || key AS key_name, '' AS user_id,
'pc-' || (key % 20) AS config_id, 'config' AS target_path, 'provider-' || (model % 6) AS provider, 'saved-' || (model % 12) AS provider_id, 'model-' || model AS model, 'model-' || model AS reply_model,
'chatComplete' AS endpoint, '' AS span_name, 'POST' AS method, '/v1/chat/completions' AS path, 'https://api.example.com/v1/chat/completions' AS upstream_url, 'ok' AS outcome,
['DISABLED', 'MISS', 'HIT', 'SEMANTIC HIT'][cache + 1] AS cache_status, '10.1.2.3' AS remote, 'application/json' AS request_type, '' AS request_encoding, 'application/json' AS response_type, '' AS response_encoding,
false AS stream, false AS continued, true AS usage_reported, false AS request_cut, false AS response_cut
FROM (SELECT n::INTEGER AS id, n % 40 AS model, n // 40 % 200 AS key, n // 8000 AS cache FROM range(32000) t(n))`

	attemptsSQL = `INSERT INTO attempts BY NAME
SELECT uuidv7() AS id, make_timestamp(%[1]d + (n::HUGEINT * %[2]d // %[3]d)::BIGINT) AS started, (model + 40 * key + 8000 * cache)::INTEGER AS series, uuidv7() AS request_id, uuidv7() AS trace_id,
CASE WHEN luck < 0.02 THEN 1 ELSE 0 END AS number, duration AS duration_ns, duration // 2 AS first_byte_ns, status, status AS upstream, CASE WHEN luck > 0.97 THEN 1 ELSE 0 END AS retries,
input AS input_tokens, output AS output_tokens, input + output AS total_tokens, 0 AS cached_tokens, 0 AS cache_write_tokens, 0 AS reasoning_tokens,
4 * input AS bytes_in, 4 * output AS bytes_out, 4 * input AS request_size, 4 * output AS response_size, 0 AS body_file, 0 AS body_block, 0 AS body_at, 0 AS request_length, 0 AS response_length,
'{"_user":"user-' || person || '","team":"team-' || person %% 30 || '"}' AS metadata, '' AS extra, input * 150 + output * 600 AS cost_nano, CASE WHEN cache > 1 THEN 90000 ELSE 0 END AS saved_nano, 0 AS bound_nano,
'settled' AS spend_state, '' AS unpriced, 'prices-2026-10' AS price_version, '' AS cost_terms, '' AS bill_basis, 0 AS charged_nano, '' AS charged,
'user-' || person AS end_user, '' AS span_id, CASE WHEN luck > 0.8 THEN 'pp-' || key %% 15 ELSE '' END AS prompt_slug
FROM (SELECT n, floor(pow(41, random()))::BIGINT - 1 AS model, floor(pow(201, random()))::BIGINT - 1 AS key, floor(pow(100001, random()))::BIGINT - 1 AS person, floor(4 * pow(random(), 3))::BIGINT AS cache, random() AS luck,
(2e8 * exp(3 * random()) * (0.5 + random()))::BIGINT AS duration, (50 * exp(4 * random()))::BIGINT AS input, (20 * exp(3 * random()))::BIGINT AS output,
CASE WHEN random() < 0.97 THEN 200 WHEN random() < 0.5 THEN 429 ELSE 500 END AS status FROM range(%[4]d, %[5]d) t(n))`

	feedbackSQL = `INSERT INTO feedback SELECT id, '` + tenant + `', workspace_id, trace_id, (hash(id, 1) %% 21)::INTEGER - 10, 1, started
FROM attempts JOIN (SELECT id AS series, workspace_id FROM series) USING (series) WHERE hash(id) %% 100 = 0 AND started BETWEEN make_timestamp(%d) AND make_timestamp(%d)`
)

// batchRows are generated in one transaction.
const batchRows = 500_000

// generate makes the database unless it is there.
func generate(ctx context.Context, path string, rows int) (err error) {
	if _, err := os.Stat(path); err == nil {
		return nil
	}
	empty, err := duckdb.Open(ctx, duckdb.Options{Path: path})
	if err != nil {
		return err
	}
	if err := empty.Close(); err != nil {
		return err
	}
	db, err := sql.Open("duckdb", path+"?memory_limit=1GB&threads=1")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := db.ExecContext(ctx, seriesSQL); err != nil {
		return fmt.Errorf("make series: %w", err)
	}
	for from := 0; from < rows; from += batchRows {
		if _, err := db.ExecContext(ctx, fmt.Sprintf(attemptsSQL, first.UnixMicro(), span.Microseconds(), rows, from, min(from+batchRows, rows))); err != nil {
			return fmt.Errorf("make rows: %w", err)
		}
	}
	if _, err := db.ExecContext(ctx, fmt.Sprintf(feedbackSQL, first.UnixMicro(), first.Add(span).UnixMicro())); err != nil {
		return fmt.Errorf("make feedback: %w", err)
	}
	if _, err := db.ExecContext(ctx, "INSERT INTO pending_traces SELECT DISTINCT trace_id FROM feedback"); err != nil { // as PutFeedback does
		return fmt.Errorf("make feedback: %w", err)
	}
	return nil
}
