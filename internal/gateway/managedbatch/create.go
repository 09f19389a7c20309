package managedbatch

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"sluice/internal/domain/batch"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/ident"
	"sluice/internal/kernel/wire"
)

// create stores a batch. Run validates it and works on it.
func (s *Service) create(ctx context.Context, r *Request) (*Payload, error) {
	if r.Doc == nil {
		return nil, fault.New(fault.InvalidRequest, "the body must be a JSON object").WithParam("body")
	}
	in, err := batch.ReadRequest(r.Doc)
	if err != nil {
		return nil, err
	}
	f, err := s.Store.FindFile(ctx, r.By.WorkspaceID, in.InputFileID, s.Clock.Now())
	if fault.Has(err, fault.NotFound) {
		return nil, fault.Newf(fault.InvalidParameter, "no file with the id %q in this workspace; upload it with x-gateway-provider: gateway", fault.Clip(in.InputFileID)).WithParam("input_file_id")
	}
	if err != nil {
		return nil, err
	}
	if f.Purpose != batch.PurposeInput {
		return nil, fault.New(fault.InvalidParameter, `input_file_id must be a file with the purpose "batch"`).WithParam("input_file_id")
	}
	b, err := s.newBatch(r, in)
	if err != nil {
		return nil, err
	}
	b.Progress.Total = f.Lines
	if err := s.Store.AddBatch(ctx, b, b.Times.Expires.Add(s.Retention)); err != nil {
		return nil, err
	}
	s.requestTurn()
	return jsonPayload(b.JSON())
}

// newBatch returns a batch that is not stored yet.
func (s *Service) newBatch(r *Request, in *batch.Request) (*batch.Batch, error) {
	now := s.Clock.Now()
	b := &batch.Batch{
		ID: ident.NewObjectID(batch.IDPrefix), OrgID: r.By.OrgID, WorkspaceID: r.By.WorkspaceID, KeyID: r.By.KeyID, KeyHash: r.By.KeyHash,
		Endpoint: in.Endpoint, Window: in.Window, InputFileID: in.InputFileID, Metadata: in.Metadata, State: batch.Validating, Due: now,
	}
	b.Times.Created, b.Times.Expires = now, now.Add(windowOf(in.Window))
	h := in.Header
	for i := range h {
		if err := r.CheckHeader(h[i].Value); err != nil {
			return nil, fault.From(err).WithParam("gateway_options." + strings.TrimPrefix(h[i].Name, "x-gateway-"))
		}
	}
	if in.Window != batch.Immediate && isOwnProvider(h.Get("x-gateway-provider")) {
		return nil, fault.New(fault.InvalidParameter, `gateway_options.provider must name the provider that runs the batch; "gateway" runs only the window "immediate"`).WithParam("gateway_options.provider")
	}
	if !h.Has("x-gateway-metadata") && r.Metadata != "" {
		h.Add("x-gateway-metadata", r.Metadata)
	}
	if !h.Has("x-gateway-trace-id") {
		h.Add("x-gateway-trace-id", traceOf(r.TraceID, b.ID))
	}
	plain, err := json.Marshal(h)
	if err != nil {
		return nil, err
	}
	b.Headers, err = s.Box.Seal(plain, batch.HeaderContext(b.ID))
	return b, err
}

// Provider is the name of the gateway itself in x-gateway-provider and in targets of configs.
const Provider = "gateway"

func isOwnProvider(name string) bool { return strings.EqualFold(strings.TrimSpace(name), Provider) }

func traceOf(trace, batchID string) string {
	if trace != "" {
		return trace
	}
	return batchID
}

// header returns the header of the calls of a batch.
func (s *Service) header(b *batch.Batch) (h wire.Header, err error) {
	plain, err := s.Box.Open(b.Headers, batch.HeaderContext(b.ID))
	if err == nil {
		err = json.Unmarshal(plain, &h)
	}
	return h, err
}

// immediateTime is how long the gateway works on a batch before it gives up the rest.
const immediateTime = 24 * time.Hour

// windowOf returns the time after which a batch expires. A provider's batch gets an hour more, because
// the provider expires it first.
func windowOf(window string) time.Duration {
	if window == batch.Immediate {
		return immediateTime
	}
	const extra = time.Hour
	if days, ok := strings.CutSuffix(window, "d"); ok {
		window = days + "h"
		if d, err := time.ParseDuration(window); err == nil {
			return 24*d + extra
		}
	}
	d, err := time.ParseDuration(window)
	if err != nil { // ReadRequest permits valid windows only
		return immediateTime
	}
	return d + extra
}

func (s *Service) retrieveBatch(ctx context.Context, r *Request) (*Payload, error) {
	b, err := s.findBatch(ctx, r)
	if err != nil {
		return nil, err
	}
	return jsonPayload(b.JSON())
}

func (s *Service) findBatch(ctx context.Context, r *Request) (*batch.Batch, error) {
	b, err := s.Store.FindBatch(ctx, r.By.WorkspaceID, r.Match.ID)
	if fault.Has(err, fault.NotFound) {
		err = fault.Newf(fault.NotFound, "no batch with the id %q in this workspace", fault.Clip(r.Match.ID))
	}
	return b, err
}

// cancel requests the end of a batch. Lines that are being worked on get their result.
func (s *Service) cancel(ctx context.Context, r *Request) (*Payload, error) {
	if _, err := s.findBatch(ctx, r); err != nil {
		return nil, err
	}
	b, err := s.Store.UpdateBatch(ctx, r.Match.ID, func(b *batch.Batch) (*batch.Added, error) {
		if b.State.Ended() {
			return nil, fault.Newf(fault.Conflict, "the batch is %s and cannot be cancelled", b.State)
		}
		b.Cancel(s.Clock.Now())
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	s.requestTurn()
	return jsonPayload(b.JSON())
}

// batchOutput returns the output file of a batch that has ended, or its error file if no line
// succeeded.
func (s *Service) batchOutput(ctx context.Context, r *Request) (*Payload, error) {
	b, err := s.findBatch(ctx, r)
	if err != nil {
		return nil, err
	}
	if !b.State.Ended() {
		return nil, fault.Newf(fault.Conflict, "the batch is %s; its output exists when it has ended", b.State)
	}
	id := b.Output.FileID
	if id == "" {
		id = b.Errors.FileID
	}
	if id == "" {
		return nil, fault.Newf(fault.NotFound, "the batch %s has no output", fault.Clip(b.ID))
	}
	return s.content(ctx, b.WorkspaceID, id)
}
