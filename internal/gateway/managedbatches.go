package gateway

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"sluice/internal/domain/batch"
	"sluice/internal/domain/keys"
	"sluice/internal/domain/routing"
	"sluice/internal/gateway/call"
	"sluice/internal/gateway/managedbatch"
	"sluice/internal/kernel/access"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/wire"
)

// ManagedBatches are the dependencies of batches that the gateway manages itself.
type ManagedBatches struct {
	Store     managedbatch.Store
	Leases    managedbatch.Leases
	Box       managedbatch.Box
	Retention time.Duration // of files and batches
}

// RunBatches works on managed batches until ctx ends.
func (g *Gateway) RunBatches(ctx context.Context) error {
	if g.batches.service == nil {
		<-ctx.Done()
		return nil
	}
	return g.batches.service.Run(ctx)
}

// newBatches returns the step for managed batches. Their calls go through the gateway itself.
func newBatches(g *Gateway) managedBatches {
	m := managedBatches{hasher: g.Hasher, responder: &g.responder}
	if p := g.Parts.Batches; p != nil {
		calls := &batchCalls{gateway: g, exchanges: &g.exchanges, open: &g.open, clock: g.Clock}
		m.service = managedbatch.New(managedbatch.Deps{
			Store: p.Store, Leases: p.Leases, Box: p.Box, Executor: calls, Judge: &batchJudge{batchCalls: calls, admission: &g.admission, bodies: &g.bodies, configs: &g.configs, walker: &g.walker, guardrails: &g.guardrails},
			Clock: g.Clock, Log: g.Log, Retention: p.Retention, SpoolDir: g.set.SpoolDir,
		})
	}
	return m
}

// managedBatches serves the calls for files and batches that the gateway manages.
type managedBatches struct {
	service   *managedbatch.Service // nil: the gateway manages none
	hasher    *keys.Hasher
	responder *responder
}

// servesID reports whether a call names a managed object by its id. It needs no target.
func (m *managedBatches) servesID(x *exchange) bool {
	return m.service != nil && x.batch == nil && managedbatch.Serves(x.match)
}

// serves reports whether the gateway responds to a call itself, because it is for a managed object or
// its provider is "gateway". The calls of a batch itself are never managed.
// Source: contract/dataplane.md 6.4.
func (m *managedBatches) serves(x *exchange) bool {
	if m.service == nil || x.batch != nil || !managedbatch.IsEndpoint(x.match.Endpoint) {
		return false
	}
	return managedbatch.Serves(x.match) || x.config != nil && slices.ContainsFunc(x.config.Leaves(), func(t *routing.Target) bool {
		return strings.EqualFold(cmp.Or(t.Provider, x.ctl.Provider), managedbatch.Provider)
	})
}

// respond serves a call for a managed object.
func (m *managedBatches) respond(ctx context.Context, x *exchange) error {
	payload, err := m.service.Respond(ctx, &managedbatch.Request{
		By: callerOf(x.key), Match: x.match, RawQuery: x.req.RawQuery, Form: x.form, Doc: x.doc,
		Metadata: x.ctl.Metadata, TraceID: x.ctl.TraceID, CheckHeader: func(value string) error { return m.checkHeader(x.key, value) },
	})
	if err != nil {
		return err
	}
	if payload.Content == nil {
		return m.responder.respondLocally(x, payload.JSON)
	}
	return m.responder.respondContent(x, payload)
}

// checkHeader rejects a header value that contains the caller's own key, because it would be sent to a
// provider.
func (m *managedBatches) checkHeader(e *keys.Entry, value string) error {
	hashes := e.Key.Hashes()
	for _, text := range [...]string{value, call.BearerToken(value)} {
		if text != "" && slices.Contains(hashes, m.hasher.Sum(text)) {
			return fault.New(fault.InvalidParameter, "the value contains the API key of this gateway, which would be sent to the provider; remove it")
		}
	}
	return nil
}

func callerOf(e *keys.Entry) managedbatch.Caller {
	p := &e.Principal
	return managedbatch.Caller{OrgID: p.OrgID, WorkspaceID: p.WorkspaceID, KeyID: p.ID, KeyHash: e.Key.Secret.Hash.String()}
}

// respondContent sends the content of a stored file.
func (r *responder) respondContent(x *exchange, payload *managedbatch.Payload) error {
	x.status, x.headSent = 200, true
	h := append(r.clientHeaders.addGatewayHeaders(make(wire.Header, 0, 4), x), wire.Field{Name: "content-type", Value: "application/octet-stream"})
	if err := x.out.Head(200, h, payload.Length); err != nil {
		return err
	}
	_, err := io.CopyBuffer(x.out, payload.Content, make([]byte, maxWriteBytes))
	return err // the client sees that the file is cut, because its length is known
}

