package gateway

import (
	"context"
	"io"
	"log/slog"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"sluice/internal/dialect"
	"sluice/internal/dialect/responses"
	"sluice/internal/domain/routing"
	"sluice/internal/gateway/guardrails"
	"sluice/internal/gateway/responsestore"
	"sluice/internal/kernel/fault"
	"sluice/internal/kernel/jsonedit"
	"sluice/internal/kernel/llm"
)

// storedDenials keeps denied responses that a provider stores from being read or continued: it deletes
// them at the provider and refuses their ids.
type storedDenials struct {
	states          *responsestore.Store
	upstreamHeaders *upstreamHeaders
	caller          *upstreamCaller
	log             *slog.Logger
	guarded         bool // guardrails run in this deployment
	deletions       sync.WaitGroup
}

// deletionTimeout is the limit of the deletion of a denied response at its provider. (ours)
const deletionTimeout = 30 * time.Second

// judgesOutput reports whether output hooks decide about the response of the attempt.
func (a *attempt) judgesOutput() bool {
	return a.hooks != nil && answersText(a.x) && slices.ContainsFunc(a.hooks.After, func(h *guardrails.Hook) bool { return !h.Async })
}

// refuse rejects a call that reads or continues a denied response. If the database cannot tell, it rejects a
// call that output hooks apply to.
func (d *storedDenials) refuse(ctx context.Context, x *exchange) error {
	read, previous := storedIDs(x)
	for _, id := range [...]string{read, previous} {
		if id == "" || responses.IsID(id) { // the gateway does not store what is denied
			continue
		}
		denied, err := d.states.IsDenied(ctx, x.key.Principal.WorkspaceID, id)
		switch {
		case err != nil && d.guarded && judgesOutputOf(x):
			return clientGone(ctx, fault.Newf(fault.Overloaded, "cannot check whether the guardrails denied the response %q, because the database is unavailable; send the request again when it is back", clip(id)).WithCause(err))
		case err != nil:
			d.log.Warn("cannot check whether a response was denied; the call continues", "request_id", x.id, "response", clip(id), "error", fault.From(err).Error())
		case denied && id == read:
			return fault.Newf(fault.NotFound, "the guardrails denied the response %q, so it cannot be read", clip(id))
		case denied:
			return fault.Newf(fault.InvalidParameter, "the guardrails denied the response %q; continue from an earlier one", clip(id)).WithParam("previous_response_id")
		}
	}
	return nil
}

// judgesOutputOf reports whether output hooks apply to a call: defaults of its workspace or organisation, or
// hooks of a target that its config may choose.
func judgesOutputOf(x *exchange) bool {
	if x.scope != nil && len(x.scope.OutputGuardrails) > 0 {
		return true
	}
	return x.config != nil && slices.ContainsFunc(x.config.Leaves(), func(t *routing.Target) bool { return len(t.After) > 0 })
}

// storedIDs returns the ids of the stored responses that a call reads and continues; empty for none.
func storedIDs(x *exchange) (read, previous string) {
	switch x.match.Endpoint {
	case llm.GetModelResponse, llm.ListResponseInputItems:
		read, _ = url.PathUnescape(x.match.ID)
	case llm.CreateModelResponse, llm.CountResponseInputTokens, llm.Proxy:
		if x.doc != nil {
			previous, _ = x.doc.String("previous_response_id")
		}
		if x.match.Endpoint == llm.Proxy && x.req.Method == "GET" {
			_, rest, _ := strings.Cut(x.path, "/responses/")
			id, _, _ := strings.Cut(rest, "/")
			read, _ = url.PathUnescape(id)
		}
	default: // other calls name no stored response
	}
	return read, previous
}

// note remembers a denied response that its provider stores, and deletes it there.
func (d *storedDenials) note(a *attempt, id string) {
	x := a.x
	if id == "" || a.conversation != nil || a.speech.translates() || !storesResponse(a) {
		return
	}
	if err := d.states.Deny(x.key.Principal.WorkspaceID, id); err != nil {
		d.log.Error("cannot store the denial of a response; it stays readable until its provider deletes it", "request_id", x.id, "response", clip(id), "error", err.Error())
	}
	b := deletingAttempt(a)
	if err := d.upstreamHeaders.setAddress(b, &dialect.Next{Endpoint: llm.DeleteModelResponse, ID: id}, "DELETE"); err != nil {
		d.log.Warn("cannot delete a denied response at its provider; the gateway refuses to return it", "request_id", x.id, "response", clip(id), "error", err.Error())
		return
	}
	name := strings.Clone(x.id)
	d.deletions.Go(func() { d.delete(b, name, strings.Clone(id)) })
}

// delete deletes a response at its provider. It is tried once: the gateway refuses its id in any case.
func (d *storedDenials) delete(b *attempt, request, id string) {
	ctx, stop := context.WithTimeout(context.Background(), deletionTimeout)
	defer stop()
	resp, err := d.caller.call(ctx, b, nil)
	if err != nil {
		d.log.Warn("cannot delete a denied response at its provider; the gateway refuses to return it", "request_id", request, "response", clip(id), "error", err.Error())
		return
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, errorReadMax)) // the status decides
	_ = resp.Body.Close()
	if resp.Status >= 300 {
		d.log.Warn("provider did not delete a denied response; the gateway refuses to return it", "request_id", request, "response", clip(id), "status", resp.Status)
	}
}

// deletingAttempt returns the attempt that deletes the response of another attempt.
func deletingAttempt(a *attempt) *attempt {
	x := a.x.detach()
	a.x.attempts-- // this is not an attempt of a target
	x.match = llm.Match{Endpoint: llm.DeleteModelResponse, Body: llm.NoBody}
	return &attempt{
		x: x, target: a.target, number: a.number, started: a.started, auxiliary: true,
		resolvedTarget: resolvedTarget{spec: a.spec, account: a.account, values: maps.Clone(a.values), model: a.model},
	}
}

// storesResponse reports whether the provider stores the response of an attempt. Parameters of the config
// count as they are sent.
func storesResponse(a *attempt) bool {
	x := a.x
	switch {
	case x.match.Endpoint == llm.GetModelResponse:
		return true
	case x.match.Endpoint == llm.CreateModelResponse, x.match.Endpoint == llm.Proxy && bodyShape(x) == string(llm.CreateModelResponse):
		if x.doc == nil {
			return true
		}
		return a.params().Value("store").Type != gjson.False
	}
	return false
}

// responseID returns the id of a response of the Responses API: of its object, or of the first event of
// its stream.
func responseID(body []byte) string {
	if id := jsonedit.Text(body, "id"); id != "" {
		return strings.Clone(id)
	}
	return strings.Clone(jsonedit.Text(dialect.FirstData(body), "response", "id"))
}
