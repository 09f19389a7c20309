package clickhouse

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"sluice/internal/domain/record"
	"sluice/internal/storage/requestlog/bodies"
	"sluice/internal/storage/requestlog/clickhouse/client"
	"sluice/internal/storage/requestlog/extra"
)

// stored is a row of attempts: an attempt with the additional stored columns.
type stored struct {
	record.Billed
	ref     bodies.Ref
	node    string    // node whose journal contained the record and that has its bodies
	arrived time.Time // at the server
	extra   string
}

// column is a column of attempts: how it is written and read. The column extra contains
// all fields that do not have a column.
type column struct {
	name string
	put  func(*client.Rows, *stored) // nil if the server fills the column in
	into func(*stored) any           // destination for encoding/json; nil if the column is not read
	sql  string                      // expression to read; empty means name
}

// columns lists the columns of attempts, except version.
var columns = []column{
	text("org_id", func(s *stored) *string { return &s.OrgID }),
	text("workspace_id", func(s *stored) *string { return &s.WorkspaceID }),
	{"started", func(r *client.Rows, s *stored) { r.Time(s.Started) }, func(s *stored) any { return (*micros)(&s.Started) }, "toUnixTimestamp64Micro(started)"},
	text("id", func(s *stored) *string { return &s.ID }),
	text("node", func(s *stored) *string { return &s.node }),
	text("request_id", func(s *stored) *string { return &s.RequestID }),
	text("trace_id", func(s *stored) *string { return &s.TraceID }),
	text("span_id", func(s *stored) *string { return &s.SpanID }),
	number32("number", func(s *stored) *int32 { return &s.Number }),
	number("duration_ns", func(s *stored) *int64 { return (*int64)(&s.Duration) }),
	number("first_byte_ns", func(s *stored) *int64 { return (*int64)(&s.FirstByte) }),
	number32("status", func(s *stored) *int32 { return &s.Status }),
	number32("upstream", func(s *stored) *int32 { return &s.Upstream }),
	number32("retries", func(s *stored) *int32 { return &s.Retries }),
	text("key_id", func(s *stored) *string { return &s.KeyID }),
	text("key_name", func(s *stored) *string { return &s.KeyName }),
	text("user_id", func(s *stored) *string { return &s.UserID }),
	text("config_id", func(s *stored) *string { return &s.ConfigID }),
	text("target_path", func(s *stored) *string { return &s.TargetPath }),
	text("provider", func(s *stored) *string { return &s.Provider }),
	text("provider_id", func(s *stored) *string { return &s.ProviderID }),
	text("model", func(s *stored) *string { return &s.Model }),
	text("reply_model", func(s *stored) *string { return &s.ResponseModel }),
	text("endpoint", func(s *stored) *string { return (*string)(&s.Endpoint) }),
	text("prompt_slug", func(s *stored) *string { return &s.PromptSlug }),
	text("span_name", func(s *stored) *string { return &s.SpanName }),
	text("method", func(s *stored) *string { return &s.Method }),
	text("path", func(s *stored) *string { return &s.Path }),
	text("upstream_url", func(s *stored) *string { return &s.UpstreamURL }),
	text("outcome", func(s *stored) *string { return (*string)(&s.Outcome) }),
	text("cache_status", func(s *stored) *string { return &s.CacheStatus }),
	text("remote", func(s *stored) *string { return &s.Remote }),
	contentType("request_type", func(s *stored) *string { return &s.Request.Type }),
	text("request_encoding", func(s *stored) *string { return &s.Request.Encoding }),
	contentType("response_type", func(s *stored) *string { return &s.Response.Type }),
	text("response_encoding", func(s *stored) *string { return &s.Response.Encoding }),
	flag("stream", func(s *stored) *bool { return &s.Stream }),
	flag("continued", func(s *stored) *bool { return &s.Continued }),
	flag("usage_reported", func(s *stored) *bool { return &s.Usage.Reported }),
	flag("request_cut", func(s *stored) *bool { return &s.Request.Truncated }),
	flag("response_cut", func(s *stored) *bool { return &s.Response.Truncated }),
	number("input_tokens", func(s *stored) *int64 { return &s.Usage.InputTokens }),
	number("output_tokens", func(s *stored) *int64 { return &s.Usage.OutputTokens }),
	number("total_tokens", func(s *stored) *int64 { return &s.Usage.TotalTokens }),
	number("cached_tokens", func(s *stored) *int64 { return &s.Usage.CachedTokens }),
	number("cache_write_tokens", func(s *stored) *int64 { return &s.Usage.CacheWriteTokens }),
	number("reasoning_tokens", func(s *stored) *int64 { return &s.Usage.ReasoningTokens }),
	number("bytes_in", func(s *stored) *int64 { return &s.BytesIn }),
	number("bytes_out", func(s *stored) *int64 { return &s.BytesOut }),
	number("request_size", func(s *stored) *int64 { return &s.Request.Size }),
	number("response_size", func(s *stored) *int64 { return &s.Response.Size }),
	{"cost_nano", putCost, func(s *stored) any { return &s.Spend.Cost }, ""}, // null leaves it 0
	number("saved_nano", func(s *stored) *int64 { return &s.Spend.Saved }),
	number("bound_nano", func(s *stored) *int64 { return &s.Spend.MaxCost }),
	text("spend_state", func(s *stored) *string { return &s.Spend.State }),
	text("unpriced", func(s *stored) *string { return &s.Spend.Unpriced }),
	text("price_version", func(s *stored) *string { return &s.Spend.Version }),
	text("cost_terms", func(s *stored) *string { return &s.Spend.Terms }),
	text("bill_basis", func(s *stored) *string { return &s.Spend.Basis }),
	{"charged_at", putChargedAt, func(s *stored) any { return (*micros)(&s.Charged.ClosedAt) }, "toUnixTimestamp64Micro(charged_at)"},
	number("charged_nano", func(s *stored) *int64 { return &s.Charged.Nano }),
	text("charged", func(s *stored) *string { return &s.Charged.Budgets }),
	text("body_key", func(s *stored) *string { return &s.ref.Key }),
	number32u("body_file", func(s *stored) *uint32 { return &s.ref.File }),
	number("body_block", func(s *stored) *int64 { return &s.ref.Block }),
	number32u("body_at", func(s *stored) *uint32 { return &s.ref.Offset }),
	number32u("request_length", func(s *stored) *uint32 { return &s.ref.Request }),
	number32u("response_length", func(s *stored) *uint32 { return &s.ref.Response }),
	{"blank", func(r *client.Rows, _ *stored) { r.Bool(false) }, nil, ""},                         // true for rows that only metrics count
	{"end_user", func(r *client.Rows, s *stored) { r.Text(s.Metadata[record.UserKey]) }, nil, ""}, // metadata contains it too
	{"metadata", func(r *client.Rows, s *stored) { r.Texts(s.Metadata) }, func(s *stored) any { return &s.Metadata }, ""},
	text("extra", func(s *stored) *string { return &s.extra }),
	{"arrived", nil, func(s *stored) any { return (*micros)(&s.arrived) }, "toUnixTimestamp64Micro(arrived)"},
}