// batchCall marks the exchange of a call that a batch makes, with the key that makes it.
type batchCall struct {
	by      managedbatch.Caller
	refused error // why the key may not make calls; nil if it may
}

// identifyBatchCall finds the caller of a call that a batch makes.
func (ad *admission) identifyBatchCall(x *exchange) error {
	e, err := findBatchKey(x.dir, x.batch.by, x.started)
	if err != nil {
		x.batch.refused = err
		return err
	}
	x.key = e
	x.scope = x.dir.FindWorkspace(e.Principal.WorkspaceID)
	x.metadata = ad.metadataFrom.Describe(&x.ctl, e, x.scope, &x.req.Header)
	return nil
}

// findBatchKey returns the key of a batch, if it may make calls at a time.
func findBatchKey(dir Directory, by managedbatch.Caller, now time.Time) (*keys.Entry, error) {
	var h keys.Hash
	if err := h.UnmarshalText([]byte(by.KeyHash)); err != nil {
		return nil, err
	}
	e := dir.FindKey(h)
	if e == nil || e.Principal.ID != by.KeyID || e.Principal.WorkspaceID != by.WorkspaceID {
		return nil, fault.New(fault.Unauthenticated, "the API key of the batch was deleted")
	}
	if err := e.Key.Check(e.Status, now); err != nil {
		return nil, err
	}
	return e, access.CanCall(&e.Principal, access.CompletionsWrite)
}

// batchCalls makes the calls of batches. It implements managedbatch.Executor.
type batchCalls struct {
	gateway   *Gateway
	exchanges *exchanges
	open      *atomic.Int64
	clock     ident.Clock
}

// FindKey implements managedbatch.Executor.
func (b *batchCalls) FindKey(by managedbatch.Caller) (string, error) {
	e, err := findBatchKey(b.gateway.Directory(), by, b.clock.Now())
	if err != nil {
		return "", managedbatch.ErrKey
	}
	return e.Key.Secret.Hash.String(), nil
}

// Execute implements managedbatch.Executor.
func (b *batchCalls) Execute(ctx context.Context, c *managedbatch.Call) (*managedbatch.Response, error) {
	out := &batchResponder{to: c.To}
	x := b.exchange(c, out)
	id, marked := x.id, x.batch
	err := b.gateway.serve(ctx, x)
	switch {
	case marked.refused != nil:
		return nil, managedbatch.ErrKey
	case err != nil:
		return nil, err
	case ctx.Err() != nil && out.status >= 400:
		return nil, ctx.Err()
	case out.tooLong:
		return nil, errLongLine
	}
	return &managedbatch.Response{Response: batch.Response{Status: out.status, RequestID: id, Body: out.body}, RetryAfter: out.retryAfter}, nil
}

// exchange returns the exchange of a call that a batch makes.
func (b *batchCalls) exchange(c *managedbatch.Call, out wire.Responder) *exchange {
	req := &wire.Request{Method: c.Method, Path: c.Path, Header: c.Header.Clone(1), Body: c.Body, Length: c.Length}
	if c.Body != nil && !req.Header.Has("content-type") {
		req.Header.Add("content-type", "application/json")
	}
	x := b.exchanges.newExchange(req, out)
	x.batch = &batchCall{by: c.By}
	return x
}

// maxLineResponse is the maximum size of the response to a line of a batch. (ours)
const maxLineResponse = 16 << 20

// errLongLine reports a longer one.
var errLongLine = fault.Newf(fault.TooLarge, "the response exceeds %d bytes, the maximum for a line of a batch", maxLineResponse)

// batchResponder collects the response to a call of a batch, or writes its body to another place.
type batchResponder struct {
	to         io.Writer // of the body of a successful response; nil collects it
	status     int
	body       []byte
	retryAfter time.Duration
	tooLong    bool
}

// Head implements wire.Responder.
func (r *batchResponder) Head(status int, h wire.Header, _ int64) error {
	r.status = status
	if seconds, err := strconv.Atoi(h.Get("retry-after")); err == nil && seconds > 0 {
		r.retryAfter = time.Duration(seconds) * time.Second
	}
	return nil
}

// Write implements wire.Responder.
func (r *batchResponder) Write(p []byte) (int, error) {
	if r.to != nil && r.status == 200 {
		return r.to.Write(p)
	}
	if len(r.body)+len(p) > maxLineResponse {
		r.tooLong = true
		return len(p), nil // the response is read to its end, so that its usage is known
	}
	r.body = append(r.body, p...)
	return len(p), nil
}

// Flush implements wire.Responder.
func (r *batchResponder) Flush() error { return nil }
