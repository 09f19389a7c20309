package partner

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"sluice/internal/domain/guardrail/param"
	"sluice/internal/gateway/guardrails/check"
	"sluice/internal/kernel/circuit"
	"sluice/internal/kernel/wire"
)

// maxDataBytes limits the response that results show.
const maxDataBytes = 64 << 10

// maxVerdictBytes limits a response that contains a verdict only.
const maxVerdictBytes = 2 << 20

// judge makes one call and reads its response.
func (r *runner) judge(ctx context.Context, how *compiledRequest, in *check.Input, c *chunk) (j judgement) {
	v := r.values(in, c)
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, r.timeout)
	defer cancel()
	if run := hooks[r.spec.Hook]; run != nil {
		var err error
		if v.hook, err = run(ctx, r, v); err != nil {
			j.err = r.callError(ctx, err)
			return j
		}
	}
	req, service, err := r.request(how, v)
	if err != nil {
		j.err = checkError("%s", err)
		return j
	}
	j.url = req.URL
	resp, failure := r.call(caller, ctx, req, service)
	j.sent = failure == nil || failure.Name != unavailable
	if failure != nil {
		j.err = failure
		return j
	}
	j.status = resp.Status
	if resp.Status < 200 || resp.Status > 299 {
		j.err = &check.Error{Name: "HttpError", Message: fmt.Sprintf("the service returned status %d", resp.Status)}
		return j
	}
	j.billed = true
	r.read(&j, resp.Body, v)
	return j
}

// unavailable is the name of the error of a call that was not made, because the breaker is open.
const unavailable = "ServiceUnavailable"

// call makes a call, unless the breaker of the service is open.
func (r *runner) call(caller, ctx context.Context, req *check.ServiceRequest, service string) (*check.ServiceResponse, *check.Error) {
	permit := r.state.breakers.acquire(service, r.now())
	if permit == circuit.Denied {
		return nil, &check.Error{Name: unavailable, Message: "the service is not available: recent calls failed; it is tried again within " + breakerOpenTime.String()}
	}
	resp, err := r.services.Call(ctx, req)
	outcome := circuit.Succeeded
	switch {
	case err != nil && caller.Err() != nil:
		outcome = circuit.Unknown
	case err != nil && ctx.Err() != nil && r.timeout < breakerPatience:
		outcome = circuit.Unknown
	case err != nil || resp.Status >= 500:
		outcome = circuit.Failed
	}
	r.state.breakers.record(service, r.now(), permit, outcome)
	if err != nil {
		return nil, r.callError(ctx, err)
	}
	return resp, nil
}

// callError returns the error of a call without a response.
func (r *runner) callError(ctx context.Context, err error) *check.Error {
	if errors.Is(ctx.Err(), context.DeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
		return &check.Error{Name: "TimeoutError", Message: fmt.Sprintf("the service did not respond within %d ms; raise the parameter timeout", r.timeout/time.Millisecond)}
	}
	text := err.Error()
	for _, s := range r.secrets {
		text = strings.ReplaceAll(text, string(s), "***")
	}
	return checkError("cannot call the service: %s", text)
}

// request returns the request of a call and the service that it goes to.
func (r *runner) request(how *compiledRequest, v *values) (*check.ServiceRequest, string, error) {
	full, service, err := how.address.build(v)
	if err != nil {
		return nil, "", err
	}
	req := &check.ServiceRequest{Method: r.spec.Request.Method, URL: full, AWS: r.aws(), MaxBytes: r.maxBytes()}
	value, err := how.body.build(v)
	if err != nil {
		return nil, "", err
	}
	if value != nil {
		if req.Body, err = encode(value); err != nil {
			return nil, "", errors.New("the request of the service cannot be written as JSON")
		}
		req.Header.Set("content-type", "application/json")
	}
	r.forward(req, v.in.Header)
	for i := range how.header {
		h := &how.header[i]
		text, ok, _ := h.value.expand(v, nil)
		if ok && !wire.ValidValue(text) {
			return nil, "", fmt.Errorf("header field %s of the service must not contain line breaks", h.name)
		}
		if ok {
			req.Header.Set(h.name, text)
		}
	}
	return req, service, nil
}

