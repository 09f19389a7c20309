package spans

import (
	"context"
	"net/http"
	"time"

	"google.golang.org/protobuf/proto"

	collectlogs "go.opentelemetry.io/proto/slim/otlp/collector/logs/v1"
	collecttrace "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"

	"sluice/internal/domain/record"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/wire"
	"sluice/internal/limits/catalog"
)

// Parts are the dependencies of a Receiver; all are required.
type Parts struct {
	Identify func(r *http.Request) (*access.Principal, error) // identifies the caller: fault.Unauthenticated, fault.KeyExpired
	Journal  Journal
	Prices   Prices
	// Refusal returns the header of an error response, with the ids of every response, and its
	// body as JSON.
	Refusal      func(f *fault.Error) (wire.Header, []byte)
	RateLimiter  RateLimiter
	BodyLogBytes int // maximum stored size of a span's attributes and events, in bytes of JSON
	Clock        ident.Clock
}

// Journal stores records; *journal.Journal implements it.
type Journal interface {
	// Append returns once the record would survive the death of the process.
	Append(a *record.Attempt) error
}

// RateLimiter limits what each workspace sends; *resource.Rate implements it.
type RateLimiter interface {
	// Take counts an entry; it returns fault.RateLimited if the workspace exceeds its limit.
	Take(workspaceID string, now time.Time) error
	// Add counts the content of a message that Take admitted.
	Add(workspaceID string, entries, bytes int, now time.Time)
}

// Prices returns what models cost; *catalog.PriceList implements it.
type Prices interface {
	Find(provider, model string, a *catalog.PriceOverrides) *catalog.RateCard
}

// Receiver accepts what clients send. Its methods are handlers, safe for concurrent use.
type Receiver struct {
	Parts
	reading, decoding semaphore
}

// Limits of the messages in memory, encoded and decoded. A decoded message takes many times the
// memory of its bytes.
const (
	maxReading  = 32
	maxDecoding = 2
)

// New creates a Receiver.
func New(p Parts) *Receiver {
	return &Receiver{Parts: p, reading: make(semaphore, maxReading), decoding: make(semaphore, maxDecoding)}
}

// semaphore limits concurrent work.
type semaphore chan struct{}

// take acquires the semaphore, which done releases; it returns fault.ClientGone if ctx ends
// before.
func (t semaphore) take(ctx context.Context) (done func(), err error) {
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-ctx.Done():
		return nil, fault.Wrap(fault.ClientGone, ctx.Err())
	}
}

// Traces accepts an ExportTraceServiceRequest. It stores all spans, or none if one exceeds a
// limit.
func (v *Receiver) Traces(w http.ResponseWriter, r *http.Request) {
	v.serve(w, r, signal{"/v1/traces", func(m *message, source *origin) ([]entry, error) {
		var t collecttrace.ExportTraceServiceRequest
		if err := m.decode(&t); err != nil {
			return nil, err
		}
		return v.spans(&t, m, source)
	}, func(l rejectedCounts) proto.Message {
		return &collecttrace.ExportTraceServiceResponse{PartialSuccess: &collecttrace.ExportTracePartialSuccess{RejectedSpans: l.entries, ErrorMessage: l.why}}
	}})
}

// Logs accepts an ExportLogsServiceRequest, like Traces.
func (v *Receiver) Logs(w http.ResponseWriter, r *http.Request) {
	v.serve(w, r, signal{"/v1/logs", func(m *message, source *origin) ([]entry, error) {
		var l collectlogs.ExportLogsServiceRequest
		if err := m.decode(&l); err != nil {
			return nil, err
		}
		return v.logs(&l, m, source)
	}, func(l rejectedCounts) proto.Message {
		return &collectlogs.ExportLogsServiceResponse{PartialSuccess: &collectlogs.ExportLogsPartialSuccess{RejectedLogRecords: l.entries, ErrorMessage: l.why}}
	}})
}

// signal is a type of telemetry.
type signal struct {
	path     string // the path in OTLP
	read     func(*message, *origin) ([]entry, error)
	response func(rejectedCounts) proto.Message
}

// rejectedCounts is how much of a message was not stored, and why.
type rejectedCounts struct {
	entries int64
	why     string
}

// origin is the sender of a message and the time of its arrival.
type origin struct {
	by  *access.Principal
	now time.Time
}

func (v *Receiver) serve(w http.ResponseWriter, r *http.Request, s signal) {
	m, l, err := v.take(w, r, &s)
	if err != nil {
		v.refuse(w, r, fault.From(err))
		return
	}
	w.Header().Set("Content-Type", m.contentType())
	if l.entries == 0 && !m.json {
		return // a message without rejections is empty
	}
	_, _ = w.Write(m.encode(s.response(l))) // the client may have disconnected
}

// take passes a message from the client to the journal.
func (v *Receiver) take(w http.ResponseWriter, r *http.Request, s *signal) (m *message, l rejectedCounts, err error) {
	if r.Method != http.MethodPost {
		return nil, l, fault.Newf(fault.UnknownRoute, "OTLP requires POST; this path accepts %s", s.path)
	}
	by, err := v.allowed(r)
	if err != nil {
		return nil, l, err
	}
	doneReading, err := v.reading.take(r.Context())
	if err != nil {
		return nil, l, err
	}
	defer doneReading()
	if m, err = receive(w, r, v.Clock.Now()); err != nil {
		return nil, l, err
	}
	doneDecoding, err := v.decoding.take(r.Context())
	if err != nil {
		return nil, l, err
	}
	defer doneDecoding()
	size := len(m.bytes) // reading releases the bytes
	entries, err := s.read(m, &origin{by: by, now: v.Clock.Now()})
	if err != nil {
		return nil, l, err
	}
	v.RateLimiter.Add(by.WorkspaceID, len(entries), size, v.Clock.Now())
	l, err = v.store(entries)
	return m, l, err
}

// store appends entries. It encodes their bodies one at a time: each repeats the resource, so
// together they take many times the memory of the message. If the journal accepts only some
// entries the message counts as accepted: sent again, it would duplicate those.
// Source: https://opentelemetry.io/docs/specs/otlp/#partial-success-1.
func (v *Receiver) store(entries []entry) (l rejectedCounts, err error) {
	for i, e := range entries {
		entries[i] = entry{}
		e.Request = v.truncatedBody(e.holds)
		e.MaskCredentials(v.BodyLogBytes)
		err := v.Journal.Append(e.Attempt)
		switch {
		case err == nil:
		case i == 0:
			return l, fault.New(fault.Overloaded, "log ingestion is unavailable; retry shortly").WithCause(err)
		default:
			return rejectedCounts{int64(len(entries) - i), "log ingestion is unavailable"}, nil
		}
	}
	return l, nil
}

// allowed identifies the sender, who needs a workspace key that may write logs.
func (v *Receiver) allowed(r *http.Request) (*access.Principal, error) {
	p, err := v.Identify(r)
	if err != nil {
		return nil, err
	}
	if p.WorkspaceID == "" {
		return nil, fault.New(fault.Forbidden, "telemetry requires a workspace; send it with a workspace key")
	}
	if err := access.Can(p, access.LogsWrite, access.Target{OrgID: p.OrgID, WorkspaceID: p.WorkspaceID}); err != nil {
		return nil, err
	}
	return p, v.RateLimiter.Take(p.WorkspaceID, v.Clock.Now())
}