func text(name string, field func(*stored) *string) column {
	return column{name, func(r *client.Rows, s *stored) { r.Text(*field(s)) }, func(s *stored) any { return field(s) }, ""}
}

// contentType is a string column for values that repeat. Unique values are in extra.
func contentType(name string, field func(*stored) *string) column {
	return column{name, func(r *client.Rows, s *stored) {
		if v := *field(s); extra.Unique(v) {
			r.Text("")
		} else {
			r.Text(v)
		}
	}, func(s *stored) any { return field(s) }, ""}
}

func number(name string, field func(*stored) *int64) column {
	return column{name, func(r *client.Rows, s *stored) { r.Int64(*field(s)) }, func(s *stored) any { return field(s) }, ""}
}

func number32(name string, field func(*stored) *int32) column {
	return column{name, func(r *client.Rows, s *stored) { r.Int32(*field(s)) }, func(s *stored) any { return field(s) }, ""}
}

func number32u(name string, field func(*stored) *uint32) column {
	return column{name, func(r *client.Rows, s *stored) { r.Uint32(*field(s)) }, func(s *stored) any { return field(s) }, ""}
}

func flag(name string, field func(*stored) *bool) column {
	return column{name, func(r *client.Rows, s *stored) { r.Bool(*field(s)) }, func(s *stored) any { return field(s) }, ""}
}

func putCost(r *client.Rows, s *stored) {
	nano, known := s.Cost()
	if r.Null(!known); known {
		r.Int64(nano)
	}
}

func putChargedAt(r *client.Rows, s *stored) {
	none := s.Charged.ClosedAt.IsZero()
	if r.Null(none); !none {
		r.Time(s.Charged.ClosedAt)
	}
}

// micros is a time that the server writes as microseconds since 1970. null does not change it.
type micros time.Time

// UnmarshalJSON implements json.Unmarshaler.
func (m *micros) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		return nil
	}
	var n int64
	if err := json.Unmarshal(b, &n); err != nil {
		return err
	}
	*m = micros(time.UnixMicro(n).UTC())
	return nil
}

// written returns the names of the written columns in the order of put.
func written() (names []string) {
	for i := range columns {
		if columns[i].put != nil {
			names = append(names, columns[i].name)
		}
	}
	return append(names, "version")
}

// readable is the list of expressions that a row is read from, in the order of scan.
var readable = func() string {
	var out []string
	for _, c := range columns {
		switch {
		case c.into == nil:
		case c.sql != "":
			out = append(out, c.sql)
		default:
			out = append(out, c.name)
		}
	}
	return strings.Join(out, ", ")
}()

// put writes a row in the order of written.
func put(r *client.Rows, s *stored) {
	for i := range columns {
		if columns[i].put != nil {
			columns[i].put(r, s)
		}
	}
	r.Uint64(0)
	r.End()
}

// scan reads a row that readable selects. The Ref names the node of the bodies only if it
// is not node.
func scan(node string, read func(...any) error) (s stored, err error) {
	dest := make([]any, 0, len(columns))
	for i := range columns {
		if columns[i].into != nil {
			dest = append(dest, columns[i].into(&s))
		}
	}
	if err := read(dest...); err != nil {
		return stored{}, err
	}
	if len(s.Metadata) == 0 {
		s.Metadata = nil
	}
	if !s.ref.None() && s.node != node {
		s.ref.Node = s.node
	}
	var x extra.Fields
	if err := x.Read(s.extra); err != nil {
		return stored{}, fmt.Errorf("log %s: %w", s.ID, err)
	}
	request, response := s.Request.Type, s.Response.Type
	x.ApplyTo(&s.Attempt)
	if request != "" {
		s.Request.Type = request
	}
	if response != "" {
		s.Response.Type = response
	}
	return s, nil
}