// maxBytes returns the limit of a response: a response that contains the body or search results may
// be large.
func (r *runner) maxBytes() int64 {
	if r.spec.Inject != nil || r.redacts {
		return check.MaxServiceBytes
	}
	return maxVerdictBytes
}

// forward copies the header fields that the parameter forwardHeaders names.
func (r *runner) forward(req *check.ServiceRequest, from wire.Header) {
	for _, name := range r.params.List("forwardHeaders") {
		if value := from.Get(name); value != "" && param.MayForward(name) && !req.Header.Has(name) {
			req.Header.Set(name, value)
		}
	}
}

// aws returns the credentials that sign a request to an Amazon service; nil for others.
func (r *runner) aws() *check.AWSCredentials {
	if r.spec.Request.AWS == nil {
		return nil
	}
	creds := check.Params(r.params.Object("credentials"))
	return &check.AWSCredentials{
		Service: r.spec.Request.AWS.Service, Region: creds.Text("awsRegion", ""),
		AccessKeyID: creds.Text("awsAccessKeyId", ""), SecretAccessKey: creds.Text("awsSecretAccessKey", ""), SessionToken: creds.Text("awsSessionToken", ""),
		RoleARN: creds.Text("awsRoleArn", ""), ExternalID: creds.Text("awsExternalId", ""),
	}
}

// read reads a response.
func (r *runner) read(j *judgement, raw []byte, v *values) {
	root, failure := r.decode(raw, v)
	if failure != nil {
		j.err = failure
		return
	}
	j.data = r.data(raw, root, v)
	if r.spec.Inject != nil {
		j.body = r.spec.Inject.rewrite(root, v)
		return
	}
	j.fails = r.spec.Fails.holds(root, v)
	if how := r.spec.Redact; r.redacts && (how.When == nil || how.When.holds(root, v)) {
		how.apply(j, raw, root, v)
		if j.body != nil || len(j.edits) > 0 {
			j.data = replacedData(j.edits)
		}
	}
	if r.spec.Errors != nil && r.spec.Errors.holds(root, v) {
		j.err = checkError("the service returned a response that reports an error")
	}
}

// decode decodes a response and compares it with its expected form.
func (r *runner) decode(raw []byte, v *values) (root any, failure *check.Error) {
	if err := json.Unmarshal(raw, &root); err != nil {
		return nil, checkError("the service returned a response that is not JSON")
	}
	for i := range r.spec.Expect {
		if e := &r.spec.Expect[i]; !e.met(root, v) {
			return nil, checkError("the service returned a response of an unknown form: %s must be of type %s", cmp.Or(e.Path, "the response"), e.Type)
		}
	}
	return root, nil
}

// data returns the part of a response that results show: nil if it contains a credential.
func (r *runner) data(raw []byte, root any, v *values) any {
	if slices.ContainsFunc(r.secrets, func(s []byte) bool { return bytes.Contains(raw, s) }) {
		return map[string]any{"explanation": "the response of the service contains a credential, so it is not shown"}
	}
	if len(raw) > maxDataBytes {
		return map[string]any{"explanation": "the response of the service is too large to be shown"}
	}
	return r.spec.data.first(root, v)
}

// replacedData is what results show of a response whose findings were replaced: it quotes none.
func replacedData(edits []check.Edit) any {
	kinds := map[string]bool{}
	for i := range edits {
		kinds[edits[i].Kind] = true
	}
	return map[string]any{"explanation": "the findings of the service were replaced", "replacements": len(edits), "kinds": names(kinds)}
}

// withoutOverlaps returns the edits in their order. Of edits that overlap, which come from fragments
// that share characters, one with the union of their ranges is left.
func withoutOverlaps(edits []check.Edit) []check.Edit {
	slices.SortStableFunc(edits, func(a, b check.Edit) int {
		return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	out := edits[:0]
	for _, e := range edits {
		last := len(out) - 1
		if last >= 0 && out[last].Text == e.Text && e.Start < out[last].End {
			out[last].End = max(out[last].End, e.End)
			continue
		}
		out = append(out, e)
	}
	return slices.DeleteFunc(out, func(e check.Edit) bool { return e.Text < 0 })
}
