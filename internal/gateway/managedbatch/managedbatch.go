// Package managedbatch runs the batches that the gateway manages itself, and stores their files. A
// batch with the completion window "immediate" consists of calls that the gateway makes through its
// own request path, 25 at a time. For another window a provider runs the batch; the gateway uploads
// the input, polls, and judges the results.
//
// The package does not serve HTTP, route calls or know a database: an Executor makes calls, a Store
// stores rows. Start reading at Service.Respond for callers, and at Service.Run for the work.
package managedbatch

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"sync"
	"time"

	"sluice/internal/domain/batch"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/lease"
	"sluice/internal/kernel/wire"
)

// Store stores batches and files; *sqlstore.Store implements it. Each node sees the writes of the
// others. Errors: fault.NotFound; fault.ReadOnly and fault.Overloaded when the database is
// unavailable. Safe for concurrent use.
type Store interface {
	AddChunk(ctx context.Context, c batch.Chunk) error
	FindChunk(ctx context.Context, fileID string, number int) ([]byte, error)
	SaveFile(ctx context.Context, f *batch.File) error
	FindFile(ctx context.Context, workspace, id string, now time.Time) (*batch.File, error)
	ListFiles(ctx context.Context, p batch.Page, purpose string) ([]*batch.File, error)
	DeleteFile(ctx context.Context, workspace, id string) error

	AddBatch(ctx context.Context, b *batch.Batch, until time.Time) error
	FindBatch(ctx context.Context, workspace, id string) (*batch.Batch, error) // an empty workspace means any
	ListBatches(ctx context.Context, p batch.Page) ([]*batch.Batch, error)
	// UpdateBatch changes a batch and stores what the change adds, all or nothing. It may call
	// change again with a newer state.
	UpdateBatch(ctx context.Context, id string, change func(b *batch.Batch) (*batch.Added, error)) (*batch.Batch, error)
	DueBatches(ctx context.Context, now time.Time, limit int) ([]string, error)
	SweepBatches(ctx context.Context, now time.Time) error
}

// Leases restrict the work on a batch to one node; *sqlstore.Store implements it.
type Leases = lease.Store

// Box encrypts what is stored; *sealed.Sealer implements it.
type Box interface {
	Seal(plain []byte, context string) ([]byte, error)
	Open(data []byte, context string) ([]byte, error)
}

// Caller is the API key that created an object, and whose rights its calls have.
type Caller struct {
	OrgID, WorkspaceID string
	KeyID              string
	KeyHash            string // hexadecimal; the current hash of the key
}

// ErrKey means that the key of a batch may not make calls any more: it was revoked, expired or lost
// its scope.
var ErrKey = errors.New("the API key that created the batch is not valid any more")

// Call is a call that a batch makes.
type Call struct {
	By           Caller
	Method, Path string // "POST", "/v1/chat/completions"
	Header       wire.Header
	Body         io.Reader // nil for none
	Length       int64     // of Body; -1 if not known
	To           io.Writer // receives the body of a successful response; nil buffers it
}

// Response is the response to a Call. Errors of the gateway and of providers are responses, too.
type Response struct {
	batch.Response
	RetryAfter time.Duration // 0 if the response has none
}

// Executor makes calls through the request path of the gateway, with all limits, guardrails, ledger
// entries and logs of a caller's own call. Safe for concurrent use.
type Executor interface {
	// Execute makes a call. It returns ErrKey before it sends anything if the key may not call, and
	// an error if the response was cut.
	Execute(ctx context.Context, c *Call) (*Response, error)
	// FindKey returns the current hash of the key of a caller, or ErrKey.
	FindKey(by Caller) (hash string, err error)
}

// Judgement is what guardrails decided about a request or a response.
type Judgement struct {
	Body   []byte          // to use instead; nil if it is unchanged
	Denial *batch.Response // of status 446; nil if it is allowed
}

// Judge runs the guardrails of a call that a provider runs as a line of its batch. Safe for
// concurrent use.
type Judge interface {
	JudgeRequest(ctx context.Context, c *Call) (*Judgement, error)
	JudgeResponse(ctx context.Context, c *Call, body []byte) (*Judgement, error)
}

// Deps are the dependencies of a Service. All are required.
type Deps struct {
	Store     Store
	Leases    Leases
	Box       Box
	Executor  Executor
	Judge     Judge
	Clock     ident.Clock
	Log       *slog.Logger
	Retention time.Duration // of files and batches; 30 days by default
	SpoolDir  string        // directory for files that are being prepared for a provider
}

// Service stores files, serves the calls of callers and runs batches. Safe for concurrent use.
type Service struct {
	Deps
	holder string
	wake   chan struct{}

	mu      sync.Mutex      // guards what follows
	running map[string]bool // batches that this node works on
}

// New returns a Service. It runs nothing until Run.
func New(d Deps) *Service {
	return &Service{Deps: d, holder: lease.Holder(), wake: make(chan struct{}, 1), running: map[string]bool{}}
}
