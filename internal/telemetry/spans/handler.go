package spans

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"google.golang.org/protobuf/proto"

	collectlogs "go.opentelemetry.io/proto/slim/otlp/collector/logs/v1"
	collecttrace "go.opentelemetry.io/proto/slim/otlp/collector/trace/v1"

	"sluice/internal/access"
	"sluice/internal/catalog"
	"sluice/internal/fault"
	"sluice/internal/ident"
	"sluice/internal/record"
	"sluice/internal/wire"
)

// Parts are what a Receiver works with; all are needed.
type Parts struct {
	Identify func(r *http.Request) (*access.Principal, error) // who calls: fault.Unauthenticated, fault.KeyExpired
	Journal  Journal
	Prices   Prices
	// Refusal is the header of a refusal, with the ids that every answer has, and its body
	// as JSON.
	Refusal      func(f *fault.Error) (wire.Header, []byte)
	BodyLogBytes int // what is kept of a span's attributes and events, in bytes of JSON
	Clock        ident.Clock
}

// Journal is where records go: *journal.Journal.
type Journal interface {
	// Append returns once the record would survive the death of the process.
	Append(a *record.Attempt) error
}

// Prices know what models cost: *catalog.Book.
type Prices interface {
	Find(provider, model string, a *catalog.Agreement) *catalog.Tariff
}

// Receiver takes in what clients send. Its methods are handlers, safe for concurrent use.
type Receiver struct {
	Parts
	reading, decoding turns
}

// Bounds of the messages that are held at a time, as they came and decoded, which takes many
// times the room of their bytes.
const (
	maxReading  = 32
	maxDecoding = 2
)

// New makes a Receiver.
func New(p Parts) *Receiver {
	return &Receiver{Parts: p, reading: make(turns, maxReading), decoding: make(turns, maxDecoding)}
}

// turns are places for so many at a time.
type turns chan struct{}

// take waits for a place, which done gives back: fault.ClientGone when ctx ends before.
func (t turns) take(ctx context.Context) (done func(), err error) {
	select {
	case t <- struct{}{}:
		return func() { <-t }, nil
	case <-ctx.Done():
		return nil, fault.Wrap(fault.ClientGone, ctx.Err())
	}
}

// Traces takes an ExportTraceServiceRequest. It keeps all spans or, where one breaks a
// limit, none.
func (v *Receiver) Traces(w http.ResponseWriter, r *http.Request) {
	v.serve(w, r, "/v1/traces", func(m *message, at *origin) ([]entry, error) {
		var t collecttrace.ExportTraceServiceRequest
		if err := m.decode(&t); err != nil {
			return nil, err
		}
		return v.spans(&t, m, at)
	}, &collecttrace.ExportTraceServiceResponse{})
}

// Logs takes an ExportLogsServiceRequest, as Traces does.
func (v *Receiver) Logs(w http.ResponseWriter, r *http.Request) {
	v.serve(w, r, "/v1/logs", func(m *message, at *origin) ([]entry, error) {
		var l collectlogs.ExportLogsServiceRequest
		if err := m.decode(&l); err != nil {
			return nil, err
		}
		return v.logs(&l, m, at)
	}, &collectlogs.ExportLogsServiceResponse{})
}

// origin is who sent a message, and when it came.
type origin struct {
	by  *access.Principal
	now time.Time
}

func (v *Receiver) serve(w http.ResponseWriter, r *http.Request, signal string, read func(*message, *origin) ([]entry, error), answer proto.Message) {
	m, err := v.take(w, r, signal, read)
	if err != nil {
		v.refuse(w, r, fault.From(err))
		return
	}
	w.Header().Set("Content-Type", m.contentType())
	if m.json {
		_ = json.NewEncoder(w).Encode(map[string]any{"partialSuccess": map[string]any{}}) // the client may have left
		return
	}
	b, _ := proto.Marshal(answer) // an empty message: cannot fail
	_, _ = w.Write(b)
}

// take is the way of a message from the client to the journal.
func (v *Receiver) take(w http.ResponseWriter, r *http.Request, signal string, entriesOf func(*message, *origin) ([]entry, error)) (*message, error) {
	if r.Method != http.MethodPost {
		return nil, fault.Newf(fault.UnknownRoute, "OTLP is sent with POST; this is the place for %s", signal)
	}
	by, err := v.allowed(r)
	if err != nil {
		return nil, err
	}
	doneReading, err := v.reading.take(r.Context())
	if err != nil {
		return nil, err
	}
	defer doneReading()
	m, err := receive(w, r, v.Clock.Now())
	if err != nil {
		return nil, err
	}
	doneDecoding, err := v.decoding.take(r.Context())
	if err != nil {
		return nil, err
	}
	defer doneDecoding()
	entries, err := entriesOf(m, &origin{by: by, now: v.Clock.Now()})
	if err != nil {
		return nil, err
	}
	return m, v.keep(entries)
}

// keep appends entries. Their bodies are written one at a time: each repeats the resource,
// so that together they take many times the room of the message.
func (v *Receiver) keep(entries []entry) error {
	for i, e := range entries {
		entries[i] = entry{}
		e.Request = v.kept(e.holds)
		if err := v.Journal.Append(e.Attempt); err != nil {
			return fault.Newf(fault.Overloaded, "the log takes nothing right now; %d of %d entries were kept", i, len(entries)).Because(err)
		}
	}
	return nil
}

// allowed finds out who sends: a workspace key that may write logs.
func (v *Receiver) allowed(r *http.Request) (*access.Principal, error) {
	p, err := v.Identify(r)
	if err != nil {
		return nil, err
	}
	if p.WorkspaceID == "" {
		return nil, fault.New(fault.Forbidden, "telemetry belongs to a workspace; send it with a workspace key")
	}
	return p, access.Can(p, access.LogsWrite, access.Target{OrgID: p.OrgID, WorkspaceID: p.WorkspaceID})
}
